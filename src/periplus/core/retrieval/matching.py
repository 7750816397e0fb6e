"""Which documents of a window match: one bit each, through all clauses; and how many there are.

A list that has bits (``layout.lists``) lends those of the window; of all others they are set posting by posting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import inlined
from periplus.core.layout.documents import WINDOW_BITS
from periplus.core.layout.segments import ADMITTED, ROW
from periplus.core.machine.arrays import at_u8
from periplus.core.machine.bits import LANES, WORDS, larger_or_equal_bytes, lowest_of, ones_of, word_at
from periplus.core.retrieval.blocks import FORBIDDEN, OPTIONAL, clause_end, open_list

_ALL = ~np.uint64(0)
_ONE = np.uint64(1)


@inlined
def match_window(table: Any, lists: Any, desk: Any, segment: Any, window: Any, wide: Any) -> Any:
    """The documents of a window that match, in ``desk.match``; how many."""
    match = desk.match
    for word in range(WORDS):
        match[word] = _ALL
    first = np.int64(0)
    while first < len(lists.clauses):
        clause, last = lists.clauses[first], clause_end(lists.clauses, first)
        if clause != OPTIONAL or lists.required == 0:
            _unite(lists, desk, lists.starts[first], lists.starts[last], segment, window, wide)
            left = np.uint64(0)
            for word in range(WORDS):
                match[word] &= ~desk.union[word] if clause == FORBIDDEN else desk.union[word]
                left |= match[word]
            if left == 0:
                return np.int64(0)
        first = last
    if table[segment * ROW + ADMITTED + 1] > 0:
        admitted = table[segment * ROW + ADMITTED] + (window << WINDOW_BITS)
        for word in range(WORDS):
            match[word] &= larger_or_equal_bytes(admitted + LANES * word, np.uint8(1))
    count = np.int64(0)
    for word in range(WORDS):
        count += ones_of(match[word])
    return count


@inlined
def _unite(lists: Any, desk: Any, first: Any, last: Any, segment: Any, window: Any, wide: Any) -> Any:
    """The documents of a window that any of the lists [first, last) has."""
    union = desk.union
    for word in range(WORDS):
        union[word] = 0
    for item in range(first, last):
        if lists.bits[item] != 0:
            own = lists.bits[item] + 8 * WORDS * wide
            for word in range(WORDS):
                union[word] |= word_at(own + 8 * word)
            continue
        places, low, high = open_list(lists, segment, item, window)
        own_places = at_u8(places, high)
        for posting in range(low, high):
            place = own_places[posting]
            union[place >> 6] |= _ONE << np.uint64(place & 63)


@inlined
def take_matches(desk: Any) -> Any:
    """The documents that match, as candidates without a score yet; how many."""
    count = 0
    for word in range(WORDS):
        left = desk.match[word]
        while left != 0:
            desk.found[count] = word << 6 | lowest_of(left)
            desk.found_scores[count] = 0
            left &= left - _ONE
            count += 1
    return count
