"""The state built again from what is stored, after it was lost: batches tell the documents, the archive tells the rest.

Every stored document is judged again as if its response came now, with the document as it was read then, so nothing is
parsed twice and its links are found again; then the archive is replayed for what the batches do not hold (redirects,
failures, sitemaps, robots files, the journal of requests, pages that were on their way to a batch). The order of files
is the order of time. Times of visits are those of the archive, so next visits are due when they would have been.

Not to be known again: seeds (the first page of each site stands in for them), what a crawl was told, priorities that an
operator gave, requests that got no answer, events, visits whose responses have left the archive since, and whether a
whole host was taken down or each of its addresses.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from periplus import addresses, archive
from periplus.crawl.fetching.fetcher import Fetched
from periplus.crawl.frontier import bodies
from periplus.crawl.frontier.removed import REASON as REMOVED
from periplus.crawl.frontier.rows import (
    COUNT_QUEUED_AND_PAGES,
    FAILED,
    FETCHED,
    NEVER,
    REFUSED,
    WAITING,
    Batched,
    Bundle,
    FoundAddress,
    UrlRow,
    Visited,
)
from periplus.crawl.keeping.retention import ARCHIVE, PATTERN
from periplus.crawl.keeping.takedown import spellings
from periplus.crawl.leading.recovery import Recovery
from periplus.crawl.rules import schedule
from periplus.crawl.working.worker import Worker
from periplus.documents import spans
from periplus.errors import PeriplusError
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.documents import BatchLog
    from periplus.documents.spans import Span
    from periplus.records import Document
    from periplus.settings import Settings
    from periplus.storage import Database

    Progress = Callable[[int, str], None]

DEPTH: Final = 1  # of a page whose way from the seeds is not known
WITHOUT_RECORD: Final = {"gone": FAILED, "redirected": REFUSED, "robots-disallowed": REFUSED, REMOVED: REFUSED}
_BATCHES: Final = "INSERT INTO batches (number, first, documents, links, created) VALUES (?, ?, ?, ?, ?)"
_OWNERS: Final = (
    "UPDATE urls SET same_as = COALESCE((SELECT b.key FROM bodies AS b WHERE b.body_hash = urls.body_hash"
    " AND b.key <> urls.key), 0) WHERE refusal = 'duplicate' AND body_hash <> 0"
)
_REQUESTS: Final = (
    "UPDATE hosts SET requests = (SELECT COUNT(*) FROM journal WHERE journal.host = hosts.name),"
    " last_at = COALESCE((SELECT MAX(at) FROM journal WHERE journal.host = hosts.name), 0),"
    " ip = COALESCE((SELECT ip FROM journal WHERE journal.host = hosts.name AND ip <> ''"
    " ORDER BY at DESC LIMIT 1), ''),"
    " delay = ?, ready_at = ?, active = 0"
)
_DUE: Final = (
    "UPDATE hosts SET next_at = CASE WHEN queued > 0 THEN ready_at ELSE"
    " COALESCE((SELECT MIN(next_at) FROM urls WHERE urls.host = hosts.key AND state > 0), ?) END"
)


class Rebuilt(Struct):
    """What a state was built of; ``problems`` name what could not be read."""

    batches: int = 0
    pages: int = 0
    queued: int = 0
    requests: int = 0
    removed: int = 0
    seeds: list[str] = field(default_factory=list)
    guessed: bool = False  # the seeds
    problems: list[str] = field(default_factory=list)


def rebuild(
    folder: Path, database: Database, settings: Settings, least: int = 0, progress: Progress | None = None
) -> Rebuilt:
    """Fill an empty state, or one that has only what outlived the loss: seeds, takedowns, the journal.

    Batches to come get numbers after ``least``.
    """
    return _Rebuilding(folder, database, settings, progress or (lambda _done, _note: None)).run(least)


class _Rebuilding:
    def __init__(self, folder: Path, database: Database, settings: Settings, tell: Progress) -> None:
        from periplus.documents import BatchLog

        self._folder = folder
        self._database = database
        self._settings = settings
        self._tell = tell
        self._log: BatchLog = BatchLog(LocalFiles(folder), database)
        self._removed: dict[int, str] = {}
        self._done = Rebuilt()

    def run(self, least: int) -> Rebuilt:
        archive.repair(self._folder / ARCHIVE)
        whole = self._list_batches(least)
        self._find_seeds(whole)
        self._worker = Worker(self._folder, self._database, self._settings)
        self._worker.frontier.commit(Bundle(found=[_found(url, 0) for url in self._done.seeds]), time.time())
        for number in whole:
            self._take(number)
            self._tell(number, "documents")
        self._list_removed()
        self._replay()
        self._settle_hosts()
        self._count()
        return self._done

    # Batches

    def _list_batches(self, least: int) -> list[int]:
        """A row for every batch that can be read; no number that a file has is given again."""
        stored = spans.stored(LocalFiles(self._folder))
        whole = spans.widest(one for one, parts in stored.items() if len(parts) == len(spans.FOLDERS))
        last = max([least, *(one.last for one in stored)])
        rows = [row for one in whole if (row := self._batch_row(one)) is not None]
        with self._database.write() as tx:
            tx.executemany(_BATCHES, rows)
            tx.insert_new("counters", ("name", "value"), [("batches", last)], "name")
            tx.execute("UPDATE counters SET value = ? WHERE name = 'batches' AND value < ?", (last, last))
        self._done.batches = len(rows)
        return [int(row[0]) for row in rows]

    def _batch_row(self, one: Span) -> tuple[int, int, int, int, float] | None:
        from periplus.documents.batches import BatchFiles

        files = LocalFiles(self._folder)
        first = one.first if one.first < one.last else 0
        batch = BatchFiles(files, {one.last: first})
        try:
            documents, links = batch.document_table(one.last).num_rows, batch.links(one.last).num_rows
        except PeriplusError as error:
            self._done.problems.append(f"batch {one.last} is left out: {error}")
            return None
        return one.last, first, documents, links, files.path(one.documents).stat().st_mtime

    def _find_seeds(self, numbers: Sequence[int]) -> None:
        """Those that are known; else the first page of every site that was read, which is where it was entered."""
        with self._database.read() as tx:
            known = [str(url) for (url,) in tx.rows("SELECT url FROM seeds ORDER BY added_at, key")]
        self._done.guessed = not known
        self._done.seeds = known or list((self._first_stored(numbers) or self._first_archived()).values())
        if not known:
            with self._database.write() as tx:
                rows = [(addresses.key(url), url, time.time()) for url in self._done.seeds]
                tx.insert_new("seeds", ("key", "url", "added_at"), rows, "key")

    def _first_stored(self, numbers: Sequence[int]) -> dict[str, str]:
        first: dict[str, str] = {}
        for number in numbers:
            table = self._log.document_table(number, ("url", "archive"))
            for url, place in zip(*(table.column(name).to_pylist() for name in ("url", "archive")), strict=True):
                if place != "null":
                    first.setdefault(addresses.site(url), url)
        return first

    def _first_archived(self) -> dict[str, str]:
        first: dict[str, str] = {}
        for path in self._archive_files():
            try:
                for _, exchange in archive.iterate(path):
                    if not exchange.url.endswith("/robots.txt"):
                        first.setdefault(addresses.site(exchange.url), exchange.url)
            except PeriplusError:
                continue  # said when it is replayed
        return first

    def _take(self, number: int) -> None:
        """Judge the documents of one batch again, in one commit."""
        rows: dict[int, UrlRow] = {}
        named: dict[int, FoundAddress] = {}  # by pages of this batch
        unknown: list[FoundAddress] = []
        bundle = Bundle()
        for document in filter(_is_crawled, self._log.documents(number, links=True)):
            row = rows.get(document.key) or self._worker.frontier.find(document.url)
            if row is None:
                unknown.append(_met(named.get(document.key) or _found(document.url, DEPTH)))
                row = _row(unknown[-1])
            visited = self._visited(row, document)
            visited.fresh_body, visited.document = False, None  # which copy counts was decided then
            rows[document.key] = visited.row
            for one in visited.found:
                named.setdefault(one.key, one)
            bundle.visited.append(visited)
            bundle.batched.append(Batched(number, document.key, visited.row.tried_at))
            if document.refusal == REMOVED:
                self._removed[document.key] = document.url
            else:
                self._removed.pop(document.key, None)
        bundle.linked, bundle.traps = self._worker.links.take_linked(), self._worker.links.take_traps()
        if unknown:
            self._worker.frontier.commit(Bundle(found=unknown), time.time())
        self._worker.frontier.commit(bundle, time.time())

    def _visited(self, row: UrlRow, document: Document) -> Visited:
        location = document.archive
        if location is None:
            visited = _refused(row, document)
            onward = self._worker.links.of_redirect(document.canonical, row) if document.canonical else None
            visited.found = [onward] if onward is not None and document.refusal == "redirected" else []
            return visited
        try:
            exchange = archive.read(self._folder / ARCHIVE, location)
        except PeriplusError:  # blanked by a takedown, or damaged: what the batch holds is all there is
            return _as_stored(row, document, self._settings.crawl.recrawl_after)
        fetched = Fetched(exchange.url, exchange.started, exchange.elapsed, exchange, ip=exchange.ip)
        delay = self._settings.crawl.delay
        visited = self._worker.interpreter.response(row, fetched, location, delay, reading=document)
        visited.row.refusal = document.refusal
        return visited

    def _list_removed(self) -> None:
        now = time.time()
        targets = {target for url in self._removed.values() for target in spellings(url)}
        with self._database.write() as tx:
            tx.insert_new("removed", ("target", "at"), [(target, now) for target in sorted(targets)], "target")

    # The archive

    def _archive_files(self) -> list[Path]:
        return sorted((self._folder / ARCHIVE).glob(PATTERN))

    def _replay(self) -> None:
        worker = self._worker
        recovery = Recovery(
            self._folder, self._database, self._settings.crawl, worker.frontier, worker.interpreter, adopts=True
        )
        for path in self._archive_files():
            self._tell(self._done.requests, path.name)
            try:
                self._done.requests += recovery.replay_file(path, 0)
            except PeriplusError as error:
                self._done.problems.append(f"read to the damage only: {error}")
                worker.frontier.commit(Bundle(marks={path.name: path.stat().st_size}), time.time())
        recovery.store_pending()

    # Hosts

    def _settle_hosts(self) -> None:
        """Every host waits its full delay, then is due when its first address is."""
        crawl = self._settings.crawl
        rest = max(crawl.delay, crawl.ip_delay)
        with self._database.write() as tx:
            tx.execute(bodies.FILL)
            tx.execute(_OWNERS)
            tx.execute(COUNT_QUEUED_AND_PAGES)
            tx.execute(_REQUESTS, (crawl.delay, time.time() + rest))
            tx.execute(_DUE, (NEVER,))

    def _count(self) -> None:
        with self._database.read() as tx:
            self._done.pages, self._done.queued = tx.row(
                "SELECT COALESCE(SUM(pages), 0), COALESCE(SUM(queued), 0) FROM hosts"
            ) or (0, 0)
            self._done.removed = int(tx.value("SELECT COUNT(*) FROM removed"))
            self._done.requests = int(tx.value("SELECT COUNT(*) FROM journal"))


def _is_crawled(document: Document) -> bool:
    """Imported documents are no addresses of the crawl."""
    if document.archive is None and document.refusal not in WITHOUT_RECORD:
        return False
    return "://" in document.url and addresses.key(document.url) == document.key


def _found(url: str, depth: int) -> FoundAddress:
    return FoundAddress(addresses.key(url), url, addresses.host(url), depth=depth, priority=10 * depth)


def _met(found: FoundAddress) -> FoundAddress:
    """Not as one that waits: it was visited, whatever the queue of its host has room for."""
    return replace(found, state=FAILED)


def _row(found: FoundAddress) -> UrlRow:
    return UrlRow(
        found.key, found.url, addresses.host_key(found.host), found.kind, found.depth, found.priority, found.state,
        parent=found.parent, hops=found.hops, chain=found.chain, found_at=time.time(),
    )  # fmt: skip


def _refused(row: UrlRow, document: Document) -> Visited:
    """A row of the log that says why there is no page."""
    reason = document.refusal
    later = NEVER if reason == REMOVED else document.fetched + schedule.REFUSED_AGAIN
    detail = document.canonical if reason == "redirected" else ""
    new = replace(
        row, state=WITHOUT_RECORD[reason], reason=reason, refusal=reason, detail=detail, status=document.status,
        tried_at=document.fetched, next_at=later, body_hash=0, pending=WAITING,
    )  # fmt: skip
    return Visited(new, row.state)


def _as_stored(row: UrlRow, document: Document, again: float) -> Visited:
    """A page whose record cannot be read: known, as far as its document tells."""
    new = replace(
        row, state=FETCHED, status=document.status, tried_at=document.fetched, fetched_at=document.fetched,
        next_at=document.fetched + again, body_hash=document.content_hash, fingerprint=document.fingerprint,
        refusal=document.refusal, visits=row.visits + 1, reason="", detail="", pending=WAITING,
    )  # fmt: skip
    return Visited(new, row.state)
