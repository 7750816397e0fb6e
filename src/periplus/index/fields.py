"""Fields: which texts of a document are indexed, and where their positions lie.

Every field is a list of pieces (headings, anchor phrases …). Pieces and fields are parted by a gap, so that no phrase
reaches from one into the next; fields follow one another in the order of ``FIELDS`` and occupy disjoint ranges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import Anchor, Document

PIECE_GAP = 8  # positions between two pieces: wider than any slop that proximity looks at
MAX_ANCHORS = 64  # phrases of one page
MAX_REPEATS = 8  # of one phrase used by many sites

_PLAIN_ADDRESS = re.compile(r"https?://([\w.:-]+)(/[^%#\s\\]*)", re.ASCII)
_SEPARATORS = re.compile(r"[^\w.]+|_")


def field_pieces(document: Document, anchors: Sequence[Anchor] = ()) -> list[list[str]]:
    """The pieces of text of each field, in the order of ``FIELDS``."""
    margin = (document.description, document.boilerplate)
    return [
        [document.title] if document.title else [],
        [heading.text for heading in document.headings if heading.text],
        [document.text] if document.text else [],
        [piece for piece in anchor_pieces(anchors) if piece] if anchors else [],
        [piece for piece in address_pieces(document.url) if piece],
        [piece for piece in margin if piece],
    ]


def anchor_pieces(anchors: Sequence[Anchor]) -> list[str]:
    """Anchor phrases, each as often as the logarithm of the sites that use it says."""
    ordered = sorted(anchors, key=lambda anchor: (-anchor.sites, anchor.text))[:MAX_ANCHORS]
    return [anchor.text for anchor in ordered for _ in range(min(MAX_REPEATS, max(1, anchor.sites).bit_length()))]


def address_pieces(url: str) -> list[str]:
    """The host, and the words of path and query."""
    if plain := _PLAIN_ADDRESS.fullmatch(url):  # nearly all: no escapes, no fragment
        return [plain[1], _SEPARATORS.sub(" ", plain[2]).strip()]
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    path = _SEPARATORS.sub(" ", unquote(f"{parts.path} {parts.query}")).strip()
    return [parts.netloc, path]
