"""Classes of characters: one byte of bits for every code point (``text.classes`` makes the table, kernels read it)."""

from __future__ import annotations

WORD = 1  # \w
PLAIN = 2  # \w, or a mark
DIGIT = 4  # \d
UNSPACED = 8  # a letter of a script without spaces
SPACED = 16  # what makes words beside letters of scripts without spaces
IN_RUN = 32  # goes on with a run that an unspaced letter began
WITH_LETTER = 64  # belongs to the unspaced letter before it
BREAK = 128  # an ASCII character that is in no word and joins none
UNSETTLED = 128  # another one that NFKC may change, or what stands before it

# Letters that can be folded one at a time (``text.letters``): so many code points, and their kinds.
LETTERS = 0x2000
LOWER, UPPER, CASELESS = 1, 2, 3
