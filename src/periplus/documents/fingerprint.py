"""Fingerprints: the exact hash of a body, and a 64-bit simhash of a text that near-duplicates nearly share.

The simhash (Charikar, 2002; its use for web pages: Manku, Jain, Das Sarma, 2007) is taken over shingles of three words.
Two texts that share most shingles differ in few of its bits; ``distance`` counts them. All in numpy: the hash of a
word is a difference of two values of one running polynomial over the text's bytes.

Numbers are signed 64-bit, as everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHINGLE: Final = 3  # words
_CHARACTER_SHINGLE: Final = 5  # characters, for scripts without spaces
_LONGEST: Final = 64 * 1024  # bytes of text that count
_LONG_WORDS: Final = 24  # mean bytes a word from which the text is taken to have no spaces
_POLYNOMIAL: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_CHAIN: Final = np.uint64(0xD6E8FEB86659FD93)  # odd, and another, so that words do not shift into each other
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)  # the finaliser of splitmix64
_MIX_2: Final = np.uint64(0x94D049BB133111EB)

# 1 for bytes that are part of a word: ASCII letters and digits, and everything beyond ASCII.
_IS_WORD: Final = bytes(chr(byte).isalnum() if byte < 128 else True for byte in range(256))

# For each byte its eight bits, each in a byte of its own: adding these counts eight bits at once.
_SPREAD: Final = np.unpackbits(np.arange(256, dtype=np.uint8).reshape(-1, 1), axis=1, bitorder="little").view(
    np.uint64
)[:, 0]
_LANE: Final = 255  # additions before a byte may overflow


def content_hash(body: bytes) -> int:
    """The exact hash of a body's bytes."""
    return signed(xxhash.xxh3_64_intdigest(body))


def simhash(text: str) -> int:
    """The near-duplicate fingerprint of a text; 0 for a text without words."""
    folded = text[:_LONGEST].lower().encode("utf-8", "ignore")[:_LONGEST]
    hashes = _word_hashes(folded)
    if len(hashes) and len(folded) / len(hashes) > _LONG_WORDS:
        letters = np.frombuffer(text[:_LONGEST].encode("utf-32-le", "ignore"), dtype=np.uint32)
        return _folded_bits(_shingled(_mixed(letters.astype(np.uint64)), _CHARACTER_SHINGLE))
    return _folded_bits(_shingled(hashes, _SHINGLE))


def distance(left: int, right: int) -> int:
    """How many bits of two fingerprints differ: 0 to 64."""
    return ((left ^ right) & (2**64 - 1)).bit_count()


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _word_hashes(text: bytes) -> NDArray[np.uint64]:
    """A hash for each word of the text, in order; equal words have equal hashes wherever they stand."""
    inside = np.frombuffer(b"\0%b\0" % text.translate(_IS_WORD), dtype=np.uint8)
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    powers, inverses = _powers(len(text))
    running = np.zeros(len(text) + 1, dtype=np.uint64)
    np.cumsum(np.frombuffer(text, dtype=np.uint8) * powers[: len(text)], out=running[1:])
    return (running[ends] - running[starts]) * inverses[starts]


@lru_cache(maxsize=8)
def _power_tables(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    inverse = pow(_POLYNOMIAL, -1, 2**64)
    steps = np.full(size, np.uint64(_POLYNOMIAL))
    back = np.full(size, np.uint64(inverse))
    steps[0] = back[0] = 1
    return np.cumprod(steps), np.cumprod(back)


def _powers(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Powers of the polynomial's base and of its inverse, for at least ``size`` bytes."""
    return _power_tables(16 * 1024 if size <= 16 * 1024 else _LONGEST)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


def _shingled(hashes: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Hashes of all runs of ``width`` neighbours; a text shorter than one run is one shingle."""
    count = len(hashes) - width + 1
    if count < 1:
        width, count = len(hashes), min(1, len(hashes))
    combined = np.zeros(count, dtype=np.uint64)
    for place in range(width):
        combined = combined * _CHAIN + hashes[place : place + count]
    return _mixed(combined)


def _folded_bits(shingles: NDArray[np.uint64]) -> int:
    if not len(shingles):
        return 0
    spread = _SPREAD[shingles.view(np.uint8).reshape(-1, 8)]
    partial = np.add.reduceat(spread, np.arange(0, len(spread), _LANE), axis=0)  # no lane can overflow
    counts = partial.view(np.uint8).reshape(-1, 64).sum(axis=0, dtype=np.int64)
    majority = np.packbits(counts * 2 > len(shingles), bitorder="little")
    return int(majority.view(np.int64)[0])
