"""Fields: which texts of a document are indexed, and where their positions lie.

Every field is a list of pieces (headings, anchor phrases …). Pieces and fields are parted by a gap, so that no phrase
reaches from one into the next; fields follow one another in the order of ``FIELDS`` and occupy disjoint ranges.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from periplus.index.query import FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import Anchor, Document

PIECE_GAP = 8  # positions between two pieces: wider than any slop that proximity looks at
MAX_ANCHORS = 64  # phrases of one page
MAX_REPEATS = 8  # of one phrase used by many sites

HOSTS_KEPT = 65_536
FIRST_HOST_END = len("http://h")

TITLE, HEADINGS, BODY, ANCHORS, ADDRESS, MARGIN = range(len(FIELDS))
_PLAIN_HOST = re.compile(r"https?://([\w.:-]+)", re.ASCII)
_ESCAPE = b"\0"  # for what the path of a plain address does not have
_OTHER_THAN_PLAIN = b"%#\\ \t\n\r\f\v\0"
_PLAIN_PATH = bytes(
    0 if point in _OTHER_THAN_PLAIN else point if chr(point).isalnum() or chr(point) == "." else ord(" ")
    for point in range(256)
)
_SEPARATORS = re.compile(r"[^\w.]+|_")


def field_pieces(document: Document, anchors: Sequence[Anchor] = ()) -> list[list[str]]:
    """The pieces of text of each field, in the order of ``FIELDS``."""
    texts: list[str] = []
    owners: list[int] = []
    add_pieces(document, anchors, 0, texts, owners)
    return [[text for text, owner in zip(texts, owners, strict=True) if owner == field] for field in range(len(FIELDS))]


def add_pieces(document: Document, anchors: Sequence[Anchor], owner: int, texts: list[str], owners: list[int]) -> None:
    """Append all pieces of text, field after field, and to ``owners`` the field of each, counted from ``owner`` on."""
    if document.title:
        texts.append(document.title)
        owners.append(owner + TITLE)
    for heading in document.headings:
        if heading.text:
            texts.append(heading.text)
            owners.append(owner + HEADINGS)
    if document.text:
        texts.append(document.text)
        owners.append(owner + BODY)
    if anchors:
        phrases = [phrase for phrase in anchor_pieces(anchors) if phrase]
        texts += phrases
        owners += [owner + ANCHORS] * len(phrases)
    for piece in address_pieces(document.url):
        if piece:
            texts.append(piece)
            owners.append(owner + ADDRESS)
    if document.description:
        texts.append(document.description)
        owners.append(owner + MARGIN)
    if document.boilerplate:
        texts.append(document.boilerplate)
        owners.append(owner + MARGIN)


def anchor_pieces(anchors: Sequence[Anchor]) -> list[str]:
    """Anchor phrases, each as often as the logarithm of the sites that use it says."""
    ordered = sorted(anchors, key=lambda anchor: (-anchor.sites, anchor.text))[:MAX_ANCHORS]
    return [anchor.text for anchor in ordered for _ in range(min(MAX_REPEATS, max(1, anchor.sites).bit_length()))]


def address_pieces(url: str) -> list[str]:
    """The host, and the words of path and query."""
    end = url.find("/", FIRST_HOST_END)
    if end > 0 and url.isascii() and (host := _plain_host(url[:end])):
        plain = url[end:].encode().translate(_PLAIN_PATH)
        if _ESCAPE not in plain:  # nearly all: no escapes, no fragment
            return [host, plain.strip().decode()]
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    path = _SEPARATORS.sub(" ", unquote(f"{parts.path} {parts.query}")).strip()
    return [parts.netloc, path]


@lru_cache(maxsize=HOSTS_KEPT)
def _plain_host(root: str) -> str:
    """The host of an address without its path; empty when that is not a plain one."""
    plain = _PLAIN_HOST.fullmatch(root)
    return plain[1] if plain else ""
