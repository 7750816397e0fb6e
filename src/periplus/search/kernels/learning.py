"""Words of a query that were not asked for before: found, opened and weighed in one call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper, helper, kernel
from periplus.index.kernels.finding import find_terms, take_list
from periplus.index.kernels.lists_known import LIST_ROW
from periplus.index.kernels.opening import open_term, size_of
from periplus.index.kernels.tables import ROW, at_f64, at_i64, at_u8
from periplus.index.kernels.types import I64, signature
from periplus.index.kernels.weighing import fixed_weight
from periplus.index.query import STRONG_SHARE

LISTED, FORMED = 3, 4  # numbers of a form as the first pass and as the re-ranking take it


@bare_helper
def _idf(documents: Any, frequency: Any) -> Any:
    """``index.weights.idf``, to the last bit."""
    frequency = min(frequency, documents)
    return math.log(1.0 + (float(documents - frequency) + 0.5) / (float(frequency) + 0.5))


@helper
def _find(table: Any, segments: Any, new: Any, text: Any, ends: Any, lists: Any, room: Any, packed: Any) -> Any:
    """Find new terms and open their lists; how many numbers these take."""
    found = np.empty(new * segments, np.int64)
    find_terms(table, text, ends, segments, segments, found)
    each = segments * LIST_ROW
    rows = np.empty(new * each, np.int64)
    need = np.int64(0)
    for term in range(new):
        live, rare = np.int64(0), np.int64(0)
        for segment in range(segments):
            row = term * each + segment * LIST_ROW
            here, opened = take_list(table, segment, found[term * segments + segment], rows, row)
            live += here
            rare += opened
        packed[2 * term], packed[2 * term + 1] = live, 0
        need += size_of(segments, rare) if live > 0 else 0
    if need > room:
        return -need
    target = at_i64(lists, need)
    used = np.int64(0)
    for term in range(new):
        if packed[2 * term] > 0:
            packed[2 * term + 1] = lists + 8 * used
            used = open_term(table, segments, rows[term * each : (term + 1) * each], target, used)
    return used


@helper
def _pack(documents: Any, every: Any, terms: Any, shares: Any, words: Any, packed: Any, reals: Any) -> Any:
    """The forms of each word that occur."""
    counts = 2 * every
    weights = counts + len(words)
    listed = weights + len(words)
    formed = listed + LISTED * len(terms)
    begin = np.int64(0)
    for word in range(len(words)):
        strong = math.inf
        for form in range(begin, words[word]):
            if shares[form] >= STRONG_SHARE:
                strong = min(strong, _idf(documents, packed[2 * terms[form]]))
        occurring, widest = np.int64(0), np.int64(0)
        for form in range(begin, words[word]):
            live, address = packed[2 * terms[form]], packed[2 * terms[form] + 1]
            if live > 0:
                packed[listed] = fixed_weight(shares[form] * min(strong, _idf(documents, live)))
                packed[listed + 1], packed[listed + 2] = address, live
                packed[formed], packed[formed + 1] = address, np.int64(shares[form] >= STRONG_SHARE)
                reals[formed + 2], reals[formed + 3] = shares[form], float(live)
                listed += LISTED
                formed += FORMED
                occurring += 1
                if shares[form] >= STRONG_SHARE:
                    widest = max(widest, live)
        packed[counts + word] = occurring
        reals[weights + word] = _idf(max(documents, np.int64(1)), widest)
        begin = words[word]


@kernel(signature(*[I64] * 12))
def learn(
    table: Any,  # an address
    segments: Any,
    documents: Any,  # that live, in all segments
    new: Any,  # terms that were not asked for before
    every: Any,  # terms, new ones first
    forms: Any,
    words: Any,
    memory: Any,  # an address
    behind: Any,  # bytes of it that are given, in whole numbers
    lists: Any,  # the address that the lists of new terms begin at
    room: Any,  # numbers that they may take
) -> Any:
    """What there is to know of some words.

    Given are: where each new term ends in their text; documents and address of each term that is not new; for each form
    its term, as its place among all; where the forms of each word end; what share of its weight each form has; and the
    text of the new terms. Behind all that, ``memory`` gets documents and address of every term; how many forms of each
    word occur; the idf of its most frequent strong form; and all forms that occur as the first pass, then as the
    re-ranking takes them. The result is how many numbers the lists take, or, when there is no room for them, how many
    they need, as a negative number.
    """
    rows = at_i64(table, segments * ROW)
    ends, given = at_i64(memory, new), at_i64(memory + 8 * new, 2 * (every - new))
    at = memory + 8 * (2 * every - new)
    terms, word_ends = at_i64(at, forms), at_i64(at + 8 * forms, words)
    shares = at_f64(at + 8 * (forms + words), forms)
    at += 8 * (2 * forms + words)
    text = at_u8(at, ends[new - 1] if new > 0 else 0)
    size = 2 * (every + words) + (LISTED + FORMED) * forms
    packed, reals = at_i64(memory + behind, size), at_f64(memory + behind, size)
    packed[2 * new : 2 * every] = given
    used = _find(rows, segments, new, text, ends, lists, room, packed)
    if used >= 0:
        _pack(documents, every, terms, shares, word_ends, packed, reals)
    return used
