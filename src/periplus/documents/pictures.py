"""The pictures of a page that are worth finding: those whose text says what is on them.

A picture is found by the words of its page, by its own text (else its caption) and by the name of its file, which count
as little as a margin. Logos, buttons and what has a text of one word are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import Document

MOST = 2  # of a page
LEAST_WORDS = 2
LONGEST_TEXT = 120
LONGEST_ADDRESS = 300
LEAST_LETTERS = 3  # of a word in the name of a file: shorter ones are counters and sizes
_DECORATION = re.compile(r"logo|icon|sprite|avatar|badge|button|pixel|spacer|banner|\.svg(?:$|\?)", re.IGNORECASE)
_BY_CAMERA = frozenset(
    {"img", "image", "dsc", "dscn", "photo", "picture", "pic", "scaled", "thumb", "copy", "screenshot"}
)


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
    """The document with the texts and the file names of its pictures in its margin."""
    texts = [part for one in telling_pictures(document.images) for part in (one[1], file_words(*one)) if part]
    if not texts:
        return document
    return structs.replace(document, boilerplate="\n".join([*filter(None, [document.boilerplate]), *texts]))


def file_words(address: str, text: str = "") -> str:
    """The words of the name of a picture's file that its text does not have; none of what a camera calls it."""
    name = unquote(urlsplit(address).path).rpartition("/")[2].rpartition(".")[0]
    known = set(re.findall(r"\w+", text.casefold()))
    words = [word for word in re.split(r"[\W_]+", name) if len(word) >= LEAST_LETTERS and word.isalpha()]
    return " ".join(word for word in words if word.casefold() not in known | _BY_CAMERA)
