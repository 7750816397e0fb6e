"""A reader of imports that hostile records have taken over: ``python -m hostile_reader``.

It is the real one, behind the real fences, but for what a record's text tells it to do when it is parsed, or when the
reader of its archive comes to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from periplus.app.importing import archives, reader_process, sources
from periplus.app.importing.items import Entry, Item, Outcome, outcome_of
from periplus.app.importing.opening import FileAsked

if TYPE_CHECKING:
    from collections.abc import Iterator

entries_of_archive = archives._entries


def misbehave(told: str) -> None:
    if "die" in told:
        os._exit(1)
    if "hang" in told:
        while True:
            pass
    if "swell" in told:
        bytearray(2 * reader_process.MEMORY_BYTES)
    if "babble" in told:
        reader_process.write(b"\xff" * 1_000)
    if "rave" in told:
        say(reader_process.SAID, b"\x93\x01\x02\x03")
    if "stall" in told:
        while True:
            say(reader_process.ALIVE)
    if "snoop" in told:
        say(reader_process.ASKS, reader_process.msgspec.msgpack.encode(FileAsked(b"/etc/passwd")))
        answer = reader_process.socket.recv_fds(channel(), 4_096, 1)
        assert not answer[1], "it got a handle"


def say(kind: int, data: bytes = b"") -> None:
    reader_process.write(reader_process.ANSWER.pack(kind, len(data)) + data)


def channel() -> reader_process.socket.socket:
    return reader_process.socket.socket(fileno=os.dup(int(reader_process.sys.argv[1])))


def parsed(entry: Entry) -> Outcome:
    if isinstance(entry, Item):
        misbehave(_told(entry, "parser, "))
    return outcome_of(entry)


def read(*arguments: object) -> Iterator[Entry]:
    for entry in entries_of_archive(*arguments):  # type: ignore[arg-type]
        if isinstance(entry, Item):
            misbehave(_told(entry, "archive, "))
        yield entry


def _told(entry: Item, whom: str) -> str:
    return entry.page.body.decode().partition(whom)[2]


if __name__ == "__main__":
    sources.outcome_of = parsed
    archives._entries = read
    reader_process.main()
