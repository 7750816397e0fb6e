"""Seeds: those of all runs; those that brought nothing, with reasons; those that are named again, to be tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from periplus import addresses
from periplus.crawl.frontier.rows import COUNT_QUEUED, FAILED, QUEUED, REFUSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.storage import Database, Transaction

MOST_HOPS = 16  # redirects that are followed from a seed, more than a crawl follows
_AGAIN = (
    "UPDATE urls SET state = ?, reason = '', next_at = 0, attempts = 0"
    " WHERE host = ? AND key = ? AND state IN (?, ?) AND reason NOT IN ('removed', 'redirected')"
)
_WAKE = "UPDATE hosts SET next_at = ready_at WHERE key = ? AND active = 0"


class BarrenSeed(Struct, frozen=True):
    """A seed that brought no page: the address that it led to, and the reason code."""

    url: str
    reason: str
    detail: str = ""


class _Row(NamedTuple):
    state: int
    reason: str
    detail: str


def known_seeds(database: Database, skip: int = 0) -> list[str]:
    """Those of all runs, in the order in which they were added, without the first ``skip``."""
    with database.read() as tx:
        if skip and tx.value("SELECT COUNT(*) FROM seeds") == skip:
            return []
        rows = tx.rows("SELECT url FROM seeds ORDER BY added_at, key")
    return [str(url) for (url,) in rows[skip:]]


def barren_seeds(database: Database, seeds: Sequence[str], max_pages: int = 0) -> list[BarrenSeed]:
    """Those of ``seeds`` (canonical addresses) that were settled without a page, in their order.

    One that still waits is not among them, unless the crawl has all the pages of ``max_pages``.
    """
    with database.read() as tx:
        full = bool(max_pages) and int(tx.value("SELECT COALESCE(SUM(pages), 0) FROM hosts")) >= max_pages
        found = [_barren(tx, url, full=full) for url in seeds]
    return [one for one in found if one is not None]


def _barren(tx: Transaction, seed: str, *, full: bool) -> BarrenSeed | None:
    url, row = seed, _row(tx, seed)
    for _ in range(MOST_HOPS):
        if row is None or row.reason != "redirected" or row.state != REFUSED:
            break
        url, row = row.detail, _row(tx, row.detail)
    if row is None:  # not kept: a redirect that leads out of the scope
        return BarrenSeed(seed, "out-of-scope", f"it leads to {url}") if url != seed else None
    if row.state in (FAILED, REFUSED):
        return BarrenSeed(seed, row.reason, _led(seed, url, row.detail))
    return BarrenSeed(seed, "page-limit") if row.state == QUEUED and full else None


def _led(seed: str, url: str, detail: str) -> str:
    return detail if url == seed else f"it leads to {url}{': ' if detail else ''}{detail}"


def _row(tx: Transaction, url: str) -> _Row | None:
    place = addresses.host_key(addresses.host(url)), addresses.key(url)
    row = tx.row("SELECT state, reason, detail FROM urls WHERE host = ? AND key = ?", place)
    return _Row(*row) if row else None


def try_again(tx: Transaction, seeds: Sequence[str]) -> None:
    """Whoever names a seed that failed or was refused has changed something; the host's gap is kept."""
    for url in seeds:
        host = addresses.host_key(addresses.host(url))
        if tx.execute(_AGAIN, (QUEUED, host, addresses.key(url), FAILED, REFUSED)):
            tx.execute(f"{COUNT_QUEUED} WHERE key = ?", (host,))
            tx.execute(_WAKE, (host,))
