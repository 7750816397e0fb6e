"""From places where words of a query may stand to those where they do, by what their spellings were found to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.tables import at_i64
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels.layout import ENDS, FOUND, FREE, HEAD, PLACES, QUERY_SIZE, TEXTS, part
from periplus.search.kernels.queried import terms_room, word_of, words_of_terms
from periplus.search.kernels.texts import CERTAIN, MAX_SIZE, PLACE, SIZE_BITS, first_of

HIT = 4  # numbers of a hit: start, end, word, whether it is a stop word
WORD = 4  # of a word of a spelling before its terms: start, end, whether it is a stop word, how many terms it has


@bare_helper
def most_hits(places: Any, entries: Any, judged: Any) -> Any:
    """More than all texts together can have."""
    most = 0
    for place in range(2, len(places), PLACE):
        entry = places[place]
        if entry >= CERTAIN:
            most += 1
        else:
            most += entries[entry] if entry >= 0 else judged[judged[-1 - entry]]
    return most


@bare_helper
def _put(start: Any, end: Any, word: Any, stop: Any, hits: Any, size: Any) -> Any:
    """Add a hit to those of its text, which are by place and no two at one start; how many there are then."""
    slot = size
    while slot > 0 and hits[HIT * (slot - 1)] > start:
        slot -= 1
    if slot > 0 and hits[HIT * (slot - 1)] == start:
        return size
    for k in range(HIT * size - 1, HIT * slot - 1, -1):
        hits[k + HIT] = hits[k]
    hits[HIT * slot], hits[HIT * slot + 1], hits[HIT * slot + 2], hits[HIT * slot + 3] = start, end, word, stop
    return size + 1


@bare_helper
def _put_all(told: Any, entry: Any, at: Any, terms: Any, hits: Any, size: Any) -> Any:
    """Add the hits of one spelling at a place."""
    word = entry + 1
    for _ in range(told[entry]):
        wanted = np.int64(-1)
        behind = word + WORD + told[word + 3]
        for i in range(word + WORD, behind):
            if wanted < 0:
                wanted = word_of(terms, told[i])
        if wanted >= 0:
            size = _put(at + told[word], at + told[word + 1], wanted, told[word + 2], hits, size)
        word = behind
    return size


@bare_helper
def placed(places: Any, place: Any, document: Any, entries: Any, judged: Any, terms: Any, hits: Any) -> Any:
    """The hits of one text by place, no two of them at one start; how many there are, and the next place."""
    size = np.int64(0)
    while place < len(places) and places[place] == document:
        at, entry = places[place + 1], places[place + 2]
        if entry >= CERTAIN:
            size = _put(at, at + ((entry >> 1) & MAX_SIZE), (entry - CERTAIN) >> SIZE_BITS, entry & 1, hits, size)
        elif entry >= 0:
            size = _put_all(entries, entry, at, terms, hits, size)
        else:
            size = _put_all(judged, judged[-1 - entry], at, terms, hits, size)
        place += PLACE
    return size, place


@bare_kernel(signature(I64, *[I64] * 6))
def gather(memory_at: Any, words: Any, entries_at: Any, entries_size: Any, judged_at: Any, judged_size: Any) -> Any:
    """All hits of all texts, by place: start, end, word, whether it is a stop word, text; how many.

    They are written from where memory is free; a negative number is how many words of it are needed.
    """
    memory = at_i64(memory_at, words)
    query, ends = at_i64(memory_at + 8 * HEAD, memory[QUERY_SIZE]), part(memory, memory_at, ENDS, memory[TEXTS])
    places = part(memory, memory_at, PLACES, PLACE * memory[FOUND])
    entries, judged = at_i64(entries_at, entries_size), at_i64(judged_at, judged_size)
    most, room = most_hits(places, entries, judged), terms_room(query)
    free = memory[FREE]
    needed = free + (2 * HIT + 1) * most + room
    if needed > words:
        return -needed
    out = at_i64(memory_at + 8 * free, (HIT + 1) * most)
    hits = at_i64(memory_at + 8 * (free + (HIT + 1) * most), HIT * most)
    terms = at_i64(memory_at + 8 * (needed - room), room)
    words_of_terms(query, terms)
    place, count = np.int64(0), 0
    for document in range(len(ends)):
        begin = first_of(ends, document)
        size, place = placed(places, place, document, entries, judged, terms, hits)
        for i in range(0, HIT * size, HIT):
            row = (HIT + 1) * count
            out[row], out[row + 1] = hits[i] - begin, hits[i + 1] - begin
            out[row + 2], out[row + 3], out[row + 4] = hits[i + 2], hits[i + 3], document
            count += 1
    return np.int64(count)
