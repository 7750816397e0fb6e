"""The number by which kernels and Python know a term."""

from __future__ import annotations

LAST_NARROW = "\xff"  # letters beyond it the interpreter keeps, and hashes, by two bytes or more
WIDE = 0x2545_F491_4F6C_DD1D  # kernels know it, too


def term_key(term: str) -> int:
    """The interpreter's hash of the term, which is that of its bytes in memory: so one of wider letters is told apart
    from the ASCII of the same bytes, as \u6f6e from "no"."""
    own = hash(term)
    return own if term.isascii() or max(term) <= LAST_NARROW else own ^ WIDE
