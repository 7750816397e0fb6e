"""What stays in the archive: everything of the last ``archive.keep_days`` days, and of what is older the newest.

A file of the archive is looked at when all that it holds is old enough, and again and again after that. Its records are
compared with the rows of their addresses: the response that a row names stays while we have the page, and so do the
last response of every address that did not fail, and what a revisit of them refers to. All others are *superseded*.
What a revisit may refer to goes when it was superseded at the look before, too: until then every revisit of it that is
no older than that can be read. Anything else that is superseded goes at once.

    1. one transaction    rows of pages that are gone forget the places of what goes
    2. one new name       the thinned file takes the place of the file: places stay what they were (``archive.thinned``)
    3. one transaction    what is superseded now is written down for the next look

A crash before 2 leaves a record too many, one before 3 a look that is made again. Readers that have the file open go on
with it as it was. Takedowns, compactions and backups keep away meanwhile: one file is done under their lock.
"""

from __future__ import annotations

import time
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from periplus import archive
from periplus.crawl.frontier.arrivals import place_of
from periplus.crawl.frontier.rows import FAILED, FETCHED
from periplus.errors import Corrupt, OverBudget, StorageError
from periplus.records import ArchiveLocation
from periplus.storage import LocalFiles, disk_errors, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import BinaryIO

    from periplus.archive import Holding, KeptRecord
    from periplus.storage import Database

ARCHIVE: Final = "archive"
PATTERN: Final = "periplus-*.warc.gz"
DAY: Final = 86_400.0
SPANS: Final = 8  # a file is gone on with for this part of the days kept
BETWEEN: Final = 1 + 2 / SPANS  # of the days kept, between two looks: files that went on meanwhile are due before that
AT_ONCE: Final = 500  # responses whose rows are asked for together
UNDER_WAY: Final = 3_600.0  # seconds before its next visit in which a worker may have a row in memory
UNKNOWN: Final = -1  # the state of an address without a row
SAME_MOMENT: Final = 0.01  # seconds; the archive keeps times as text
_ROW: Final = "SELECT state, tried_at, file, place, length FROM urls WHERE host = ? AND key = ?"
_ROBOTS: Final = "SELECT fetched_at FROM robots WHERE origin = ?"
_PLACES: Final = "SELECT place, state, next_at FROM urls WHERE file = ? AND length > 0"
_FORGET: Final = (
    "UPDATE urls SET file = '', place = 0, length = 0"  # noqa: S608 - a number
    f" WHERE host = ? AND key = ? AND file = ? AND place = ? AND state <> {FETCHED}"
)
_LOOKED: Final = (
    "INSERT INTO archive_looks (file, at, superseded) VALUES (?, ?, ?)"
    " ON CONFLICT (file) DO UPDATE SET at = excluded.at, superseded = excluded.superseded"
)


def rotate_seconds(keep_days: int) -> float:
    """How long an archive file is gone on with, so that it becomes old enough to be looked at; 0 is for ever."""
    return keep_days * DAY / SPANS


class Thinning(NamedTuple):
    """What became of the files that were looked at."""

    files: int = 0
    responses: int = 0  # that went
    bytes: int = 0  # by which the archive became smaller


class _Standing(NamedTuple):
    """What the state says of an address."""

    state: int = UNKNOWN
    tried_at: float = 0.0
    file: str = ""
    place: int = 0
    length: int = 0


class _Named(NamedTuple):
    """Places in a file that rows name: of pages that we have, and of pages that are gone."""

    held: frozenset[int]
    gone: frozenset[int]


class _Verdict(NamedTuple):
    stays: list[Holding]
    goes: list[Holding]
    superseded: array[int]  # places of those that stay and were superseded


class Retention:
    """Of one archive in a folder. ``alone`` keeps takedowns away; nobody else builds the state or thins meanwhile."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        keep_days: int,
        alone: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._archive = folder / ARCHIVE
        self._database = database
        self._keep = keep_days * DAY
        self._alone = alone

    def run(self, seconds: float) -> Thinning:
        """Look at files that are due, the longest due first; no further one is begun after so many seconds."""
        done = Thinning()
        if not self._keep:
            return done
        limit = time.monotonic() + seconds
        due = self._due()
        if due:
            LocalFiles(self._archive).sweep()  # what a crash left
        for path in due:
            with self._alone(), disk_errors(path):
                one = self._look(path)
            done = Thinning(*(sum(pair) for pair in zip(done, one, strict=True)))
            if time.monotonic() >= limit:
                break
        if done.responses:
            self._tell(
                f"{done.responses:,} responses left the archive that newer ones had replaced, or whose pages are gone:"
                f" {done.bytes / 1e6:,.1f} MB in {done.files:,} files"
            )
        return done

    def _due(self) -> list[Path]:
        now = time.time()
        with self._database.read() as tx:
            looks: dict[str, float] = dict(tx.rows("SELECT file, at FROM archive_looks"))
        due = []
        for path in self._archive.glob(PATTERN):
            looked = looks.get(path.name)
            old = archive.begun_on(path.name) + self._keep / SPANS + self._keep  # as a whole
            at = old if looked is None else looked + BETWEEN * self._keep
            if at <= now:
                due.append((at, path))
        return [path for _, path in sorted(due)]

    def _look(self, path: Path) -> Thinning:
        archive.blank(self._archive, ())  # what a takedown left to be done is done before anything is copied
        with archive.closed_file(path) as file:
            if file is None or not self._is_settled(path.name, file):
                return Thinning()
            try:
                verdict = self._judged(path.name, file)
            except (Corrupt, OverBudget) as error:
                self._tell(f"{ARCHIVE}/{path.name} stays as it is, since it cannot be read to its end: {error}")
                self._note(path.name, array("q"))
                return Thinning()
            self._forget(path.name, verdict.goes)
            size = path.stat().st_size
            if verdict.stays:
                left = archive.thin(path, file, _members(verdict.stays)) if verdict.goes else size
                self._note(path.name, verdict.superseded)
            else:
                left = self._removed(path, file)
            return Thinning(1, len(verdict.goes), size - left)

    def _is_settled(self, name: str, file: BinaryIO) -> bool:
        with self._database.read() as tx:
            known = tx.value("SELECT place FROM archive_marks WHERE file = ?", (name,))
        return known is not None and archive.is_settled(file, known)

    # What stays

    def _judged(self, name: str, file: BinaryIO) -> _Verdict:
        now = time.time()
        named, seen = self._named(name, now), self._superseded_before(name)
        verdict = _Verdict([], [], array("q"))
        found = archive.holdings(file)
        while part := list(islice(found, AT_ONCE)):
            for one, row in zip(part, self._rows(part), strict=True):
                if self._is_needed(one, row, named, now):
                    verdict.stays.append(one)
                elif _may_be_referred_to(one) and (
                    one.offset not in seen or self._is_referred_to(ArchiveLocation(name, one.offset, 0), row)
                ):
                    verdict.stays.append(one)
                    verdict.superseded.append(one.offset)
                else:
                    verdict.goes.append(one)
        return verdict

    def _is_needed(self, one: Holding, row: _Standing, named: _Named, now: float) -> bool:
        """Whether it is young, or what a row names, or the last that an address said which still says something."""
        if not one.url or one.started > now - self._keep or one.offset in named.held:
            return True
        if row.state in (UNKNOWN, FAILED) or one.offset in named.gone:
            return False
        return one.ended >= row.tried_at - SAME_MOMENT

    def _is_referred_to(self, place: ArchiveLocation, row: _Standing) -> bool:
        """Whether the response that counts is a revisit that goes back to this one."""
        if row.state != FETCHED or not row.length:
            return False
        try:
            chain = archive.references(self._archive, ArchiveLocation(row.file, row.place, row.length))
        except (StorageError, OverBudget):
            return True  # it cannot be known
        return place in chain

    def _named(self, name: str, now: float) -> _Named:
        """What rows name in a file. A row that may be in a worker's memory counts as one of a page that we have."""
        held: set[int] = set()
        gone: set[int] = set()
        with self._database.read() as tx:
            for place, state, next_at in tx.stream(_PLACES, (name,)):
                (held if state == FETCHED or next_at <= now + UNDER_WAY else gone).add(int(place))
        return _Named(frozenset(held), frozenset(gone - held))

    def _superseded_before(self, name: str) -> frozenset[int]:
        with self._database.read() as tx:
            packed = tx.value("SELECT superseded FROM archive_looks WHERE file = ?", (name,))
        return frozenset(array("q", bytes(packed))) if packed else frozenset()

    def _rows(self, part: Sequence[Holding]) -> Iterator[_Standing]:
        """What the state says of the address of each; of a robots.txt when it was read."""
        with self._database.read() as tx:
            rows = tx.each(_ROW, [place_of(one.url) for one in part])
            rules = tx.each(_ROBOTS, [(one.url.removesuffix("/robots.txt"),) for one in part])
        for row, robots in zip(rows, rules, strict=True):
            if row:
                yield _Standing(*row[0])
            else:
                yield _Standing(0, float(robots[0][0])) if robots else _Standing()

    # What is done

    def _forget(self, name: str, goes: Sequence[Holding]) -> None:
        """Rows of pages that are gone name it no more. A state that cannot be written to stops everything here."""
        with self._database.write() as tx:
            tx.executemany(_FORGET, [(*place_of(one.url), name, one.offset) for one in goes if one.url])

    def _removed(self, path: Path, file: BinaryIO) -> int:
        """A file of which nothing stays is emptied first: a crash leaves no row of a file that is lost."""
        archive.thin(path, file, ())
        with self._database.write() as tx:
            for table in ("archive_looks", "archive_marks"):
                tx.execute(f"DELETE FROM {table} WHERE file = ?", (path.name,))  # noqa: S608 - names of ours
        LocalFiles(self._archive).remove(path.name)
        return 0

    def _note(self, name: str, superseded: array[int]) -> None:
        with self._database.write() as tx:
            tx.execute(_LOOKED, (name, time.time(), superseded.tobytes()))

    def _tell(self, text: str) -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text)


def _may_be_referred_to(one: Holding) -> bool:
    """Whether a revisit may name it as what it repeats."""
    return one.is_repetition or one.status // 100 == 2


def _members(stays: Collection[Holding]) -> list[KeptRecord]:
    return [kept for one in stays for kept in one.members]
