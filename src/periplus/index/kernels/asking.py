"""Asking plain queries, in one call: from the bytes of their terms to arrays of the best documents.

What surrounds a short search takes as long as the search, most of it waiting for memory that others have pushed out of
the caches. So a query comes as one object of bytes: how many terms it has, and ``EVERY`` if all are required, in the
first one; then its terms, each with a zero behind it. They are looked up in the ``term_table`` of the snapshot, all at
once. Without bytes, the lists are in ``memory`` already (``plain`` says how).

``context`` is what there is to know besides; its last numbers are those of lists that are in memory already. The number
before ``memory`` says how many it has. Where there is no answer, the first of all numbers before it says why: the
result of ``plain``, or ``UNKNOWN`` when a term is not in the table or more is asked for than is done here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from periplus.index.kernels.all_words import NOT_HERE, all_top
from periplus.index.kernels.answers import (
    IS_EXACT,
    MAKERS,
    NUMBERS,
    SCORES,
    SIZE,
    TOTAL,
    Answer,
    Makers,
    Text,
    address_of,
    answer_at,
)
from periplus.index.kernels.bits import byte_at
from periplus.index.kernels.calls import call_kernel
from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.plain import COUNT_SHIFT, EXACT
from periplus.index.kernels.plain_steps import ALL_ADMITTED, ALL_REQUIRED, GIVEN, QUERY
from periplus.index.kernels.tables import at_i64, prefetch
from periplus.index.kernels.term_table import (
    ADDRESS,
    ENTRY,
    FREQUENCY,
    LINE,
    LONGEST,
    POWER,
    SEED,
    WEIGHT,
    entry_of,
    more_of,
    place_of,
    whole_of,
)
from periplus.index.kernels.weighing import fixed_weight

TABLE, SEGMENTS, LIMIT, ENTRIES, LISTS, GROUPS, FLAGS, FIRST_PASS = range(8)
CONTEXT = 8
FRONT = 16  # numbers before memory: an answer, a context, how many there are
EVERY = 64
UNKNOWN = -3
MOST = 20_000  # documents asked for, at most


@bare_helper
def take_terms(entries: Any, text_at: Any, lists: Any, query: Any) -> Any:
    """Look up the terms of a text, all at once; whether all are known."""
    at = text_at + 1
    for item in range(lists):
        value, begin = SEED, at
        while byte_at(at) != 0:
            value = more_of(value, byte_at(at))
            at += 1
        if at - begin > LONGEST:
            return False
        query[GIVEN * item] = whole_of(value)
        query[GIVEN * item + 1] = begin
        prefetch((entries & ~np.int64(POWER)) + LINE * place_of(query[GIVEN * item], entries & POWER))
        at += 1
    for item in range(lists):
        found = entry_of(entries, query[GIVEN * item], query[GIVEN * item + 1])
        if found < 0:
            return False
        entry = at_i64(found, ENTRY)
        query[GIVEN * item] = entry[WEIGHT]
        query[GIVEN * item + 1] = entry[ADDRESS]
        query[GIVEN * item + 2] = entry[FREQUENCY]
    return True


@bare_kernel(Answer()(types.int64, types.int64, Text(), types.float64, types.int64, Makers()))
def ask(context_at: Any, memory_at: Any, text: Any, prior: Any, k: Any, makers: Any) -> Any:
    answer = at_i64(memory_at - 8 * FRONT, FRONT)
    answer[SIZE] = UNKNOWN
    if context_at == 0 or k <= 0 or k > MOST:
        return answer_at(memory_at - 8 * FRONT)
    context = at_i64(context_at, CONTEXT)
    lists, groups, flags = context[LISTS], context[GROUPS], context[FLAGS]
    first = np.int64(byte_at(address_of(text)))
    if first > 0:
        lists = groups = first & (EVERY - 1)
        flags = np.int64(ALL_ADMITTED | ALL_REQUIRED if first & EVERY else ALL_ADMITTED)
        if not take_terms(context[ENTRIES], address_of(text), lists, at_i64(memory_at, GIVEN * lists)):
            return answer_at(memory_at - 8 * FRONT)
    words, result = at_i64(memory_at - 8, 1)[0], np.int64(NOT_HERE)
    table_at, segments, limit = context[TABLE], context[SEGMENTS], context[LIMIT]
    prior_weight = fixed_weight(prior) if prior > 0 else np.int64(0)
    if flags & ALL_REQUIRED and lists == groups:
        result = all_top(table_at, memory_at, words, segments, lists, prior_weight, k, limit)
    if result == NOT_HERE:
        given = (table_at, memory_at, words, segments, lists, groups, flags, prior_weight, k, limit)
        result = call_kernel(context[FIRST_PASS], given)
    answer[SIZE] = result & (EXACT - 1) if result >= 0 else result
    answer[TOTAL] = result >> COUNT_SHIFT
    answer[IS_EXACT] = result & EXACT
    answer[NUMBERS] = memory_at + 8 * QUERY
    answer[SCORES] = memory_at + 8 * (QUERY + k)
    answer[MAKERS] = address_of(makers)
    return answer_at(memory_at - 8 * FRONT)
