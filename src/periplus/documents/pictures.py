"""The pictures of a page that are worth finding: those whose text says what is on them.

A picture is found by the words of its page and by its own text, which counts as little as a margin. Logos, buttons and
what has a text of one word are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import Document

MOST = 2  # of a page
LEAST_WORDS = 2
LONGEST_TEXT = 120
LONGEST_ADDRESS = 300
_DECORATION = re.compile(r"logo|icon|sprite|avatar|badge|button|pixel|spacer|banner|\.svg(?:$|\?)", re.IGNORECASE)


def telling_pictures(images: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Addresses and texts of the first pictures that are worth it, each address once."""
    found: dict[str, str] = {}
    for address, text in images:
        words = " ".join(text.split())[:LONGEST_TEXT]
        if len(words.split()) < LEAST_WORDS or len(address) > LONGEST_ADDRESS or _DECORATION.search(address):
            continue
        found.setdefault(address, words)
        if len(found) == MOST:
            break
    return list(found.items())


def with_picture_texts(document: Document) -> Document:
    """The document with the texts of its pictures in its margin."""
    texts = [text for _, text in telling_pictures(document.images)]
    if not texts:
        return document
    return structs.replace(document, boilerplate="\n".join([*filter(None, [document.boilerplate]), *texts]))
