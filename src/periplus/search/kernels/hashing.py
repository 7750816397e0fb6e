"""The hash that the interpreter has for strings of ASCII letters, so that kernels and Python know a term by one number.

SipHash with one round a word and three at the end, under the keys that the process was given at its start
(``search/stemmers.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64

LAST_ROUNDS = 3
WIDE = 0x2545_F491_4F6C_DD1D  # ``search.keys``: of terms of which a letter takes two bytes


@bare_helper
def _turned(value: Any, bits: Any) -> Any:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@bare_helper
def _half(a: Any, b: Any, c: Any, d: Any, one: Any, other: Any) -> Any:
    a += b
    c += d
    return _turned(a, 32), _turned(b, one) ^ a, c, _turned(d, other) ^ c


@bare_helper
def _round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a, b, c, d = _half(a, b, c, d, 13, 16)
    c, b, a, d = _half(c, b, a, d, 17, 21)
    return a, b, c, d


@bare_helper
def term_hash(letters: Any, start: Any, size: Any, keys: Any) -> Any:
    """That of some bytes, behind which eight more may be read."""
    one, other = np.uint64(keys[0]), np.uint64(keys[1])
    a, b = one ^ np.uint64(0x736F6D6570736575), other ^ np.uint64(0x646F72616E646F6D)
    c, d = one ^ np.uint64(0x6C7967656E657261), other ^ np.uint64(0x7465646279746573)
    at, end = start, start + size
    while at + 8 <= end:
        word = load64(letters, at)
        d ^= word
        a, b, c, d = _round(a, b, c, d)
        a ^= word
        at += 8
    rest = (np.uint64(1) << np.uint64(8 * (end - at))) - np.uint64(1)
    word = (load64(letters, at) & rest) | (np.uint64(size) << np.uint64(56))
    d ^= word
    a, b, c, d = _round(a, b, c, d)
    a ^= word
    c ^= np.uint64(0xFF)
    for _ in range(LAST_ROUNDS):
        a, b, c, d = _round(a, b, c, d)
    value = np.int64(a ^ b ^ c ^ d)
    return np.int64(-2) if value == -1 else value  # as the interpreter does, for which -1 is an error
