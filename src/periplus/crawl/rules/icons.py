"""The small picture of a site: an address of a kind of its own, named by the front page, asked for as politely as any.

It is archived and never indexed, and counts as no page. An answer settles it for a month, also one that says that there
is none; redirects and failures that may pass take the way of all other addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from periplus import addresses
from periplus.crawl.frontier.rows import FETCHED
from periplus.reasons import may_retry

if TYPE_CHECKING:
    from periplus.crawl.fetching.fetcher import Fetched
    from periplus.crawl.frontier.rows import UrlRow
    from periplus.records import ArchiveLocation, Exchange

MAX_BYTES = 64_000
AGAIN = 30 * 86_400.0
DEPTH = 1  # a redirect of a seed's icon is no new seed
USUAL = "/favicon.ico"
_READABLE = frozenset({200, 203})
_PLAIN = frozenset({"", "application/octet-stream", "binary/octet-stream"})


def wanted_icon(content_type: str) -> bool:
    """Is a body of this Content-Type worth taking as a picture?"""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("image/") or kind in _PLAIN


def icon_of(row: UrlRow, named: str) -> str | None:
    """The address of the picture that a page stands for: what it names on its own host, else the usual place.

    Only front pages and seeds name one, so that a host is asked once.
    """
    parts = urlsplit(row.url)
    if row.depth and (parts.path != "/" or parts.query):
        return None
    if named and addresses.host(named) == addresses.host(row.url):
        return named
    return addresses.try_canonical(USUAL, row.url)


def settled(
    row: UrlRow, fetched: Fetched, location: ArchiveLocation | None, body_hash: int, most: int = MAX_BYTES
) -> UrlRow | None:
    """The row after an answer that tells whether there is a picture; none where it does not tell."""
    exchange = fetched.exchange
    at = fetched.started + fetched.elapsed
    if exchange is None:
        return None if may_retry(fetched.reason) else _without(row, 0, at)
    if exchange.status == 304 and row.state == FETCHED:
        return _seen(row, exchange, at)
    if exchange.status in _READABLE:
        found = 0 < len(exchange.body) <= most and not exchange.truncated
        return _seen(row, exchange, at, location, body_hash) if found else _without(row, exchange.status, at)
    gone = 400 <= exchange.status < 500 and exchange.status != 429
    return _without(row, exchange.status, at) if gone else None


def _seen(
    row: UrlRow, exchange: Exchange, at: float, location: ArchiveLocation | None = None, body_hash: int = 0
) -> UrlRow:
    new = replace(
        row, state=FETCHED, status=200, reason="", detail="", tried_at=at, attempts=0, missing=0, next_at=at + AGAIN,
        visits=row.visits + 1, etag=exchange.header("etag")[:500] or row.etag,
        last_modified=exchange.header("last-modified")[:100] or row.last_modified,
    )  # fmt: skip
    repeats = body_hash == row.body_hash and row.file  # and is archived without its payload
    if location is not None and not repeats:
        new.file, new.place, new.length = location.file, location.offset, location.length
        new.body_hash, new.fetched_at = body_hash, exchange.started
    return new


def _without(row: UrlRow, status: int, at: float) -> UrlRow:
    return replace(
        row, state=FETCHED, status=status, reason="", detail="", tried_at=at, attempts=0, next_at=at + AGAIN,
        visits=row.visits + 1, file="", place=0, length=0, body_hash=0, etag="", last_modified="",
    )  # fmt: skip
