"""What a file of our own archive holds, response by response, for whoever decides what stays in it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from periplus.archive import http, member, record, thinned
from periplus.archive.blanking import is_blank
from periplus.archive.reader import RESPONSES, belong, is_http, is_repetition, seconds_taken
from periplus.archive.thinned import KeptRecord
from periplus.archive.writer import marker_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from periplus.archive.record import Record


class Holding(NamedTuple):
    """A response or revisit with its request. A record that is neither is held without a ``url``."""

    url: str
    status: int
    started: float
    ended: float
    members: tuple[KeptRecord, ...]  # the response first
    is_repetition: bool = False  # without a payload: a revisit of an identical one

    @property
    def offset(self) -> int:
        return self.members[0].offset


@contextmanager
def closed_file(path: Path) -> Iterator[BinaryIO | None]:
    """The file, held so that no writer takes it up; none while a writer has it, or where one left it unfinished."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield None
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        is_ours = os.fstat(file.fileno()).st_nlink > 0 and not marker_of(path).exists()
        yield file if is_ours else None


def is_settled(file: BinaryIO, known: int) -> bool:
    """Whether a state that knows so many bytes of the file knows all its records; nothing is added to a thinned one."""
    return member.is_marked(file) or os.fstat(file.fileno()).st_size == known


def holdings(file: BinaryIO) -> Iterator[Holding]:
    """What the file holds, in its order, without what says nothing of the web: its own description, blanked records,
    requests whose response is gone."""
    last: tuple[Record, Holding] | None = None
    for placed in thinned.records(file):
        found = placed.record
        if last is not None and found.type == "request" and belong(found, last[0]):
            yield last[1]._replace(members=(*last[1].members, KeptRecord(placed.offset, placed.length)))
            last = None
            continue
        if last is not None:
            yield last[1]
            last = None
        held = (KeptRecord(placed.offset, placed.length),)
        if found.type in RESPONSES and is_http(found):
            last = found, _response(found, held)
        elif not is_blank(found) and found.type not in ("warcinfo", "request"):
            yield Holding("", 0, 0.0, 0.0, held)
    if last is not None:
        yield last[1]


def _response(found: Record, members: tuple[KeptRecord, ...]) -> Holding:
    status, _ = http.status_of(http.decode(found.block).start)
    started = record.date_seconds(found.fields.get("warc-date", ""))
    return Holding(found.url, status, started, started + seconds_taken(found), members, is_repetition(found))
