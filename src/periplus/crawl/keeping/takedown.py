"""Takedown: what must go from everywhere, and must stay out for good.

``remove`` writes the target down first; from then on nothing new of it can appear, whoever is crawling at the time: a
group commit turns pages that were under way into refusals (``removed.hold_back``), and a batch that was written
meanwhile is looked at again (``recall``). Then the rows of the address table, the records of the archive (overwritten
in place) and the rows of earlier batches (replaced) lose what they hold, and a refusal in a new batch takes it out of
the index. ``sweep`` does again what a crash left undone; every crawl begins and ends with it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from periplus import addresses, archive
from periplus.crawl.frontier.removed import REASON, UNFINISHED, named_targets
from periplus.crawl.frontier.rows import (
    COUNT_QUEUED_AND_PAGES,
    FETCHED,
    NEVER,
    REFUSED,
    URL_COLUMNS,
    UrlRow,
    refusal_document,
)
from periplus.crawl.keeping.retention import ARCHIVE
from periplus.errors import StorageBusy, UsageError
from periplus.records import ArchiveLocation, Document
from periplus.storage import LocalFiles, awaited_lock, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from periplus.documents import BatchLog
    from periplus.storage import Database, Depot, Transaction

T = TypeVar("T")
CHUNK = 1_000
TRIES = 20  # where machines change the same files
LOCK, LOCK_SECONDS = "takedown.lock", 60.0

_URLS = f"SELECT {', '.join(URL_COLUMNS)} FROM urls"  # noqa: S608
_REFUSE = (
    "UPDATE urls SET state = ?, reason = ?, refusal = ?, next_at = ?, pending = ?, tried_at = ?, body_hash = 0,"
    " fingerprint = 0, etag = '', last_modified = '', detail = '', chain = '', same_as = 0 WHERE host = ? AND key = ?"
)
_FORGET_PLACE = (
    "UPDATE urls SET file = '', place = 0, length = 0 WHERE state = ? AND reason = ? AND file = ? AND place = ?"
)


class Removal(Struct, frozen=True):
    """What a takedown took: the addresses that were known, and how much the archive and the batches held of them."""

    target: str
    is_host: bool
    addresses: tuple[str, ...]
    archived: tuple[ArchiveLocation, ...] = ()  # records that were overwritten, or that the address table names
    documents: int = 0  # rows of batches that were emptied
    indexed: bool = False  # the published index has followed

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing of it."""
        return not (self.addresses or self.archived or self.documents)


def remove(database: Database, url_or_host: str, log: BatchLog | None = None, folder: Path | None = None) -> Removal:
    """Refuse an address, or a host with all its addresses, from now on, and take out what there is of it.

    With ``log`` the batches lose it and the refusals are written at once, else when a crawl starts; with ``folder``
    (of the collection) the archive loses it.
    """
    target, is_host = _target(url_or_host)
    targets = spellings(target)
    now = time.time()
    with database.write() as tx:
        tx.insert_new("removed", ("target", "at"), [(one, now) for one in targets], "target")
        if log is not None or folder is not None:
            tx.insert_new("meta", ("key", "value"), [(UNFINISHED + one, "1") for one in targets], "key")
        rows = [row for one in targets for row in _refuse(tx, one, is_host, now)]
        if rows:
            write_event(tx, "crawl", f"{target} is taken down: {len(rows):,} addresses")
    if log is not None:
        _write_refusals(database, rows, now, log)
    removal = _purge(database, targets, {row.key for row in rows if _had(row)}, log, folder)
    return replace(
        removal,
        addresses=tuple(row.url for row in rows),
        archived=removal.archived or tuple(place for row in rows if (place := row.location) is not None),
    )


def spellings(target: str) -> tuple[str, ...]:
    """A target as it is listed: an address goes together with the same one of the other scheme, a host has both."""
    scheme, mark, rest = target.partition("://")
    other = addresses.try_canonical(f"{'http' if scheme == 'https' else 'https'}://{rest}") if mark else None
    return (target, other) if other is not None and ":" not in addresses.host(other) else (target,)


def lift(database: Database, url_or_host: str) -> None:
    """Take back a takedown that found nothing."""
    target, _ = _target(url_or_host)
    with database.write() as tx:
        for one in spellings(target):
            tx.execute("DELETE FROM removed WHERE target = ?", (one,))
            tx.execute("DELETE FROM meta WHERE key = ?", (UNFINISHED + one,))


def is_removed(database: Database, url_or_host: str) -> bool:
    target, _ = _target(url_or_host)
    with database.read() as tx:
        return bool(tx.value("SELECT 1 FROM removed WHERE target = ?", (target,)))


def sweep(database: Database, folder: Path, depot: Depot | None = None) -> None:
    """Finish what was begun, and take out what slipped in while it was taken down; cheap when there is nothing."""
    with database.read() as tx:
        keys = tx.rows("SELECT key FROM meta WHERE key LIKE ?", (UNFINISHED + "%",))
    if not keys:
        return
    from periplus.documents import BatchLog

    log = BatchLog(LocalFiles(folder), database, depot)
    for (key,) in keys:
        remove(database, str(key).removeprefix(UNFINISHED), log, folder)


# Against what is under way


def recall(database: Database, folder: Path, log: BatchLog, number: int, documents: Sequence[Document]) -> None:
    """Empty the rows of a batch just written whose addresses were taken down before it was.

    A takedown that comes after the batch sees it; one that came before is seen here: none is missed.
    """
    with database.read() as tx:
        if tx.value("SELECT 1 FROM removed LIMIT 1") is None:
            return
        named = named_targets(tx, [document.url for document in documents])
    if named:
        with _alone(folder):
            _again(partial(_recalled, log, number, _matcher(named)))


def _recalled(log: BatchLog, number: int, wanted: Callable[[str], bool]) -> None:
    holder = log.holder(number)  # it may have been compacted since
    rows = _full_rows(log, holder, wanted)
    if rows:
        log.replace(holder, rows)


# Taking out


def _refuse(tx: Transaction, target: str, is_host: bool, now: float) -> list[UrlRow]:
    """Refuse all known addresses of the target; the rows as they were.

    The host's row is locked first, as a group commit does: it either comes before, and its rows are refused here, or
    comes after, and sees what was written down.
    """
    host = addresses.host_key(target if is_host else addresses.host(target))
    tx.rows(f"SELECT key FROM hosts WHERE key = ?{tx.row_lock}", (host,))  # noqa: S608
    where, values = ("host = ?", (host,)) if is_host else ("host = ? AND key = ?", (host, addresses.key(target)))
    sql = f"{_URLS} WHERE {where} AND (reason <> ? OR pending = 1)"
    rows = [UrlRow(*row) for row in tx.rows(sql, (*values, REASON))]
    tx.executemany(_REFUSE, [(REFUSED, REASON, REASON, NEVER, int(_had(row)), now, row.host, row.key) for row in rows])
    tx.execute(f"{COUNT_QUEUED_AND_PAGES} WHERE key = ?", (host,))
    return rows


def _had(row: UrlRow) -> bool:
    """Does the log of batches hold a word about it?"""
    return bool(row.fetched_at or row.batch or row.pending)


def _purge(
    database: Database, targets: Sequence[str], written: Collection[int], log: BatchLog | None, folder: Path | None
) -> Removal:
    """Empty the files; ``written`` are the keys of addresses whose refusal is in the log already."""
    target, is_host = targets[0], "://" not in targets[0]
    if folder is None and log is None:
        return Removal(target, is_host, ())
    wanted = _matcher(targets)
    emptied, places = 0, []
    with _alone(folder):
        if log is not None:
            emptied = _again(partial(_empty_batches, log, wanted, written))
        if log is not None and log.depot is not None:
            parts = archive.ArchiveParts(database, log.depot)
            places = _again(partial(parts.blank, wanted, _hosts_of(targets)))
        elif folder is not None:
            places = archive.places_of(folder / ARCHIVE, wanted)
            archive.blank(folder / ARCHIVE, places)
    with database.write() as tx:
        tx.executemany(_FORGET_PLACE, [(REFUSED, REASON, place.file, place.offset) for place in places])
        tx.executemany("DELETE FROM meta WHERE key = ?", [(UNFINISHED + one,) for one in targets])
    return Removal(target, is_host, (), tuple(places), emptied)


def _again(action: Callable[[], T]) -> T:
    """On many machines others may change the same files: then it is begun again with what they made of them."""
    for _ in range(TRIES - 1):
        try:
            return action()
        except StorageBusy:
            continue
    return action()


def _hosts_of(targets: Sequence[str]) -> frozenset[int]:
    return frozenset(addresses.host_key(addresses.host(one) if "://" in one else one) for one in targets)


@contextmanager
def _alone(folder: Path | None) -> Iterator[None]:
    """One takedown at a time rewrites files; others wait for it."""
    with awaited_lock(folder / LOCK, "taking down pages", LOCK_SECONDS) if folder is not None else nullcontext():
        yield


def _matcher(targets: Iterable[str]) -> Callable[[str], bool]:
    """Is an address, however it is spelt, one of the targets or on one of their hosts?"""
    listed = frozenset(targets)

    def matches(text: str) -> bool:
        if text in listed:
            return True
        url = addresses.try_canonical(text)
        return url is not None and (url in listed or addresses.host(url) in listed)

    return matches


def _empty_batches(log: BatchLog, wanted: Callable[[str], bool], written: Collection[int]) -> int:
    """Replace what the batches hold, after a word to the index about documents that no crawl knows (imports)."""
    log.forget_merged()
    found = {number: rows for number in log.numbers() if (rows := _full_rows(log, number, wanted))}
    strangers = {doc.key: doc for rows in found.values() for doc in rows.values() if doc.key not in written}
    if strangers:
        log.append(list(strangers.values()))
    for number, rows in found.items():
        log.replace(number, rows)
    return sum(map(len, found.values()))


def _full_rows(log: BatchLog, number: int, wanted: Callable[[str], bool]) -> dict[int, Document]:
    """What must stand in the rows of a batch that still hold something."""
    rows = [row for row, url in enumerate(log.addresses(number)) if url and wanted(url)]
    if not rows:
        return {}
    documents = log.documents(number)
    return {row: empty for row in rows if (empty := _emptied(documents[row])) != documents[row]}


def _emptied(document: Document) -> Document:
    return Document(document.url, document.key, document.fetched, refusal=REASON, id=document.id)


def _write_refusals(database: Database, rows: list[UrlRow], now: float, log: BatchLog) -> None:
    had = [replace(row, tried_at=now, status=row.status if row.state == FETCHED else 0) for row in rows if _had(row)]
    for start in range(0, len(had), CHUNK):
        part = had[start : start + CHUNK]
        number = log.append([refusal_document(row, REASON) for row in part])
        with database.write() as tx:
            tx.executemany(
                "UPDATE urls SET pending = 0, batch = ? WHERE key = ? AND tried_at = ? AND pending = 1",
                [(number, row.key, now) for row in part],
            )


def _target(text: str) -> tuple[str, bool]:
    """An address in canonical form, or a host."""
    if "://" in text:
        return addresses.canonical(text), False
    url = addresses.try_canonical(f"http://{text.strip()}/")
    if url is None or url.count("/") != 3:
        raise UsageError(f"{text!r} is neither an address nor a host; write https://example.org/page or example.org")
    return addresses.host(url), True
