"""The number by which kernels and Python know a term, and tables of such numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LAST_NARROW = "\xff"  # letters beyond it the interpreter keeps, and hashes, by two bytes or more
SLOTS_A_TERM = 3  # at least, in a table
WIDE = 0x2545_F491_4F6C_DD1D  # kernels know it, too


def term_key(term: str) -> int:
    """The interpreter's hash of the term, which is that of its bytes in memory: so one of wider letters is told apart
    from the ASCII of the same bytes, as \u6f6e from "no"."""
    own = hash(term)
    return own if term.isascii() or max(term) <= LAST_NARROW else own ^ WIDE


def table_of(rows: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Rows that begin with a key, by its last bits, in a power of two of slots; a key of 0 where there is none."""
    slots = 1 << (SLOTS_A_TERM * len(rows)).bit_length()
    table = np.zeros((slots, len(rows[0])), np.int64)
    for row in rows:
        slot = row[0] & (slots - 1)
        while table[slot, 0]:
            slot = (slot + 1) & (slots - 1)
        table[slot] = row
    return table.reshape(-1)
