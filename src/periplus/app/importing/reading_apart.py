"""Readers of strangers' files in a process of their own: what a hostile file does to a reader, it does to that alone.

The process at the other end (``reader_process.py``) unpacks, decodes and parses. It has no network and opens no file:
it asks for one by name, and what the question allows is opened here and handed over. What it answers is typed data, and
nothing that could run. One that takes too long, dies, floods or says nonsense is ended. That costs the record it was
at, or, where it breaks off again at once, the rest of what it was asked to read.
"""

from __future__ import annotations

import errno
import socket
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus import errors
from periplus.app.importing.items import LeftOut, Outcome
from periplus.app.importing.opening import FileAsked
from periplus.app.importing.report import ImportProblem
from periplus.app.importing.sources import FileCheck, FileContents, Portion, PortionRecords, Question
from periplus.documents.apart import BrokenLimit, PageLimit, ProcessPool, ReadingProcess
from periplus.errors import Corrupt, OverBudget, PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from periplus.app.importing.opening import Opener

PROGRAM: Final = "periplus.app.importing.reader_process"
ANSWER_BYTES: Final = 192 * 2**20  # of one answer: a portion and a record that is as long as any
FLOOR: Final = 2**30  # bytes of all answers to one question,
RATIO: Final = 1_100  # and so many times what it was given to read: no deflated file holds more
TOGETHER: Final = 100  # records that were told already are passed over with one sign of life
BREAKS: Final = 20  # of one portion, before the rest of it is given up
LENGTH: Final = Layout("<I")  # of a question
ANSWER: Final = Layout("<BI")  # kind and length
SAID, ALIVE, ASKS, DONE, FAILED = range(5)
MORE, ENOUGH = LENGTH.pack(0), LENGTH.pack(2**32 - 1)  # after a portion; no question has such a length
OPENED: Final = b"\0"  # what comes along with a handle; else the error
ERROR_BYTES: Final = 4_096
_OVERHEAD: Final = 64  # bytes that an answer counts at least

_ASKED: Final = msgspec.msgpack.Decoder(FileAsked)
_ERROR: Final = msgspec.msgpack.Decoder(tuple[str, str])
_PORTIONS: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(Portion)
_OUTCOMES: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(Outcome)


def check(path: str) -> None:
    """Raise what is wrong with a file, which is of a known kind by its name."""
    for _ in _asked(FileCheck(path)):
        raise Corrupt(f"{path}: its reader talks nonsense")


def contents(question: FileContents) -> Iterator[Portion]:
    """What a file holds; raises where it cannot be read further."""
    return _asked(question)


def outcomes(portion: Portion) -> Iterator[Outcome]:
    """What comes of each record of a portion."""
    told = breaks = 0
    is_careful = is_doubted = False
    while True:
        before = told
        try:
            for outcome in _answers(PortionRecords(portion, told, is_careful, is_doubted)):
                told += 1
                yield outcome
        except BrokenLimit as error:
            breaks += 1
            if (is_doubted and told == before) or breaks > BREAKS or isinstance(error, _Flood):
                file, place = portion.place
                what = f"{error}; what follows record {told} is passed over"
                yield LeftOut("read-bound", problem=ImportProblem(file, place, "read-bound", what))
                return
            is_careful, is_doubted = True, is_careful
        else:
            return


def _asked(question: FileCheck | FileContents) -> Iterator[Any]:
    try:
        yield from _answers(question)
    except BrokenLimit as error:
        raise OverBudget(f"{question.path}: {error}; what follows is passed over") from error


def _answers(question: Question) -> Iterator[Any]:
    with READERS.one() as process:
        yield from process.answers(question)


class ImportReader(ReadingProcess):
    """A process that answers one question after the other; files that it asks for come over a channel of their own."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            super().__init__(PROGRAM, (theirs.fileno(),))
        self._said = _AnswerBuffer()

    def answers(self, question: Question) -> Iterator[Any]:
        """What is said to a question; raises ``BrokenLimit``, or what is wrong with the file."""
        asked = msgspec.msgpack.encode(question)
        decoder = _OUTCOMES if isinstance(question, PortionRecords) else _PORTIONS
        passed = question.told // TOGETHER + 1 if isinstance(question, PortionRecords) else 0
        with question.opening() as opened:
            self.is_at_rest = False
            self.send(LENGTH.pack(len(asked)) + asked, PageLimit(self.pid))
            left = FLOOR + RATIO * len(asked)
            while (answer := self._next())[0] != DONE:
                kind, data = answer
                left -= max(_OVERHEAD, len(data))
                if left < 0:
                    raise _Flood("its reader gives more than a file of its size can hold")
                if kind == SAID:
                    yield from self._given(_decoded(decoder, data), question)
                elif kind == ASKS:
                    left += RATIO * self._hand_over(_decoded(_ASKED, data), opened)
                elif kind == ALIVE and passed > 0:
                    passed -= 1
                elif kind == FAILED:
                    error = _error(*_decoded(_ERROR, data))
                    self.is_at_rest = True
                    raise error
                else:
                    raise BrokenLimit("its reader talks nonsense")
            self.is_at_rest = True

    def _given(self, answer: Any, question: Question) -> Iterator[Any]:
        """An answer; of portions the next one is asked for when somebody wants it."""
        try:
            yield answer
        except GeneratorExit:
            if isinstance(question, FileContents):
                self.send(ENOUGH, PageLimit(self.pid))
                self.is_at_rest = self._next()[0] == DONE
            raise
        if isinstance(question, FileContents):
            self.send(MORE, PageLimit(self.pid))

    def _next(self) -> tuple[int, bytes]:
        answer = self._said.next()
        if answer is not None:
            return answer
        limit = PageLimit(self.pid)
        while answer is None:
            self._said.add(self.heard(limit))
            answer = self._said.next()
        return answer

    def _hand_over(self, asked: FileAsked, opened: Opener) -> int:
        """Open a file for the reader, or say why not; how many bytes it has."""
        try:
            file = opened(asked)
        except OSError as error:
            self._tell("OSError", f"{error.errno or errno.EIO} {error.strerror or error}")
            return 0
        except PeriplusError as error:
            self._tell(type(error).__name__, str(error))
            return 0
        with file:
            return self._send_handle(file)

    def _send_handle(self, file: BinaryIO) -> int:
        size = file.seek(0, 2)
        file.seek(0)
        try:
            socket.send_fds(self._channel, [OPENED], [file.fileno()])
        except OSError as error:
            raise BrokenLimit("the reading process ended") from error
        return size

    def _tell(self, kind: str, what: str) -> None:
        try:
            self._channel.send(msgspec.msgpack.encode((kind, what[: ERROR_BYTES // 8])))
        except OSError as error:
            raise BrokenLimit("the reading process ended") from error

    def end(self) -> None:
        super().end()
        self._channel.close()

    def disown(self) -> None:
        super().disown()
        self._channel.close()


class _Flood(BrokenLimit):
    """More came than can be: no single record is to blame."""


class _AnswerBuffer:
    """What a process said, and was not taken yet."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0

    def add(self, data: bytes) -> None:
        if self._at:
            del self._data[: self._at]
            self._at = 0
        self._data += data

    def next(self) -> tuple[int, bytes] | None:
        """The first answer, if it is whole."""
        if len(self._data) - self._at < ANSWER.size:
            return None
        kind, size = ANSWER.unpack_from(self._data, self._at)
        if size > ANSWER_BYTES:
            raise BrokenLimit(f"an answer is larger than {ANSWER_BYTES} bytes")
        start = self._at + ANSWER.size
        if len(self._data) < start + size:
            return None
        self._at = start + size
        with memoryview(self._data) as data:
            return kind, bytes(data[start : self._at])


def _decoded(decoder: msgspec.msgpack.Decoder[Any], data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise BrokenLimit("its reader talks nonsense") from error


_OF_A_LINE: Final = (PeriplusError.__init__, Corrupt.__init__)  # made of their message


def _error(kind: str, what: str) -> PeriplusError:
    """The error of ours that is called so."""
    known = getattr(errors, kind, None)
    is_ours = isinstance(known, type) and issubclass(known, PeriplusError) and known.__init__ in _OF_A_LINE
    return known(what) if is_ours and known is not None else Corrupt(what)


READERS: Final = ProcessPool(ImportReader)
