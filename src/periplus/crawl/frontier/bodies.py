"""The content-seen test: which address gave a body first. Exact over all workers: a body has one row, written or lost.

The row counts while its address still has that body; afterwards the next address that gives it takes the row. A page to
be found is no copy of one that is not: it takes the row too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from periplus.crawl.frontier.arrivals import marks, parts_of
from periplus.crawl.frontier.rows import FETCHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.crawl.frontier.rows import UrlRow, Visited
    from periplus.storage import Transaction

FILL = (
    "INSERT INTO bodies (body_hash, host, key) SELECT body_hash, host, key FROM (SELECT body_hash, host, key,"
    " ROW_NUMBER() OVER (PARTITION BY body_hash"
    " ORDER BY CASE refusal WHEN '' THEN 0 WHEN 'duplicate' THEN 2 ELSE 1 END, found_at, key) AS place"
    " FROM urls WHERE body_hash <> 0 AND state = 1 AND same_as = 0) AS firsts WHERE place = 1"
    " ON CONFLICT (body_hash) DO NOTHING"
)
_KNOWN = (
    "SELECT b.body_hash, u.key, u.url, u.refusal FROM bodies b JOIN urls u ON u.host = b.host AND u.key = b.key"
    " AND u.body_hash = b.body_hash AND u.state = 1 AND u.same_as = 0 WHERE b.body_hash IN ({})"
)

# A row that is there already is not changed and not returned, but kept from others until the transaction ends: between
# the look for it and the lock nobody can forget it.
_CLAIM = (
    "INSERT INTO bodies (body_hash, host, key) VALUES {} ON CONFLICT (body_hash) DO UPDATE SET host = bodies.host"
    " WHERE FALSE RETURNING body_hash"
)
# What another writer has locked it is about to take.
_FORGET = (
    "DELETE FROM bodies WHERE body_hash = (SELECT b.body_hash FROM bodies b JOIN urls u ON u.host = b.host"
    " AND u.key = b.key AND u.body_hash = b.body_hash WHERE u.host = ? AND u.key = ? AND u.body_hash <> ?{})"
)


class Owner(NamedTuple):
    """The address that gave a body first and still does; of several, one to be found."""

    host: int
    key: int
    url: str
    refusal: str


def owners_of(tx: Transaction, visited: Iterable[Visited]) -> dict[int, Owner]:
    """The owner of every body that was tested, known to all workers when the transaction commits."""
    claims: dict[int, Owner] = {}
    for item in visited:
        if item.fresh_body and item.row.body_hash:
            claim = Owner(item.row.host, item.row.key, item.row.url, item.row.refusal)
            first = claims.setdefault(item.row.body_hash, claim)
            if first.refusal and not claim.refusal:
                claims[item.row.body_hash] = claim
    new = _claimed(tx, claims)
    return claims | _known(tx, {body: claim for body, claim in claims.items() if body not in new})


def forget_former(tx: Transaction, visited: Iterable[Visited]) -> None:
    """Rows of the bodies that these addresses had until now and have no more; before their rows are written.

    They would count for nothing. Beside other writers none waits for a row here, so that none deadlocks: a row that is
    kept by another stays, until its address or another one has that body again.
    """
    changed = [item.row for item in visited if item.was == FETCHED and (item.fresh_body or item.row.state != FETCHED)]
    forget = _FORGET.format(f"{tx.row_lock} OF b SKIP LOCKED" if tx.row_lock else "")
    tx.executemany(forget, [(row.host, row.key, _kept(row)) for row in changed])


def _kept(row: UrlRow) -> int:
    """The body that an address goes on to have; 0, which is no body, when it has none to be found."""
    return row.body_hash if row.state == FETCHED else 0


def _claimed(tx: Transaction, claims: dict[int, Owner]) -> set[int]:
    """Bodies that had no row and are their claimants' now; the rows of the others are kept from other writers."""
    new: set[int] = set()
    for part in parts_of(sorted(claims)):  # one order: no deadlocks
        values = [value for body in part for value in (body, claims[body].host, claims[body].key)]
        new.update(body for (body,) in tx.rows(_CLAIM.format(", ".join(["(?, ?, ?)"] * len(part))), values))
    return new


def _known(tx: Transaction, claims: dict[int, Owner]) -> dict[int, Owner]:
    """The owners of bodies that had one already; rows whose owner counts no more go to who claims them."""
    owners: dict[int, Owner] = {}
    for part in parts_of(sorted(claims)):
        for body, key, url, refusal in tx.rows(_KNOWN.format(marks(part)), part):
            if not (refusal and not claims[body].refusal):
                owners[body] = Owner(0, key, url, refusal)
    taken = [(claim.host, claim.key, body) for body, claim in claims.items() if body not in owners]
    tx.executemany("UPDATE bodies SET host = ?, key = ? WHERE body_hash = ?", taken)
    return owners
