"""Words of a query that were not asked for before: found, opened and weighed in one call.

Terms that were asked for are kept in a table by their hash: of each its hash, address and size of its text, documents
that have it and address of its lists. A place without a text is free.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.core import I64, bare_helper, helper, kernel, signature
from periplus.index.kernels.finding import find_terms, take_list
from periplus.index.kernels.lists_known import LIST_ROW
from periplus.index.kernels.opening import open_term, size_of
from periplus.index.kernels.tables import ROW, at_f64, at_i64, at_u8
from periplus.index.kernels.weighing import fixed_weight
from periplus.index.query import STRONG_SHARE

ENTRY = 5  # numbers of a term in the table
TEXT, SIZE, DOCUMENTS, LISTS = 1, 2, 3, 4  # of them, behind the hash
UNKNOWN, SOUGHT = -1, -2  # documents of a term that has its place already
LISTED, FORMED = 3, 4  # numbers of a form as the first pass and as the re-ranking take it
FACTS = 2  # numbers of a word: forms that occur, weight


@bare_helper
def idf(documents: Any, frequency: Any) -> Any:
    """``index.weights.idf``, to the last bit."""
    frequency = min(frequency, documents)
    return math.log(1.0 + (float(documents - frequency) + 0.5) / (float(frequency) + 0.5))


@bare_helper
def _place(known: Any, key: Any, text: Any, begin: Any, end: Any) -> Any:
    """Where a term stands in the table, or may stand."""
    slots = len(known) // ENTRY
    slot = key & (slots - 1)
    while known[ENTRY * slot + TEXT] != 0:
        at = ENTRY * slot
        if known[at] == key and known[at + SIZE] == end - begin:
            other = at_u8(known[at + TEXT], end - begin)
            same = True
            for i in range(end - begin):
                same &= other[i] == text[begin + i]
            if same:
                break
        slot = (slot + 1) & (slots - 1)
    return ENTRY * slot


@bare_helper
def _enter(known: Any, keys: Any, ends: Any, text: Any, lists: Any, places: Any, new: Any) -> Any:
    """The place of each term; those to look for, and how many; the numbers that texts of unseen ones take."""
    used, count, begin = np.int64(0), np.int64(0), np.int64(0)
    for form in range(len(keys)):
        size = ends[form] - begin
        at = _place(known, keys[form], text, begin, ends[form])
        places[form] = at
        if known[at + TEXT] == 0:
            known[at], known[at + TEXT], known[at + SIZE] = keys[form], lists + 8 * used, size
            known[at + DOCUMENTS], known[at + LISTS] = UNKNOWN, 0
            own = at_u8(lists + 8 * used, size)
            for i in range(size):
                own[i] = text[begin + i]
            used += (size + 7) // 8
        if known[at + DOCUMENTS] == UNKNOWN:
            known[at + DOCUMENTS] = SOUGHT
            new[count] = at
            count += 1
        begin = ends[form]
    return used, count


@helper
def _find(table: Any, segments: Any, known: Any, new: Any, lists: Any, room: Any) -> Any:
    """Find terms and open their lists; how many numbers these take, or need, as a negative number."""
    count = len(new)
    size = np.int64(0)
    for term in range(count):
        size += known[new[term] + SIZE]
    text, ends = np.empty(size, np.uint8), np.empty(count, np.int64)
    size = np.int64(0)
    for term in range(count):
        own = at_u8(known[new[term] + TEXT], known[new[term] + SIZE])
        for i in range(len(own)):
            text[size + i] = own[i]
        size += len(own)
        ends[term] = size
    found = np.empty(count * segments, np.int64)
    find_terms(table, text, ends, segments, segments, found)
    each = segments * LIST_ROW
    rows = np.empty(count * each, np.int64)
    need = np.int64(0)
    for term in range(count):
        live, rare = np.int64(0), np.int64(0)
        for segment in range(segments):
            row = term * each + segment * LIST_ROW
            here, opened = take_list(table, segment, found[term * segments + segment], rows, row)
            live += here
            rare += opened
        known[new[term] + DOCUMENTS] = live
        need += size_of(segments, rare) if live > 0 else 0
    if need > room:
        for term in range(count):
            known[new[term] + DOCUMENTS] = UNKNOWN
        return -need
    target = at_i64(lists, need)
    used = np.int64(0)
    for term in range(count):
        if known[new[term] + DOCUMENTS] > 0:
            known[new[term] + LISTS] = lists + 8 * used
            used = open_term(table, segments, rows[term * each : (term + 1) * each], target, used)
    return used


@bare_helper
def _pack(documents: Any, known: Any, places: Any, shares: Any, words: Any, packed: Any, reals: Any) -> Any:
    """The forms of each word that occur."""
    facts = np.int64(1 + len(places))
    listed = facts + FACTS * len(words)
    formed = listed + LISTED * len(places)
    begin = np.int64(0)
    for word in range(len(words)):
        strong = math.inf
        for form in range(begin, words[word]):
            if shares[form] >= STRONG_SHARE:
                strong = min(strong, idf(documents, known[places[form] + DOCUMENTS]))
        occurring, widest = np.int64(0), np.int64(0)
        for form in range(begin, words[word]):
            live, address = known[places[form] + DOCUMENTS], known[places[form] + LISTS]
            if live > 0:
                packed[listed] = fixed_weight(shares[form] * min(strong, idf(documents, live)))
                packed[listed + 1], packed[listed + 2] = address, live
                packed[formed], packed[formed + 1] = address, np.int64(shares[form] >= STRONG_SHARE)
                reals[formed + 2], reals[formed + 3] = shares[form], float(live)
                listed += LISTED
                formed += FORMED
                occurring += 1
                if shares[form] >= STRONG_SHARE:
                    widest = max(widest, live)
        at = facts + FACTS * word
        packed[at] = occurring
        reals[at + 1] = idf(max(documents, np.int64(1)), widest)
        begin = words[word]


@kernel(signature(*[I64] * 12))
def learn(
    table: Any,  # an address
    segments: Any,
    documents: Any,  # that live, in all segments
    forms: Any,
    words: Any,
    memory: Any,  # an address
    behind: Any,  # bytes of it that are given, in whole numbers
    entries: Any,  # the address of the table of terms
    slots: Any,  # places in it, a power of two; more than are taken
    lists: Any,  # the address that texts and lists of new terms begin at
    room: Any,  # numbers that they may take
) -> Any:
    """What there is to know of some words.

    Given are: for each form the hash of its term, where that ends in their text, and in another row where the forms of
    each word end; what share of its weight each form has; and the text. Behind all that, ``memory`` gets how many terms
    are new to the table; the documents of each form; of each word how many forms occur, the idf of its most frequent
    strong form; and all forms that occur as the first pass, then as the re-ranking takes them. The result is how many
    numbers new terms take, or, when there is no room for them, how many they need, as a negative number.
    """
    keys, ends, word_ends = at_i64(memory, forms), at_i64(memory + 8 * forms, forms), at_i64(memory + 16 * forms, words)
    shares = at_f64(memory + 8 * (2 * forms + words), forms)
    text = at_u8(memory + 8 * (3 * forms + words), ends[forms - 1] if forms > 0 else 0)
    known = at_i64(entries, ENTRY * slots)
    most = len(text) // 8 + forms
    if most > room:
        return -most
    places, new = np.empty(forms, np.int64), np.empty(forms, np.int64)
    used, count = _enter(known, keys, ends, text, lists, places, new)
    if count > 0:
        more = _find(at_i64(table, segments * ROW), segments, known, new[:count], lists + 8 * used, room - used)
        if more < 0:
            return more - most
        used += more
    size = 1 + forms + FACTS * words + (LISTED + FORMED) * forms
    packed, reals = at_i64(memory + behind, size), at_f64(memory + behind, size)
    packed[0] = count
    for form in range(forms):
        packed[1 + form] = known[places[form] + DOCUMENTS]
    _pack(documents, known, places, shares, word_ends, packed, reals)
    return used
