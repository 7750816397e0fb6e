"""Takedown: what must go, and must stay out for good."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import addresses
from periplus.crawl.interpretation import refusal_document
from periplus.crawl.rows import NEVER, REFUSED, URL_COLUMNS, UrlRow
from periplus.errors import UsageError
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from periplus.documents import BatchLog
    from periplus.storage import Database

REASON = "removed"
CHUNK = 1_000


class Removal(Struct, frozen=True):
    """What a takedown took: the addresses that were known, and where their records stand in the archive."""

    target: str
    is_host: bool
    addresses: tuple[str, ...]
    archived: tuple[ArchiveLocation, ...]


def remove(database: Database, url_or_host: str, log: BatchLog | None = None) -> Removal:
    """Refuse an address, or a host with all its addresses, from now on.

    The refusals reach the index with the next batch: at once when ``log`` is given, else when a crawl starts.
    """
    target, is_host = _target(url_or_host)
    now = time.time()
    where, value = ("host = ?", addresses.host_key(target)) if is_host else ("key = ?", addresses.key(target))
    sql = f"SELECT {', '.join(URL_COLUMNS)} FROM urls WHERE {where} AND reason <> '{REASON}'"  # noqa: S608
    with database.write() as tx:
        tx.insert_new("removed", ("target", "at"), [(target, now)], "target")
        rows = [UrlRow(*row) for row in tx.rows(sql, (value,))]
        tx.executemany(
            "UPDATE urls SET state = ?, reason = ?, refusal = ?, next_at = ?, pending = ?, body_hash = 0, tried_at = ?"
            " WHERE key = ?",
            [(REFUSED, REASON, REASON, NEVER, int(bool(row.fetched_at)), now, row.key) for row in rows],
        )
        tx.execute(
            "UPDATE hosts SET queued = (SELECT COUNT(*) FROM urls u WHERE u.host = hosts.key AND u.state = 0),"
            " pages = (SELECT COUNT(*) FROM urls u WHERE u.host = hosts.key AND u.state = 1 AND u.kind = 0)"
            " WHERE key = ?",
            (addresses.host_key(target if is_host else addresses.host(target)),),
        )
    _write_refusals(database, rows, now, log)
    return Removal(
        target,
        is_host,
        tuple(row.url for row in rows),
        tuple(location for row in rows if (location := row.location) is not None),
    )


def removed_targets(database: Database) -> frozenset[str]:
    with database.read() as tx:
        return frozenset(str(target) for (target,) in tx.rows("SELECT target FROM removed"))


def _target(text: str) -> tuple[str, bool]:
    """An address in canonical form, or a host."""
    if "://" in text:
        return addresses.canonical(text), False
    url = addresses.try_canonical(f"http://{text.strip()}/")
    if url is None or url.count("/") != 3:
        raise UsageError(f"{text!r} is neither an address nor a host; write https://example.org/page or example.org")
    return addresses.host(url), True


def _write_refusals(database: Database, rows: list[UrlRow], now: float, log: BatchLog | None) -> None:
    had = [row for row in rows if row.fetched_at]
    if log is None:
        return
    for start in range(0, len(had), CHUNK):
        part = had[start : start + CHUNK]
        for row in part:
            row.tried_at = now
        number = log.append([refusal_document(row, REASON) for row in part])
        with database.write() as tx:
            tx.executemany(
                "UPDATE urls SET pending = 0, batch = ? WHERE key = ? AND tried_at = ?",
                [(number, row.key, now) for row in part],
            )
