"""Fingerprints: the exact hash of a body, and a 64-bit simhash of a text that near-duplicates nearly share.

The simhash (Charikar, 2002; its use for web pages: Manku, Jain, Das Sarma, 2007) is taken over shingles of three words.
Two texts that share most shingles differ in few of its bits; ``distance`` counts them. All in numpy: the hash of a
word is its part of one polynomial over the text's bytes, moved to where all words begin.

Numbers are signed 64-bit, as everywhere.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHINGLE: Final = 3  # words
_CHARACTER_SHINGLE: Final = 5  # characters, for scripts without spaces
LONGEST: Final = 64 * 1024  # characters, and then bytes, of text that count
_LONG_WORDS: Final = 24  # mean bytes a word from which the text is taken to have no spaces
_POLYNOMIAL: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_CHAIN: Final = np.uint64(0xD6E8FEB86659FD93)  # odd, and another, so that words do not shift into each other
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)  # the finaliser of splitmix64
_MIX_2: Final = np.uint64(0x94D049BB133111EB)

# 0 for bytes that are not part of a word; ASCII letters and digits, and everything beyond ASCII, are.
_ONLY_WORDS: Final = bytes(byte if byte >= 128 or chr(byte).isalnum() else 0 for byte in range(256))

# Bit k of each of the eight bytes of a number, moved to the lowest: adding these counts eight bits at once.
_LOWEST: Final = np.uint64(0x0101010101010101)
_BITS: Final = np.arange(8, dtype=np.uint64).reshape(8, 1)
_LANE: Final = 255  # additions before a byte may overflow


class _Scratch(threading.local):
    """Room for the terms of the polynomial and their running sum: fresh memory for each text would cost more."""

    def __init__(self) -> None:
        self.terms = np.zeros(LONGEST, dtype=np.uint64)
        self.running = np.zeros(LONGEST + 1, dtype=np.uint64)


_scratch: Final = _Scratch()


def content_hash(body: bytes) -> int:
    """The exact hash of a body's bytes."""
    return signed(xxhash.xxh3_64_intdigest(body))


def simhash(text: str) -> int:
    """The near-duplicate fingerprint of a text; 0 for a text without words."""
    return simhash_of(text, text[:LONGEST].lower().encode("utf-8", "ignore")[:LONGEST])


def simhash_of(text: str, folded: bytes) -> int:
    """``simhash`` of a text whose beginning is known in lower case: 64 KiB of its first 64 Ki characters."""
    hashes = _word_hashes(folded)
    if len(hashes) and len(folded) / len(hashes) > _LONG_WORDS:
        letters = np.frombuffer(text[:LONGEST].encode("utf-32-le", "ignore"), dtype=np.uint32)
        return _folded_bits(_shingled(_mixed(letters.astype(np.uint64)), _CHARACTER_SHINGLE))
    return _folded_bits(_shingled(hashes, _SHINGLE))


def distance(left: int, right: int) -> int:
    """How many bits of two fingerprints differ: 0 to 64."""
    return ((left ^ right) & (2**64 - 1)).bit_count()


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _word_hashes(text: bytes) -> NDArray[np.uint64]:
    """A hash for each word of the text, in order; equal words have equal hashes wherever they stand."""
    letters = np.frombuffer(b"\0%b" % text.translate(_ONLY_WORDS), dtype=np.uint8)
    inside = letters != 0
    starts = np.flatnonzero(inside[1:] > inside[:-1])
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    powers, inverses = _powers(len(text))
    terms, running = _scratch.terms[: len(text)], _scratch.running[: len(text) + 1]
    terms[:] = letters[1:]
    np.multiply(terms, powers[: len(text)], out=terms)
    np.cumsum(terms, out=running[1:])
    edges = running[np.append(starts, len(text))]  # what is not a word adds nothing
    sums: NDArray[np.uint64] = edges[1:] - edges[:-1]
    return sums * inverses[starts]


@lru_cache(maxsize=8)
def _power_tables(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    inverse = pow(_POLYNOMIAL, -1, 2**64)
    steps = np.full(size, np.uint64(_POLYNOMIAL))
    back = np.full(size, np.uint64(inverse))
    steps[0] = back[0] = 1
    return np.cumprod(steps), np.cumprod(back)


def _powers(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Powers of the polynomial's base and of its inverse, for at least ``size`` bytes."""
    return _power_tables(16 * 1024 if size <= 16 * 1024 else LONGEST)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


def _shingled(hashes: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Hashes of all runs of ``width`` neighbours; a text shorter than one run is one shingle."""
    count = len(hashes) - width + 1
    if count < 1:
        width, count = len(hashes), min(1, len(hashes))
    combined = hashes[:count]
    for place in range(1, width):
        combined = combined * _CHAIN + hashes[place : place + count]
    return _mixed(combined)


def _folded_bits(shingles: NDArray[np.uint64]) -> int:
    if not len(shingles):
        return 0
    lanes = (shingles >> _BITS) & _LOWEST
    partial = np.add.reduceat(lanes, np.arange(0, len(shingles), _LANE), axis=1)  # no lane can overflow
    counts = partial.view(np.uint8).reshape(8, -1, 8).sum(axis=1, dtype=np.int64)  # by bit, then by byte
    majority = np.packbits(len(shingles) < counts.T * 2, bitorder="little")
    return int(majority.view(np.int64)[0])
