"""Letters that ``core.build.forms`` can fold by itself: one at a time, whatever stands beside them."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.letter_classes import CASELESS, LETTERS, LOWER, UPPER
from periplus.text.characters import fold, joins

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMON = (range(0x700), range(0x1E00, LETTERS))  # those it tells about: Latin, Greek, Cyrillic, Hebrew, Arabic
MOST_BYTES = 4  # of what one letter becomes


@cache
def letter_table() -> NDArray[np.uint32]:
    """Three numbers for each code point: its exact form and its folded one (bytes of UTF-8), and its case; 0 for none.

    Left out is whatever may be composed with what stands before it.
    """
    table = np.zeros((LETTERS, 3), np.uint32)
    for point in chain(*COMMON):
        letter = chr(point)
        if not letter.isalpha() or joins(point):
            continue
        exact = letter.casefold()
        forms = exact, fold(exact)
        sizes = [len(form.encode()) for form in forms]
        if min(sizes) and max(sizes) <= MOST_BYTES and _stands_alone("".join(forms)):
            table[point] = [*(int.from_bytes(form.encode(), "little") for form in forms), _case(letter)]
    return table.reshape(-1)


def _stands_alone(forms: str) -> bool:
    return forms.isalpha() and not any(joins(ord(letter)) for letter in forms)


def _case(letter: str) -> int:
    """None (0) for the few letters that are two, a capital and a small one."""
    if letter.islower():
        return LOWER
    return UPPER if letter.isupper() else 0 if letter.istitle() else CASELESS
