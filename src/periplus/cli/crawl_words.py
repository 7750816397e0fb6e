"""How the state and the pages of a crawl are worded, the same wherever the terminal shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from periplus.cli.output import number

if TYPE_CHECKING:
    from periplus.records import CrawlStatus


def crawl_state(crawl: CrawlStatus) -> str:
    """``stalled since 14:03:22 UTC: 3 hosts: …``; the state alone where there is nothing to explain."""
    since = datetime.fromtimestamp(crawl.since, UTC).strftime(" since %H:%M:%S UTC") if crawl.since else ""
    return f"{crawl.state}{since}: {crawl.reason}" if crawl.reason else crawl.state


def crawl_pages(crawl: CrawlStatus) -> str:
    """Pages that this crawl brought, and those of the whole collection."""
    limit = f" of at most {number(crawl.limit)}" if crawl.limit else ""
    return f"{number(crawl.pages)} pages this crawl, {number(crawl.stored)} in all{limit}"
