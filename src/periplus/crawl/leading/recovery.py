"""What a start does before its first request, and what is done for a worker that died (``heal``).

The archive is mended, what the last commit missed is replayed, and gaps are waited out.

After this the state is what it would be had the process not died: responses that are in the archive but not in the
database are judged as if they came now, and every host that was active waits its full delay again.
"""

from __future__ import annotations

import fcntl
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from periplus import addresses, archive
from periplus.crawl.fetching.fetcher import Fetched
from periplus.crawl.frontier import partitions, roster
from periplus.crawl.frontier.clock import CrawlClock, crawl_time
from periplus.crawl.frontier.page_pool import count_pool
from periplus.crawl.frontier.rows import (
    COUNT_QUEUED_AND_PAGES,
    FAILED,
    FETCHED,
    NEVER,
    URL_COLUMNS,
    Batched,
    Bundle,
    FoundAddress,
    JournalRow,
    UrlRow,
    refusal_document,
)
from periplus.crawl.keeping import takedown
from periplus.crawl.keeping.retention import ARCHIVE, PATTERN
from periplus.crawl.rules.host_rules import origin_of
from periplus.crawl.rules.interpretation import outcome_of
from periplus.crawl.rules.scope import REOPENED
from periplus.crawl.working.robots_visit import judge
from periplus.errors import Corrupt, NotFound
from periplus.storage import LocalFiles, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.crawl.frontier.frontier import Frontier
    from periplus.crawl.rules.interpretation import Interpreter
    from periplus.records import ArchiveLocation, Document, Exchange
    from periplus.settings import CrawlSettings
    from periplus.storage import Database, Depot, Transaction

    Check = Callable[[Transaction], None]

CHUNK = 200
ADOPTED_DEPTH = 1  # of an address whose way from the seeds is not known
SAME_MOMENT = 0.0001  # seconds: the archive keeps microseconds
REPLAYED = "as archived; the journal's own row was lost in a crash"
_FILTERS = ("scope", "max_depth", "include", "exclude", "banned_hosts", "max_address", "host_budget", "host_queue")
_FILTERS_KEY = "crawl.filters"


class Recovery:
    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: CrawlSettings,
        frontier: Frontier,
        interpreter: Interpreter,
        *,
        adopts: bool = False,
        clock: CrawlClock | None = None,
        depot: Depot | None = None,
    ) -> None:
        """With ``adopts``, addresses that only the archive knows become rows too.

        ``depot``: of a collection on many machines.
        """
        self._depot = depot
        self._parts = archive.ArchiveParts(database, depot) if depot is not None else None
        self._archive = self._parts or folder / ARCHIVE
        self._folder = folder
        self._database = database
        self._settings = settings
        self._frontier = frontier
        self._interpreter = interpreter
        self._adopts = adopts
        self._clock = clock or CrawlClock.of(database)

    def run(self, *, recrawl: bool) -> int:
        """All of it, when no worker lives; how many responses were replayed."""
        replayed = self._replay()
        self._clock.go_on(self._database)  # the archive may be later than the journal was
        takedown.sweep(self._database, self._folder, self._depot)
        self.store_pending()
        with self._database.write() as tx:
            self._rest_hosts(tx, "active > 0")
            tx.execute("UPDATE hosts SET next_at = ready_at WHERE active = 0 AND queued > 0 AND next_at > ready_at")
        self._reopen()
        if recrawl:
            self._make_all_due()
        return replayed

    def heal(self, dead: Sequence[int], check: Check) -> int:
        """Recover what workers left that died while others go on; how many responses were replayed.

        ``check`` raises where somebody else does it by now. In one transaction their hosts begin to rest, their
        partitions are free and their places in the pool of the crawl, so that it never looks full meanwhile. What a
        living process writes is left alone.
        """
        numbers = ", ".join(str(int(number)) for number in dead)
        replayed = self._replay(dead, check)
        theirs = f"SELECT h.key FROM hosts h JOIN partitions p ON p.part = h.part WHERE p.worker IN ({numbers})"  # noqa: S608
        self.store_pending(f"AND host IN ({theirs})", check)
        with self._database.write() as tx:
            check(tx)
            self._rest_hosts(tx, f"active IN ({numbers})")
            for number in dead:
                partitions.free_of(tx, number)
                roster.end(tx, number)
            crawl = tx.value("SELECT MAX(id) FROM crawls")
            if crawl is not None:
                count_pool(tx, crawl, self._settings.max_pages)
        return replayed

    def close_archive(self) -> None:
        """All is committed: the next start need not look into these files."""
        if self._parts is not None:
            with self._database.write() as tx:
                archive.settle_all(tx)
            self._parts.sweep()
            return
        sizes = {path.name: size for path, size in self._files()}
        with self._database.read() as tx:
            marks: dict[str, int] = dict(tx.rows("SELECT file, place FROM archive_marks"))
        # A file that was cut off meanwhile keeps its mark: whoever restores it restores nothing that is to be replayed.
        changed = {name: size for name, size in sizes.items() if name in marks and marks[name] < size}
        if changed:
            self._frontier.commit(Bundle(marks=changed), self._clock())

    # The archive is ahead of the database

    def _replay(self, dead: Sequence[int] | None = None, check: Check | None = None) -> int:
        """Files that nobody writes. While others than ``dead`` live, responses of hosts that they have are left out."""
        if self._parts is not None:
            replayed = self.replay_leftovers(dead, check)
            for name, place in self._parts.unsettled(dead):
                replayed += self.replay_file(self._parts.path(name), place, dead, check)
            return replayed
        archive.repair(self._folder / ARCHIVE)
        with self._database.read() as tx:
            marks: dict[str, int] = dict(tx.rows("SELECT file, place FROM archive_marks"))
        replayed = 0
        for path, size in self._files():
            if marks.get(path.name, 0) < size and not _is_being_written(path):
                archive.write_again(path, marks.get(path.name, 0))  # whoever wrote it may have failed to sync it
                try:
                    replayed += self.replay_file(path, marks.get(path.name, 0), dead, check)
                except Corrupt as error:
                    self._pass_over(path, error, check)
        return replayed

    def _files(self) -> list[tuple[Path, int]]:
        """Files of the archive with their sizes, the oldest first; without those that go at this moment."""
        found = []
        for path in sorted((self._folder / ARCHIVE).glob(PATTERN)):
            with suppress(FileNotFoundError):
                found.append((path, path.stat().st_size))
        return found

    def _pass_over(self, path: Path, error: Corrupt, check: Check | None) -> None:
        """Nobody was told of what stands behind damage that the state does not know yet: it is asked for again."""
        self._frontier.commit(Bundle(marks={path.name: path.stat().st_size}), self._clock(), check)
        with self._database.write() as tx:
            write_event(tx, "crawl", f"what stands behind is asked for again: {error}", "error")

    def replay_leftovers(self, dead: Sequence[int] | None = None, check: Check | None = None) -> int:
        """Files of this machine that never became part of the archive: uploaded, and judged as if they came now."""
        replayed = 0
        if self._parts is None:
            return replayed
        names = sorted(path.name for path in (self._folder / ARCHIVE).glob(PATTERN))
        for path in (self._folder / ARCHIVE / name for name in self._parts.unknown(names)):
            if self._parts.knows(path.name) or _is_being_written(path):
                continue
            archive.repair_file(path)
            if path.exists():
                part = archive.ArchivePart(path.name, self._parts.push(path.name), worker=0)
                replayed += self.replay_file(path, 0, dead, check, part)
        return replayed

    def replay_file(
        self,
        path: Path,
        place: int,
        dead: Sequence[int] | None = None,
        check: Check | None = None,
        part: archive.ArchivePart | None = None,
    ) -> int:
        """Judge what stands behind ``place``; how many responses. What stands before damage is kept.

        ``part``: the file becomes part of the archive with the first of them.
        """
        count = 0
        bundle = Bundle(parts=[part] if part is not None else [])
        try:
            for location, exchange in archive.iterate(path, place, others=self._parts):
                if location.offset < place:
                    continue
                self._replay_one(bundle, location, exchange)
                count += 1
                if count % CHUNK == 0:
                    self._commit(bundle, check, dead)
                    bundle = Bundle()
            bundle.marks[path.name] = archive.extent(path)
        finally:
            self._commit(bundle, check, dead)
        return count

    def _commit(self, bundle: Bundle, check: Check | None, dead: Sequence[int] | None) -> None:
        if self._parts is not None:
            bundle.settled, bundle.marks = bundle.marks, {}
        self._frontier.commit(bundle, self._clock(), check, held_by=dead)

    def _replay_one(self, bundle: Bundle, location: ArchiveLocation, exchange: Exchange) -> None:
        if exchange.status == 200 and not exchange.payload:  # perhaps a revisit of the same payload
            try:
                exchange = archive.read(self._archive, location)
            except NotFound:
                return  # which left the archive, and so will this: it is as old
        fetched = Fetched(exchange.url, exchange.started, exchange.elapsed, exchange, ip=exchange.ip)
        host = addresses.host(exchange.url)
        key = addresses.host_key(host)
        bundle.marks[location.file] = location.offset + location.length
        bundle.journal += self._journal_rows(fetched, exchange, host)
        if exchange.url.endswith("/robots.txt") and exchange.url.count("/") == 3:
            row = judge(origin_of(exchange.url), key, fetched, exchange.started).row
            if row is not None and exchange.status // 100 != 3:
                bundle.robots.append(row)
                bundle.found += self._interpreter.announced(row, self._depth_of(key))
            return
        known = self._known(bundle, exchange.url)
        if known is not None and known.tried_at < exchange.started:
            bundle.visited.append(self._interpreter.response(known, fetched, location, self._settings.delay))

    def _known(self, bundle: Bundle, url: str) -> UrlRow | None:
        """The row of an address as the bundle leaves it, or as the table has it."""
        key = addresses.key(url)
        waiting = next((item.row for item in reversed(bundle.visited) if item.row.key == key), None)
        known = waiting or self._frontier.find(url)
        if known is not None or not self._adopts:
            return known
        named = (*bundle.found, *(one for item in bundle.visited for one in item.found))
        stranger = FoundAddress(key, url, addresses.host(url), depth=ADOPTED_DEPTH, state=FAILED)
        wanted = [one for one in named if one.key == key][:1] or [stranger]
        self._frontier.commit(Bundle(found=wanted), self._clock())
        return self._frontier.find(url)

    def _depth_of(self, host: int) -> int:
        """How far from the seeds a robots.txt was read: as far as the nearest address of its host."""
        with self._database.read() as tx:
            level = tx.value("SELECT level FROM hosts WHERE key = ?", (host,))
            return (tx.value("SELECT MIN(depth) FROM urls WHERE host = ?", (host,)) or 0) if level else 0

    def _journal_rows(self, fetched: Fetched, exchange: Exchange, host: str) -> list[JournalRow]:
        """The row of a request, unless the journal has it."""
        moment = (host, exchange.started - SAME_MOMENT, exchange.started + SAME_MOMENT)
        with self._database.read() as tx:
            if tx.value("SELECT 1 FROM journal WHERE host = ? AND at BETWEEN ? AND ?", moment):
                return []
            delay = tx.value("SELECT delay FROM hosts WHERE key = ?", (addresses.host_key(host),)) or 0.0
        row = JournalRow(
            exchange.started, host, exchange.ip, 1, exchange.url, REPLAYED, -1.0, delay, 0.0,
            outcome_of(fetched), exchange.status, len(exchange.payload), exchange.elapsed * 1000, 0.0,
        )  # fmt: skip
        return [row]

    # Documents that are in no batch

    def store_pending(self, which: str = "", check: Check | None = None) -> None:
        """Parse again what is marked as fetched and in no batch; only while no worker has it in memory."""
        columns = ", ".join(URL_COLUMNS)
        sql = f"SELECT {columns} FROM urls WHERE pending = 1 {which} ORDER BY key LIMIT {CHUNK}"  # noqa: S608
        while True:
            with self._database.read() as tx:
                rows = [UrlRow(*row) for row in tx.rows(sql)]
            if not rows:
                return
            from periplus.documents import BatchLog

            log = BatchLog(LocalFiles(self._folder), self._database, self._depot)
            documents = [(row, document) for row in rows if (document := self._document(row)) is not None]
            lost = [row for row in rows if row.key not in {kept.key for kept, _ in documents}]
            number = log.append([document for _, document in documents]) if documents else 0
            bundle = Bundle(batched=[Batched(number, row.key, row.tried_at) for row, _ in documents])
            self._frontier.commit(bundle, self._clock(), check)
            self._ask_again(lost)

    def _document(self, row: UrlRow) -> Document | None:
        if row.state != FETCHED or row.location is None:
            return refusal_document(row, row.refusal or "gone")
        try:
            exchange = archive.read(self._archive, row.location)
        except (NotFound, Corrupt):
            return None
        document = self._interpreter.document(row.url, exchange, row.location)
        return replace(document, refusal=row.refusal) if row.refusal else document

    def _ask_again(self, rows: list[UrlRow]) -> None:
        """Their record is lost, so they count as never fetched."""
        if not rows:
            return
        with self._database.write() as tx:
            tx.executemany(
                "UPDATE urls SET state = 0, next_at = 0, pending = 0, body_hash = 0, fetched_at = 0, file = ''"
                " WHERE host = ? AND key = ?",
                [(row.host, row.key) for row in rows],
            )
            hosts = sorted({row.host for row in rows})
            tx.executemany(f"{COUNT_QUEUED_AND_PAGES} WHERE key = ?", [(host,) for host in hosts])

    # Hosts and settings

    def _rest_hosts(self, tx: Transaction, which: str) -> None:
        """Hosts that ``which`` workers had rest for their full delay, and belong to nobody."""
        now = crawl_time(tx)
        least = max(self._settings.delay, self._settings.ip_delay)
        sql = f"SELECT key, ready_at, delay FROM hosts WHERE {which} ORDER BY key{tx.row_lock}"  # noqa: S608
        rows = []
        for key, ready_at, delay in tx.rows(sql):
            ready = max(ready_at, now + max(delay, least))
            rows.append((ready, ready, key))
        tx.executemany("UPDATE hosts SET active = 0, ready_at = ?, next_at = ? WHERE key = ?", rows)

    def _reopen(self) -> None:
        """When filters changed, what they refused is looked at again."""
        current = msgspec.json.encode({name: getattr(self._settings, name) for name in _FILTERS}).decode()
        with self._database.write() as tx:
            if tx.value("SELECT value FROM meta WHERE key = ?", (_FILTERS_KEY,)) == current:
                return
            tx.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (_FILTERS_KEY, current),
            )
            marks = ", ".join("?" * len(REOPENED))
            sql = f"UPDATE urls SET state = 0, next_at = 0 WHERE state = 3 AND reason IN ({marks})"  # noqa: S608
            if tx.execute(sql, REOPENED):
                tx.execute(COUNT_QUEUED_AND_PAGES)
                tx.execute("UPDATE hosts SET next_at = ready_at WHERE active = 0 AND queued > 0")

    def _make_all_due(self) -> None:
        with self._database.write() as tx:
            tx.execute("UPDATE urls SET next_at = 0, attempts = 0 WHERE state > 0 AND next_at < ?", (NEVER,))
            tx.execute("UPDATE hosts SET next_at = ready_at WHERE active = 0")


def _is_being_written(path: Path) -> bool:
    """Writers hold a lock on their file, which ends with their process."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
