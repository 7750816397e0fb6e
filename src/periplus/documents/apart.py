"""Readers in a process of their own: what a hostile page does to a reader, it does to that process alone.

``parse_apart``, ``outline_apart`` and ``read_sitemap_apart`` give what ``parse``, ``outline`` and ``read_sitemap``
give. The process at the other end (``reading_process.py``) has no network, writes no file, reads none but Python's own,
and has bounded memory. One that takes too long, dies or says too much is ended; its page is a
``ParseError("parse-bound")``, and the next page gets a new one. Processes are kept, as many as pages are read at once.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from periplus.documents.outline import Outline
from periplus.documents.sitemaps import Sitemap
from periplus.errors import ParseError, StorageError
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CPU_SECONDS: Final = 20.0  # of one page; the readers' own bound of time is half of it
LONGEST: Final = 120.0  # seconds of one page, on a machine that is busy with other things
ANSWER_BYTES: Final = 64 * 2**20
PIPE_BYTES: Final = 2**18  # so that most pages pass in one piece
LOOK: Final = 1.0  # seconds between two looks at a process that is quiet
REQUEST: Final = Layout("<BII")  # which reader, bytes of what is known about the page, bytes of the body
ANSWER: Final = Layout("<BI")  # whether it was read, bytes
PARSE, OUTLINE, SITEMAP, READ, REFUSED = 0, 1, 2, 0, 1
_PROGRAM: Final = "periplus.documents.reading_process"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "PERIPLUS_CACHE", "XDG_CACHE_HOME")
_KINDS: Final[dict[int, msgspec.msgpack.Decoder[Any]]] = {
    PARSE: msgspec.msgpack.Decoder(Document),
    OUTLINE: msgspec.msgpack.Decoder(Outline | None),
    SITEMAP: msgspec.msgpack.Decoder(Sitemap),
}
_ERROR: Final = msgspec.msgpack.Decoder(tuple[str, str])


def parse_apart(page: Page) -> Document:
    """The document in ``page``; raises ``ParseError`` where there is none, or where reading it broke a limit."""
    document: Document = _ask(PARSE, page)
    return document


def outline_apart(page: Page) -> Outline | None:
    """Where an HTML page leads; nothing of other kinds."""
    found: Outline | None = _ask(OUTLINE, page)
    return found


def read_sitemap_apart(body: bytes, url: str) -> Sitemap:
    sitemap: Sitemap = _ask(SITEMAP, Page(url, body))
    return sitemap


def warm_apart() -> None:
    """Have a process ready, with its readers loaded."""
    with suppress(ParseError):
        parse_apart(Page("http://warm.invalid/", b"<!doctype html><title>Warm</title><p>A first page.", "text/html"))


class ReadingProcess:
    """One process that reads a page at a time; or another ``program`` of this kind, which gets handles ``passed``."""

    def __init__(self, program: str = _PROGRAM, passed: tuple[int, ...] = ()) -> None:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        command = [sys.executable, "-P", "-m", program, *map(str, passed)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=kept,
                start_new_session=True,
                pass_fds=passed,
            )
        except OSError as error:
            raise StorageError(f"no process for reading pages: {error.strerror}; raise the limits") from error
        self.pid = self._process.pid
        self.is_at_rest = True  # all that it was asked is answered
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.to, self.source = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.to, False)
        os.set_blocking(self.source, False)
        for pipe in (self.to, self.source):
            with suppress(OSError):  # the system's bound for pipes of one user
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def ask(self, reader: int, page: Page) -> Any:
        """Wait for what the process says of a page."""
        limit = PageLimit(self.pid)
        self.is_at_rest = False
        self.send(request_of(reader, page), limit)
        kind, answer = self._receive(limit)
        self.is_at_rest = True
        return understood(reader, kind, answer)

    def send(self, data: bytes, limit: PageLimit) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self.to, left) :]
            except BlockingIOError:
                if not select.select((), (self.to,), (), LOOK)[1]:
                    limit.check()
            except BrokenPipeError as error:
                raise BrokenLimit("the reading process ended") from error

    def _receive(self, limit: PageLimit) -> tuple[int, bytes]:
        """Whether the page was read, and what was said of it; most answers come in one piece."""
        said = bytearray()
        while (answer := taken_from(said)) is None:
            said += self.heard(limit)
        return answer

    def heard(self, limit: PageLimit) -> bytes:
        """The next of what the process says, as much as there is."""
        while not select.select((self.source,), (), (), LOOK)[0]:
            limit.check()
        part = os.read(self.source, PIPE_BYTES)
        if not part:
            raise BrokenLimit("the reading process ended")
        return part

    def end(self) -> None:
        self._process.kill()
        with self._process:  # closes the pipes and waits
            pass

    def disown(self) -> None:
        """In a process that was forked: let go of pipes that belong to the parent."""
        self._process.returncode = 0  # it is not ours to wait for
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def request_of(reader: int, page: Page) -> bytes:
    """The bytes that ask a reading process about a page."""
    about = msgspec.msgpack.encode((page.url, page.content_type, page.headers, page.status, page.fetched))
    return b"".join((REQUEST.pack(reader, len(about), len(page.body)), about, page.body))


def taken_from(said: bytearray) -> tuple[int, bytes] | None:
    """Take the first answer out of what a process said, if it is whole: whether the page was read, and the rest."""
    if len(said) < ANSWER.size:
        return None
    kind, size = ANSWER.unpack_from(said)
    if size > ANSWER_BYTES:
        raise BrokenLimit(f"the document is larger than {ANSWER_BYTES} bytes")
    end = ANSWER.size + size
    if len(said) < end:
        return None
    answer = bytes(memoryview(said)[ANSWER.size : end])
    del said[:end]
    return kind, answer


def understood(reader: int, kind: int, answer: bytes) -> Any:
    """What an answer means; raises ``ParseError`` where the page gave nothing."""
    if kind == REFUSED:
        raise ParseError(*_ERROR.decode(answer))
    return _KINDS[reader].decode(answer)


Process = TypeVar("Process", bound=ReadingProcess)


class BrokenLimit(Exception):
    """A process broke a limit, or died; it is of no more use."""


class PageLimit:
    """The time that one page may take: the processor's, so that a busy machine is not the page's fault."""

    def __init__(self, process: int) -> None:
        self._clock = (~process << 3) | 2  # the clock of another process, clock_getcpuclockid(3)
        self._began, self._used = time.monotonic(), self._cpu()

    def check(self) -> None:
        if self._cpu() - self._used > CPU_SECONDS or time.monotonic() - self._began > LONGEST:
            raise BrokenLimit(f"reading took more than {CPU_SECONDS:.0f} s")

    def _cpu(self) -> float:
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0  # it has ended, which whoever reads from it finds out


class ProcessPool(Generic[Process]):
    """The processes of one kind that this process has started; those that are idle wait here."""

    def __init__(self, start: Callable[[], Process]) -> None:
        self._start = start
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._lock = threading.Lock()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self.forget)

    @contextmanager
    def one(self) -> Iterator[Process]:
        """A process that nobody else asks meanwhile; it is kept if it is at rest afterwards."""
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None:
            process = self._start()
            self._all.add(process)
        try:
            yield process
        finally:
            if process.is_at_rest:
                self._give_back(process)
            else:
                self._end(process)

    def _give_back(self, process: Process) -> None:
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            self._end(process)

    def _end(self, process: Process) -> None:
        self._all.discard(process)
        process.end()

    def forget(self) -> None:
        """In a process that was forked: those of the parent are not ours."""
        theirs, self._all, self._idle, self._lock = self._all, set(), [], threading.Lock()
        for process in theirs:
            process.disown()


_READERS: Final = ProcessPool(ReadingProcess)


def _ask(reader: int, page: Page) -> Any:
    try:
        with _READERS.one() as process:
            return process.ask(reader, page)
    except BrokenLimit as error:
        raise ParseError("parse-bound", str(error)) from error
