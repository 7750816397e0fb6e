"""The picture of a page, for its thumbnail: one address of a kind of its own, asked for as politely as any.

Only where ``crawl.pictures`` is on, after pages that are as near to the seeds, and only from where the crawl may go.
It is archived and never indexed, and counts as no page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from periplus.records import Document

MAX_BYTES = 2_000_000


def picture_of(document: Document) -> str:
    """The first picture that says what is on it; empty where there is none."""
    from periplus.documents import telling_pictures

    found = telling_pictures(document.images)
    return found[0][0] if found else ""
