"""Pages on their way through one reading process: asked about without waiting for the one before, answered in order.

The loop writes questions into a pipe and goes on fetching; the process at its other end (``documents/apart.py``) works
through them. Neither waits for the other with every page, so that a busy machine need not switch between them twice a
page. A process that dies or breaks a limit costs the page that it was at; the others are asked about again.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from periplus.errors import ParseError

if TYPE_CHECKING:
    from periplus.documents.apart import PageLimit, ReadingProcess
    from periplus.records import Page


class _AskedPage(NamedTuple):
    reader: int
    data: bytes
    answer: asyncio.Future[Any]


class ReadingLine:
    """For one event loop; ``close`` it with that."""

    def __init__(self) -> None:
        self._process: ReadingProcess | None = None
        self._asked: deque[_AskedPage] = deque()
        self._unsent: deque[memoryview] = deque()
        self._said = bytearray()
        self._limit: PageLimit | None = None  # of the page that the process is at
        self._looking: asyncio.TimerHandle | None = None

    async def ask(self, reader: int, page: Page) -> Any:
        """What a reader of ``documents.apart`` says of a page; raises ``ParseError``."""
        from periplus.documents import apart

        question = _AskedPage(reader, apart.request_of(reader, page), asyncio.get_running_loop().create_future())
        self.start()
        self._asked.append(question)
        if len(self._asked) == 1:
            self._begin_page()
        self._put(question.data)
        return await question.answer

    def start(self) -> None:
        """Have the process there; it loads its readers meanwhile."""
        from periplus.documents import apart

        if self._process is None:
            self._process = apart.ReadingProcess()
            asyncio.get_running_loop().add_reader(self._process.source, self._hear)

    def close(self) -> None:
        process, self._process = self._process, None
        self._unsent.clear()
        self._said.clear()
        if self._looking is not None:
            self._looking.cancel()
        if process is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(process.source)
            loop.remove_writer(process.to)
            process.end()

    def _put(self, data: bytes) -> None:
        self._unsent.append(memoryview(data))
        if len(self._unsent) == 1:
            self._send()

    def _send(self) -> None:
        """Write as much as the pipe takes; the rest when it takes more."""
        process, loop = self._process, asyncio.get_running_loop()
        if process is None:
            return
        try:
            while self._unsent:
                left = self._unsent[0][os.write(process.to, self._unsent[0]) :]
                if left:
                    self._unsent[0] = left
                else:
                    self._unsent.popleft()
        except BlockingIOError:
            loop.add_writer(process.to, self._send)
            return
        except OSError:
            return  # it has ended, which whoever listens to it learns as well
        loop.remove_writer(process.to)

    def _hear(self) -> None:
        from periplus.documents import apart

        if self._process is None:
            return
        part = b""
        with suppress(BlockingIOError, InterruptedError):
            part = os.read(self._process.source, apart.PIPE_BYTES)
            if not part:
                self._broken("the reading process ended")
                return
        self._said += part
        try:
            while self._asked and (answer := apart.taken_from(self._said)) is not None:
                self._answered(*answer)
        except apart.BrokenLimit as error:
            self._broken(str(error))

    def _answered(self, kind: int, answer: bytes) -> None:
        from periplus.documents import apart

        question = self._asked.popleft()
        if not question.answer.done():  # whoever asked may have gone
            try:
                question.answer.set_result(apart.understood(question.reader, kind, answer))
            except Exception as error:  # noqa: BLE001 - whoever asked decides what it means
                question.answer.set_exception(error)
        self._begin_page()

    def _begin_page(self) -> None:
        from periplus.documents import apart

        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        if self._asked and self._process is not None:
            self._limit = apart.PageLimit(self._process.pid)
            self._looking = asyncio.get_running_loop().call_later(apart.LOOK, self._look)

    def _look(self) -> None:
        from periplus.documents import apart

        if self._limit is None or not self._asked:
            return
        try:
            self._limit.check()
        except apart.BrokenLimit as error:
            self._broken(str(error))
        else:
            self._looking = asyncio.get_running_loop().call_later(apart.LOOK, self._look)

    def _broken(self, why: str) -> None:
        """The process is of no more use: give its page up, and ask another one about the rest."""
        self.close()
        if self._asked:
            question = self._asked.popleft()
            if not question.answer.done():
                question.answer.set_exception(ParseError("parse-bound", why))
        if self._asked:
            self.start()
            self._begin_page()
            for question in self._asked:
                self._put(question.data)
