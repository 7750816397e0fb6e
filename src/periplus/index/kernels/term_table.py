"""The terms that a snapshot was asked for, in a table of hashes that kernels read: a term to what is known of it.

An entry is one line of memory: the term's hash (0: free), its weight, the address of its lists, its live documents, and
its bytes with a zero behind them; longer terms are not kept here. Entries lie at a power of two of places, half of them
free at least; a hash that is taken goes to the next place. Where they are and how many is one number, their address
with the power in its lowest bits, so that whoever reads it needs no lock: what changes is written before it is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import BYTES, I64, bare_helper, bare_kernel, signature
from periplus.index.kernels.bits import byte_at, publish, published
from periplus.index.kernels.tables import at_i64, at_u8

HASH, WEIGHT, ADDRESS, FREQUENCY, TEXT = range(5)
ENTRY = 8  # numbers
LINE = 8 * ENTRY  # bytes
LONGEST = 8 * (ENTRY - TEXT) - 1  # bytes of a term
POWER = LINE - 1  # bits of the power of two
SEED = np.uint64(0xCBF29CE484222325)
_FACTOR = np.uint64(0x100000001B3)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@bare_helper
def more_of(value: Any, byte: Any) -> Any:
    """The hash of some bytes, of which this is the next one."""
    return (value ^ np.uint64(byte)) * _FACTOR


@bare_helper
def whole_of(value: Any) -> Any:
    """The same when there are no more; never 0."""
    value = (value ^ (value >> np.uint64(29))) * _SPREAD
    return np.int64(value | np.uint64(1))


@bare_helper
def place_of(value: Any, power: Any) -> Any:
    """Where to look for a hash first, among so many places."""
    return np.int64(np.uint64(value) >> np.uint64(64 - power))


@bare_helper
def same_text(text_at: Any, entry_at: Any) -> Any:
    """Whether an entry has the text, which a zero ends."""
    at, other = text_at, entry_at + 8 * TEXT
    while byte_at(at) == byte_at(other):
        if byte_at(at) == 0:
            return True
        at += 1
        other += 1
    return False


@bare_helper
def entry_of(entries: Any, value: Any, text_at: Any) -> Any:
    """The address of a term's entry, or minus that of the free one where it would be."""
    power, first = entries & POWER, entries & ~np.int64(POWER)
    place, last = place_of(value, power), (np.int64(1) << power) - 1
    while True:
        at = first + place * LINE
        here = published(at)
        if here == 0:
            return -at
        if here == value and same_text(text_at, at):
            return at
        place = (place + 1) & last


@bare_kernel(signature(*[I64] * 5, BYTES))
def keep_term(entries: Any, weight: Any, address: Any, frequency: Any, text_at: Any) -> Any:
    """Add a term that is not there yet, whose bytes end with a zero; whether it was added (0 or 1)."""
    value, length = SEED, np.int64(0)
    while byte_at(text_at + length) != 0:
        value = more_of(value, byte_at(text_at + length))
        length += 1
    if length > LONGEST:
        return np.int64(0)
    at = -entry_of(entries, whole_of(value), text_at)
    if at < 0:
        return np.int64(0)
    entry, own = at_i64(at, ENTRY), at_u8(at + 8 * TEXT, LONGEST + 1)
    entry[WEIGHT], entry[ADDRESS], entry[FREQUENCY] = weight, address, frequency
    for place in range(length):
        own[place] = byte_at(text_at + place)
    own[length] = 0
    publish(at, whole_of(value))
    return np.int64(1)


@bare_kernel(signature("void", I64, I64))
def move_terms(entries: Any, to: Any) -> Any:
    """Bring all terms to a table with more places, which nobody reads yet."""
    power, first = entries & POWER, entries & ~np.int64(POWER)
    more, target = to & POWER, to & ~np.int64(POWER)
    last = (np.int64(1) << more) - 1
    for place in range(np.int64(1) << power):
        entry = at_i64(first + place * LINE, ENTRY)
        if entry[HASH] == 0:
            continue
        free = place_of(entry[HASH], more)
        while at_i64(target + free * LINE, 1)[0] != 0:
            free = (free + 1) & last
        own = at_i64(target + free * LINE, ENTRY)
        for at in range(ENTRY):
            own[at] = entry[at]
