"""Documents that a crawl left for later (``crawl.documents = "later"``), made from the archive.

A batch and the word that its pages are done are one transaction, so a crash costs at most the work on one batch. A
crawl may go on meanwhile: a page that it visited again while its document was made is left out of the batch and comes
with its newest version in a later one, so that a batch never says less than one before it.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from periplus import archive
from periplus.crawl.frontier.arrivals import marks, parts_of
from periplus.crawl.frontier.rows import FETCHED, LATER, SAID, URL_COLUMNS, WAITING, UrlRow, refusal_document
from periplus.crawl.keeping.retention import ARCHIVE
from periplus.crawl.rules.interpretation import document_of
from periplus.errors import Corrupt, NotFound
from periplus.storage import write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from periplus.documents import BatchLog
    from periplus.records import Document
    from periplus.settings import CrawlSettings
    from periplus.storage import Database, Transaction

PAGES_AT_ONCE = 500
BYTES_AT_ONCE = 32_000_000  # of text in one batch
_LANGUAGES = "crawl.languages"  # in meta
_ROWS = f"SELECT {', '.join(URL_COLUMNS)} FROM urls WHERE pending = {LATER} ORDER BY file, place LIMIT {PAGES_AT_ONCE}"  # noqa: S608
_DONE = (
    f"UPDATE urls SET pending = {SAID}, batch = ?, refusal = ?, detail = ?, fingerprint = ?"  # noqa: S608
    f" WHERE host = ? AND key = ? AND tried_at = ? AND pending = {LATER}"
)
_LOST = f"UPDATE urls SET pending = {WAITING} WHERE host = ? AND key = ? AND tried_at = ? AND pending = {LATER}"  # noqa: S608


class _VisitedAgain(Exception):
    """Some pages of a batch are not what they were when it was begun."""

    def __init__(self, keys: set[int]) -> None:
        super().__init__(f"{len(keys)} pages were visited again")
        self.keys = keys


class Backlog:
    """The pages of one collection whose documents are still to be made."""

    def __init__(self, folder: Path, database: Database, log: BatchLog, settings: CrawlSettings) -> None:
        self._shared = archive.ArchiveParts(database, log.depot) if log.depot is not None else None
        self._archive = self._shared or folder / ARCHIVE
        self._database = database
        self._log = log
        self._languages = _kept_languages(database, settings)
        self._lost: Counter[str] = Counter()  # pages by the file that should have their record

    def work(self, progress: Callable[[int], None] | None = None) -> int:
        """Make the documents of all pages that wait now; how many. What comes meanwhile is left for the next time."""
        left = backlog_size(self._database)
        made = 0
        while left > 0:
            rows = self._rows()
            if not rows:
                break
            left -= len(rows)
            for part in self._parts(rows):
                made += self._store(part)
                if progress is not None:
                    progress(made)
        self._tell_lost()
        return made

    def _rows(self) -> list[UrlRow]:
        with self._database.read() as tx:
            return [UrlRow(*row) for row in tx.rows(_ROWS)]

    def _parts(self, rows: Sequence[UrlRow]) -> Iterator[list[tuple[UrlRow, Document]]]:
        """Documents of ``rows``, as many at once as memory should hold."""
        part: list[tuple[UrlRow, Document]] = []
        size = 0
        for row in rows:
            document = self._document(row)
            if document is None:
                self._give_up(row)
                continue
            part.append((row, document))
            size += len(document.text) + len(document.boilerplate)
            if size >= BYTES_AT_ONCE:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _document(self, row: UrlRow) -> Document | None:
        """None when the archive has lost its record."""
        location = row.location
        if row.state != FETCHED or location is None:
            return refusal_document(row, row.refusal or "gone")
        try:
            if self._shared is not None:
                self._shared.path(location.file)  # whole: its other pages come next
            exchange = archive.read(self._archive, location)
        except (NotFound, Corrupt):
            return None
        document = document_of(row.url, exchange, location, self._languages)
        return document if document.refusal or not row.same_as else replace(document, refusal="duplicate")

    def _store(self, part: list[tuple[UrlRow, Document]]) -> int:
        """Append a batch; without those pages that were visited again since."""
        try:
            self._log.append([document for _, document in part], also=partial(_settle, part))
        except _VisitedAgain as error:
            rest = [(row, document) for row, document in part if row.key not in error.keys]
            return self._store(rest) if rest else 0
        return len(part)

    def _give_up(self, row: UrlRow) -> None:
        """Its record is lost: the next start of a crawl finds out and asks for the page again."""
        self._lost[row.location.file if row.location else ""] += 1
        with self._database.write() as tx:
            tx.execute(_LOST, (row.host, row.key, row.tried_at))

    def _tell_lost(self) -> None:
        if not self._lost:
            return
        with self._database.write() as tx:
            for file, pages in sorted(self._lost.items()):
                again = "the next crawl asks for them again"
                write_event(tx, "crawl", f"{ARCHIVE}/{file} lacks {pages:,} pages that it had; {again}", "warning")
        self._lost.clear()


def _settle(part: list[tuple[UrlRow, Document]], tx: Transaction, number: int) -> None:
    """Part of the transaction that makes a batch visible."""
    if tx.row_lock:  # as a group commit does: the hosts first, in one order, so that none deadlocks
        for keys in parts_of(sorted({row.host for row, _ in part})):
            tx.rows(f"SELECT key FROM hosts WHERE key IN ({marks(keys)}) ORDER BY key{tx.row_lock}", keys)  # noqa: S608
    changed = set()
    for row, document in part:
        detail = document.canonical if document.refusal in ("canonical-elsewhere", "redirected") else row.detail
        said = (number, document.refusal, detail, document.fingerprint, row.host, row.key, row.tried_at)
        if tx.execute(_DONE, said) != 1:
            changed.add(row.key)
    if changed:
        raise _VisitedAgain(changed)


def keep_languages(database: Database, settings: CrawlSettings) -> None:
    """Write down which languages a crawl is to keep: its flags are forgotten when its documents are made."""
    with database.write() as tx:
        tx.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (_LANGUAGES, ",".join(settings.languages)),
        )


def _kept_languages(database: Database, settings: CrawlSettings) -> tuple[str, ...]:
    with database.read() as tx:
        kept = tx.value("SELECT value FROM meta WHERE key = ?", (_LANGUAGES,))
    return settings.languages if kept is None else tuple(filter(None, str(kept).split(",")))


def backlog_size(database: Database) -> int:
    """How many pages wait for their documents."""
    with database.read() as tx:
        return int(tx.value(f"SELECT COUNT(*) FROM urls WHERE pending = {LATER}"))  # noqa: S608
