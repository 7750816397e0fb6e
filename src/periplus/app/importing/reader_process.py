"""The process that reads strangers' files: ``python -m periplus.app.importing.reader_process`` (``reading_apart.py``).

It loads what parses pages, gives up everything that reading needs not (``documents/confinement.py``), and then answers
on its standard output what comes on its standard input, until that ends. It can open no file of its own accord: it asks
for each one by name, and gets a handle over a channel, whose number is its argument.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from periplus import errors
from periplus.app.importing.items import LeftOut
from periplus.app.importing.reading_apart import (
    ALIVE,
    ANSWER,
    ANSWER_BYTES,
    ASKS,
    DONE,
    ENOUGH,
    ERROR_BYTES,
    FAILED,
    LENGTH,
    MORE,
    OPENED,
    SAID,
    TOGETHER,
)
from periplus.app.importing.sources import FileContents, PortionRecords, Question
from periplus.documents.reading_process import shut_in, write
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from periplus.app.importing.opening import FileAsked

MEMORY_BYTES: Final = 2 * 2**30
_STEP: Final = 2**18
_HELD_BYTES: Final = 2**16  # of answers that wait to be written,
_HELD_SECONDS: Final = 0.01  # and how long they do
_QUESTIONS: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(Question)
_ERROR: Final = msgspec.msgpack.Decoder(tuple[str, str])
_BROKEN: Final = 3  # how it ends when it has no memory left


def main() -> None:
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # Arrow's own reserves a gigabyte at once, which would count
    os.environ["OMP_NUM_THREADS"] = "1"  # as many does Arrow start; it reads nothing without
    channel = _Channel(socket.socket(fileno=int(sys.argv[1])))
    shut_in(MEMORY_BYTES, _libraries(), threads=True)
    while (question := _question()) is not None:
        _answer(question, channel)


def _libraries() -> set[Path]:
    """Where the system's shared libraries lie: Arrow, which few imports need, is loaded with the first table."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    return {Path(line[line.index("/") :]).parent for line in maps.splitlines() if ".so" in line and "/" in line}


class _Channel:
    """Where files come from, and where answers go to: short ones that come fast are written together."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._held = bytearray()
        self._written = time.monotonic()

    def say(self, kind: int, data: bytes = b"", *, may_wait: bool = False) -> None:
        self._held += ANSWER.pack(kind, len(data))
        self._held += data
        if may_wait and len(self._held) < _HELD_BYTES and time.monotonic() - self._written < _HELD_SECONDS:
            return
        write(self._held)
        self._held = bytearray()
        self._written = time.monotonic()

    def opened(self, asked: FileAsked) -> BinaryIO:
        """Ask for a file; raises what whoever was asked says is wrong with it."""
        self.say(ASKS, msgspec.msgpack.encode(asked))
        told, handles, _, _ = socket.recv_fds(self._channel, ERROR_BYTES, 1)
        if told == OPENED and handles:
            return os.fdopen(handles[0], "rb")
        kind, what = _ERROR.decode(told)
        if kind == "OSError":
            number, _, text = what.partition(" ")
            raise OSError(int(number), text)
        raise getattr(errors, kind, PeriplusError)(what)


def _answer(question: Question, channel: _Channel) -> None:
    """Say all that there is to say; what is wrong with the file is the last of it."""
    passed = said = 0
    may_wait = isinstance(question, PortionRecords) and not question.is_careful
    try:
        for answer in question.answers(channel.opened):
            if said and isinstance(question, FileContents) and _read(len(MORE)) != MORE:
                break  # one portion is read ahead
            if answer is None:
                passed += 1
                if passed % TOGETHER == 0:
                    channel.say(ALIVE)
            else:
                channel.say(SAID, _encoded(answer), may_wait=may_wait)
                said += 1
    except PeriplusError as error:
        channel.say(FAILED, _failure(type(error).__name__, str(error)))
    except OSError as error:
        channel.say(FAILED, _failure("StorageError", f"it cannot be read: {error.strerror or error}"))
    except MemoryError:
        os._exit(_BROKEN)  # what is left of it is not to be trusted with the next file
    except Exception as error:  # noqa: BLE001 - a fault of ours must cost one file
        channel.say(FAILED, _failure("Corrupt", f"internal fault, {type(error).__name__}: {str(error)[:200]}"))
    else:
        channel.say(DONE)


def _encoded(answer: Any) -> bytes:
    try:
        data = msgspec.msgpack.encode(answer)
    except UnicodeEncodeError:  # half a character of UTF-16
        data = msgspec.msgpack.encode(LeftOut("unreadable"))
    if len(data) > ANSWER_BYTES:
        return msgspec.msgpack.encode(LeftOut("parse-bound"))
    return data


def _failure(kind: str, what: str) -> bytes:
    return msgspec.msgpack.encode((kind, what.encode("utf-8", "replace").decode()))


def _question() -> Question | None:
    """What is asked next; nothing when nobody asks any more."""
    while (length := _read(LENGTH.size)) in (MORE, ENOUGH):
        continue  # there was no more
    asked = _read(LENGTH.unpack(length)[0]) if length else b""
    if not asked:
        return None
    question: Question = _QUESTIONS.decode(asked)
    return question


def _read(size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(0, min(_STEP, size - len(parts)))
        if not part:
            return b""
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    main()
