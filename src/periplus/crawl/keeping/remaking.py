"""Pages whose batch is lost: their documents are made again from the archive, as those of a backlog are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.frontier.rows import LATER, SAID

if TYPE_CHECKING:
    from periplus.storage import Database

_HELD = f"SELECT url FROM urls WHERE batch BETWEEN ? AND ? AND pending IN ({SAID}, {LATER}) ORDER BY url"  # noqa: S608
_AGAIN = f"UPDATE urls SET pending = {LATER} WHERE batch BETWEEN ? AND ? AND pending = {SAID}"  # noqa: S608


def make_again(database: Database, first: int, last: int) -> list[str]:
    """Have the next index make the documents of all pages whose newest one is in these batches; their addresses.

    Pages that were visited again since have newer ones in later batches. A page whose record the archive has lost is
    asked for again by the next crawl.
    """
    with database.write() as tx:
        held = [str(url) for (url,) in tx.rows(_HELD, (first, last))]
        tx.execute(_AGAIN, (first, last))
    return held
