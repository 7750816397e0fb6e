"""Fields: which texts of a document are indexed, and where their positions lie.

Every field is a list of pieces (headings, anchor phrases …). Pieces and fields are parted by a gap, so that no phrase
reaches from one into the next; fields follow one another in the order of ``FIELDS`` and occupy disjoint ranges.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.records import Anchor, Document

# ``margin`` holds what stands beside the main text (navigation, footers, the page's own description): hardly weighted.
FIELDS = ("title", "headings", "body", "anchors", "address", "margin")

PIECE_GAP = 8  # positions between two pieces: wider than any slop that proximity looks at
MAX_ANCHORS = 64  # phrases of one page
MAX_REPEATS = 8  # of one phrase used by many sites

TITLE, HEADINGS, BODY, ANCHORS, ADDRESS, MARGIN = range(len(FIELDS))
_OTHER_THAN_PLAIN = b"%#\\ \t\n\r\f\v\0"
_SEPARATORS = re.compile(r"[^\w.]+|_")


def further_pieces(
    document: Document, anchors: Sequence[Anchor] = (), *, with_address: bool
) -> Iterator[tuple[int, str]]:
    """Fields and texts beside title, text and description, in the order of fields; none is empty."""
    found = [(HEADINGS, heading.text) for heading in document.headings]
    found += [(ANCHORS, phrase) for phrase in anchor_pieces(anchors)]
    if with_address:
        found += [(ADDRESS, piece) for piece in address_pieces(document.url)]
    found.append((MARGIN, document.boilerplate))
    return (piece for piece in found if piece[1])


def anchor_pieces(anchors: Sequence[Anchor]) -> list[str]:
    """Anchor phrases, each as often as the logarithm of the sites that use it says."""
    ordered = sorted(anchors, key=lambda anchor: -anchor.sites)[:MAX_ANCHORS]
    return [anchor.text for anchor in ordered for _ in range(min(MAX_REPEATS, max(1, anchor.sites).bit_length()))]


def address_pieces(url: str) -> list[str]:
    """The host, and the words of path and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    path = _SEPARATORS.sub(" ", unquote(f"{parts.path} {parts.query}")).strip()
    return [parts.netloc, path]


@cache
def address_table() -> NDArray[np.uint8]:
    """What becomes of each byte of a plain path (0: the address is not plain); then which bytes a plain host has."""
    path = [
        0 if point in _OTHER_THAN_PLAIN else point if chr(point).isalnum() or chr(point) == "." else ord(" ")
        for point in range(0x80)
    ]
    host = [chr(point).isalnum() or chr(point) in "_.:-" for point in range(0x80)]
    beyond = [0] * 0x80
    return np.array([*path, *beyond, *host, *beyond], np.uint8)
