"""A crawl without a network: what addresses said, and when, is archived, judged and stored as a worker would.

The clock is played: ``now`` is what the archive's writer and the retention take for the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from periplus import addresses, archive
from periplus.archive import ArchiveWriter, Revisit
from periplus.crawl.fetching.fetcher import Fetched
from periplus.crawl.frontier.rows import FETCHED, Batched, Bundle, FoundAddress
from periplus.crawl.keeping.retention import DAY, Retention, Thinning, rotate_seconds
from periplus.crawl.working.robots_visit import judge
from periplus.crawl.working.worker import Worker
from periplus.documents import BatchLog
from periplus.records import ArchiveLocation, Exchange
from periplus.settings import CrawlSettings, Settings
from periplus.storage import LocalFiles, folder_lock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from periplus.crawl.frontier.rows import UrlRow
    from periplus.storage import Database

BEGUN = 2_000_000_000.0
SETTINGS = Settings(crawl=CrawlSettings(recrawl_after=DAY, delay=0.0, icons=False))


class Said(NamedTuple):
    """One response, and where it was written down."""

    url: str
    at: float
    place: ArchiveLocation
    refers_to: ArchiveLocation | None


class PlayedCrawl:
    def __init__(self, folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch, keep_days: int) -> None:
        self.folder, self.database, self.keep_days = folder, database, keep_days
        self.archive = folder / "archive"
        self.now = BEGUN
        self.said: list[Said] = []
        self._seconds = rotate_seconds(keep_days)
        self.log = BatchLog(LocalFiles(folder), database)
        for room in ("archive.writer", "crawl.keeping.retention"):
            monkeypatch.setattr(f"periplus.{room}.time.time", lambda: self.now)
        self.worker = Worker(folder, database, SETTINGS, seeds=["http://a.test/"])

    def crawl(self, *said: tuple[str, int, str]) -> None:
        """A round: addresses, each with a status and a body, one second after the other."""
        with ArchiveWriter(self.archive, settled=self._marks, rotate_seconds=self._seconds) as writer:
            written = [self._visit(writer, *one) for one in said]
        self._close({one.place.file for one in written})

    def retain(self, seconds: float = 1e9) -> Thinning:
        """Look at every file that is due."""
        lock = self.folder / "takedown.lock"
        return Retention(self.folder, self.database, self.keep_days, lambda: folder_lock(lock, "thinning")).run(seconds)

    def row(self, url: str) -> UrlRow | None:
        return self.worker.frontier.find(url)

    def named(self) -> dict[str, ArchiveLocation]:
        """Where the pages are that we have."""
        with self.database.read() as tx:
            rows = tx.rows(f"SELECT url, file, place, length FROM urls WHERE state = {FETCHED} AND length > 0")
        return {str(url): ArchiveLocation(*place) for url, *place in rows}

    def held(self) -> set[ArchiveLocation]:
        """What the archive holds."""
        return {place for path in self.archive.glob("*.warc.gz") for place, _ in archive.iterate(path)}

    def _visit(self, writer: ArchiveWriter, url: str, status: int, body: str) -> Said:
        self.now += 1
        exchange = _exchange(url, status, body, self.now)
        fetched = Fetched(url, exchange.started, exchange.elapsed, exchange)
        key = addresses.host_key(addresses.host(url))
        if url.endswith("/robots.txt"):
            location = writer.append(exchange)
            robots = judge(url.removesuffix("/robots.txt"), key, fetched, exchange.started).row
            self._commit(Bundle(robots=[robots] if robots else []), location)
            return self._noted(url, location, None)
        row = self.row(url) or self._found(url)
        same = row.state == FETCHED and row.location is not None
        repeats = same and (status == 304 or (status == 200 and row.body_hash == _hash(exchange)))
        location = writer.append(exchange, Revisit(row.url, row.fetched_at, row.location) if repeats else None)
        visited = self.worker.interpreter.response(row, fetched, location, 0.0)
        document = visited.document
        self._commit(Bundle(visited=[visited]), location)
        if document is not None:
            number = self.log.append([document])
            self._commit(Bundle(batched=[Batched(number, row.key, visited.row.tried_at)]))
        return self._noted(url, location, row.location if repeats and status == 200 else None)

    def _noted(self, url: str, location: ArchiveLocation, refers_to: ArchiveLocation | None) -> Said:
        self.said.append(Said(url, self.now, location, refers_to))
        return self.said[-1]

    def _found(self, url: str) -> UrlRow:
        self._commit(Bundle(found=[FoundAddress(addresses.key(url), url, addresses.host(url))]))
        row = self.row(url)
        assert row is not None
        return row

    def _commit(self, bundle: Bundle, location: ArchiveLocation | None = None) -> None:
        if location is not None:
            bundle.marks[location.file] = location.offset + location.length
        self.worker.frontier.commit(bundle, self.now)

    def _close(self, names: set[str]) -> None:
        """As the end of a crawl does."""
        self._commit(Bundle(marks={name: (self.archive / name).stat().st_size for name in names}))

    def _marks(self) -> dict[str, int]:
        with self.database.read() as tx:
            return dict(tx.rows("SELECT file, place FROM archive_marks"))


def _hash(exchange: Exchange) -> int:
    from periplus.crawl.rules.interpretation import signed_hash

    return signed_hash(exchange.body)


def _exchange(url: str, status: int, body: str, at: float) -> Exchange:
    kind = "text/plain" if url.endswith(".txt") else "text/html"
    page = f"<html><title>{body}</title><p>{body} words about tides</p></html>" if kind == "text/html" else body
    data = page.encode() if status == 200 else b"" if status == 304 else b"nothing here"
    headers = (("Content-Type", kind), *((("Location", f"{url}/moved"),) if status == 301 else ()))
    return Exchange(
        url, "GET", (("Host", addresses.host(url)),), status, "Said", headers, data, data, "127.0.0.1", at, 0.25
    )
