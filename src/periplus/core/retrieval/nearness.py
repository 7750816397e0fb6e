"""Words near each other in one document: how often, and where each such place begins.

``found`` holds the positions of every word of the query, ascending; those of word n are [heads[2n], heads[2n + 1]). The
places where a match begins replace the front of ``found``. No match reaches over the end of a field.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.format.positions import number, seek
from periplus.core.layout.documents import FIELD_COUNT

PLACES = 1 << 21  # of all words near each other in one document, at most


@bare_helper
def places_kept(words: Any, longest: Any, slop: Any, ordered: Any) -> Any:
    """Room for the places of a phrase's words in one document: of one word when they stand side by side, else of all.

    A page may hold a word millions of times, so words near each other have a limit: of each, the first places count.
    """
    if slop == 0 and ordered != 0:
        return longest + 1
    return words * max(1, min(longest + 1, PLACES // words))


@bare_helper
def decode_first(block_base: Any, block_start: Any, data: Any, posting: Any, found: Any) -> Any:
    """As many positions of a posting as there is room for, from the first one on."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    count = min(count, len(found))
    position = np.int64(0)
    for place in range(count):
        position += number(data, origin, width, first + place)
        found[place] = position
    return count


@bare_helper
def _field_end(fields: Any, position: Any) -> Any:
    for field in range(FIELD_COUNT):
        if position < fields[field + 1]:
            return np.int64(fields[field + 1])
    return np.int64(fields[FIELD_COUNT])


@bare_helper
def count_ordered(found: Any, heads: Any, words: Any, slop: Any, fields: Any) -> Any:
    """Places of the first word that all others follow in order, with at most ``slop`` other words between them."""
    size = 0
    begin, end = heads[0], heads[1]
    for at in range(begin, end):
        first = found[at]
        last = first
        for word in range(1, words):
            while heads[2 * word] < heads[2 * word + 1] and found[heads[2 * word]] <= last:
                heads[2 * word] += 1
            if heads[2 * word] == heads[2 * word + 1]:
                return size
            last = found[heads[2 * word]]
        if last - first <= words - 1 + slop and last < _field_end(fields, first):
            found[size] = first
            size += 1
    return size


@bare_helper
def count_unordered(found: Any, heads: Any, terms: Any, slop: Any, fields: Any, starts: Any) -> Any:
    """Places of any word from which on a stretch of as many places as words, plus ``slop``, holds all of them.

    ``starts`` has room for as many places as ``found``.
    """
    words = len(terms)
    size = 0
    while True:
        first = np.int64(-1)
        for word in range(words):
            if heads[2 * word] == heads[2 * word + 1]:
                return _moved(starts, size, found)
            if first < 0 or found[heads[2 * word]] < first:
                first = found[heads[2 * word]]
        end = min(first + words + slop, _field_end(fields, first))
        is_match = True
        for word in range(words):
            nth = 0  # the same word asked for again has to stand again
            for other in range(word):
                if terms[other] == terms[word]:
                    nth += 1
            at = heads[2 * word] + nth
            if at >= heads[2 * word + 1] or found[at] >= end:
                is_match = False
        if is_match:
            starts[size] = first
            size += 1
        for word in range(words):
            if found[heads[2 * word]] == first:
                heads[2 * word] += 1


@bare_helper
def _moved(starts: Any, size: Any, found: Any) -> Any:
    for place in range(size):
        found[place] = starts[place]
    return size
