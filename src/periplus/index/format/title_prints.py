"""Title prints: whether a query is the title of a page, to the letter, told by comparing two numbers.

Terms cannot tell it: ``std::list::max_size`` has all terms of ``std::list::size`` at the same positions, since parts of
a name are terms like others, and of ``~vector`` and ``vector`` one is the other with a sign. So a column keeps a number
for what a title says: one half of its bits for all of it, the other for what stands before its last dash or bar, behind
which many sites put their names, or else for the heading that the page begins with (``String (Java SE 17)`` begins
with ``Class String``). Case, blanks and the signs of sentences do not count; signs of names do.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
from xxhash import xxh32_intdigest

from periplus.core.layout.documents import HALF_BITS
from periplus.text import TITLE_BORDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.records import Heading

MAX_TITLE = 300  # characters that count
BEFORE_LAST = 0.8  # what a query counts that is the title but for what stands behind the last dash, or the other way
_OF_SENTENCES = re.compile(r"[\"'“”„‘’«»‹›`,;?!…¿¡]+|[:.]+(?=\s|$)")
_LOW = (1 << HALF_BITS) - 1


def title_print(title: str, heading: str = "") -> int:
    """The number of a title, or of a query that may be one; 0 for one that says nothing.

    Where no dash parts the title, the ``heading`` of the page may say it in another way.
    """
    title = title[:MAX_TITLE]
    if not title.isascii():
        title = unicodedata.normalize("NFKC", title)
    *before, last = [_plain(part) for part in TITLE_BORDER.split(title)]
    whole = _number([*before, last])
    return whole << HALF_BITS | (_number(before) or (_number([_plain(heading[:MAX_TITLE])]) if heading else 0) or whole)


def heading_of(headings: Sequence[Heading]) -> str:
    """The heading that a page begins with, where it is one of the first level."""
    return headings[0].text if headings and headings[0].level == 1 else ""


def _plain(text: str) -> str:
    return " ".join(_OF_SENTENCES.sub("", text.casefold()).split())


def _number(parts: list[str]) -> int:
    text = " - ".join(part for part in parts if part)
    return (xxh32_intdigest(text.encode("utf-8", "surrogatepass")) & _LOW or 1) if text else 0


def sameness(asked: int, prints: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 for titles that are what was asked, ``BEFORE_LAST`` where one of both has something more behind a dash."""
    whole, start = prints >> HALF_BITS, prints & _LOW
    asked_whole, asked_start = asked >> HALF_BITS, asked & _LOW
    near: NDArray[Any] = (start == asked_whole) | (whole == asked_start)
    found: NDArray[np.float64] = np.where(whole == asked_whole, 1.0, np.where(near, BEFORE_LAST, 0.0))
    return np.where((whole != 0) & (asked_whole != 0), found, 0.0)
