"""How texts and what is found of them lie in memory: numbers that tell where each part is, then the parts.

First come what a kernel is given: a query, and ``ROW`` numbers of each text. Those of a stored document are its
number, its score (as bits) and ``NUMBERS`` more, each kind for all documents together; those of a text alone are its
span. Behind them are documents as they are packed, or texts in UTF-8.
"""

from __future__ import annotations

from typing import Any

from periplus.index.kernels.compiler import inlined
from periplus.index.kernels.tables import at_i64

# Places of parts, counted in numbers of 64 bits from the first; and how much there is of some.
TEXTS, QUERY_SIZE, RAW, RAW_SIZE = 0, 1, 2, 3
FIELDS, SPANS, STARTS, ENDS, POINTS = 4, 5, 6, 7, 8
PLACES, FOUND, UNKNOWN_AT, TOLD, NAMES, NAMES_SIZE, FREE = 9, 10, 11, 12, 13, 14, 15
PAGES, OUT, OUT_SIZE, SIGNS = 16, 17, 18, 19
HEAD = 24

ROW = 5  # numbers of a text that are given
NUMBERS = 3  # of a document: how many more of its site there are, how many duplicates, whether it is pinned
FRONT = 8  # bytes before the first sign
SPAN = 4  # of a text: where it begins and ends, the name of its language (two of them)


@inlined
def signs_of(memory: Any, memory_at: Any) -> Any:
    """The address of the texts as bytes (``lanes.py``)."""
    return memory_at + 8 * memory[SIGNS] + FRONT


@inlined
def part(memory: Any, memory_at: Any, which: Any, size: Any) -> Any:
    """So many numbers of a part."""
    return at_i64(memory_at + 8 * memory[which], size)
