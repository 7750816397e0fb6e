"""Classes of characters as one table by code point, for the kernel that cuts texts into words.

Tests compare it with the patterns of ``words``, so that both follow one definition.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.letter_classes import (
    BREAK,
    DIGIT,
    IN_RUN,
    PLAIN,
    SPACED,
    UNSETTLED,
    UNSPACED,
    WITH_LETTER,
    WORD,
)
from periplus.text.characters import UNSPACED_RANGES, mark_points, unsettled_points
from periplus.text.words import THAI_MARKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = 0x110000
FIRST_PLANE = slice(0, 0x10000)
RARE_HAN = slice(0x20000, 0x40000)
JOINING_SIGNS = "#@.&'+,([*"  # with which a word may go on


@cache
def class_table() -> NDArray[np.uint8]:
    """One byte for every code point."""
    table = np.zeros(POINTS, np.uint8)
    every = np.arange(POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for bits, pattern in ((WORD | PLAIN, r"\w+"), (DIGIT, r"\d+")):
        for match in re.finditer(pattern, every):
            table[match.start() : match.end()] |= bits
    table[mark_points()] |= PLAIN | IN_RUN | WITH_LETTER
    spans = [slice(low, high + 1) for low, high in UNSPACED_RANGES]
    spaced = (table & PLAIN > 0)[FIRST_PLANE]
    for span in spans:
        spaced[span] = False
        table[span] &= ~np.uint8(WITH_LETTER)
    for span in (*spans, RARE_HAN):
        table[span] |= UNSPACED | IN_RUN
    table[FIRST_PLANE][spaced] |= SPACED
    table[[match.start() for match in re.finditer(THAI_MARKS, every[FIRST_PLANE])]] |= WITH_LETTER
    breaks = [point for point in range(0x80) if not table[point] & PLAIN and chr(point) not in JOINING_SIGNS]
    table[breaks] |= BREAK
    table[unsettled_points()] |= UNSETTLED
    table[FIRST_PLANE.stop :] |= UNSETTLED
    return table
