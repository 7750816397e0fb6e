"""What was taken down, as every commit asks: an address or a host on this list never comes back (``takedown``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.frontier.rows import NEVER, REFUSED, refusal_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.crawl.frontier.rows import Visited
    from periplus.storage import Database, Transaction

REASON = "removed"
UNFINISHED = "takedown.unfinished "  # in meta, followed by the target
IN_LIST = 400


def removed_targets(database: Database) -> frozenset[str]:
    with database.read() as tx:
        return frozenset(str(target) for (target,) in tx.rows("SELECT target FROM removed"))


def hold_back(tx: Transaction, visited: Sequence[Visited]) -> None:
    """Turn visits of what was taken down meanwhile into refusals; part of the transaction that would store them."""
    if not visited or tx.value("SELECT 1 FROM removed LIMIT 1") is None:
        return
    named = named_targets(tx, [item.row.url for item in visited])
    again: set[str] = set()
    for item in visited:
        targets = named & {item.row.url, addresses.host(item.row.url)}
        if targets:
            again |= targets if item.row.reason != REASON else set()  # a response came, so the archive has it
            _refuse(item)
    tx.insert_new("meta", ("key", "value"), [(UNFINISHED + target, "1") for target in again], "key")


def named_targets(tx: Transaction, urls: Sequence[str]) -> set[str]:
    """Which of these addresses and their hosts are on the list."""
    asked = list(dict.fromkeys([*urls, *map(addresses.host, filter(None, urls))]))
    found: set[str] = set()
    for start in range(0, len(asked), IN_LIST):
        part = asked[start : start + IN_LIST]
        sql = f"SELECT target FROM removed WHERE target IN ({', '.join('?' * len(part))})"  # noqa: S608
        found.update(str(target) for (target,) in tx.rows(sql, part))
    return found


def _refuse(item: Visited) -> None:
    row = item.row
    had = bool(row.fetched_at) or item.document is not None
    row.state, row.reason, row.refusal, row.detail, row.next_at = REFUSED, REASON, REASON, "", NEVER
    row.etag = row.last_modified = ""
    row.body_hash = row.fingerprint = row.same_as = 0
    row.pending = int(had)
    item.was = REFUSED  # the takedown has counted it already
    item.document = refusal_document(row, REASON) if had else None
    item.found, item.fresh_body, item.seed = [], False, ""
