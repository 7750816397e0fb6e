"""Asking plain queries, in one call: from the bytes of their terms to the best documents.

What surrounds a short search takes as long as the search, most of it waiting for memory that others have pushed out of
the caches. So a query comes as one object of bytes: how many terms it has, and ``EVERY`` if all are required, in the
first one; then its terms, each with a zero behind it. They are looked up in the ``term_table`` of the snapshot, all at
once. Without bytes, the lists are in ``memory`` already (``plain`` says how).

``context`` is what there is to know besides; its last numbers are those of lists that are in memory already. The number
before ``memory`` says how many it has. What comes back is the result of ``plain``, or ``UNKNOWN`` when a term is not in
the table or more is asked for than is done here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import BYTES, F64, I64, bare_helper, bare_kernel, call_kernel, signature
from periplus.index.kernels.all_words import NOT_HERE, all_top
from periplus.index.kernels.bits import byte_at
from periplus.index.kernels.plain_steps import ALL_ADMITTED, ALL_REQUIRED, GIVEN
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


@bare_kernel(signature(I64, I64, I64, F64, I64, BYTES))
def ask(context_at: Any, memory_at: Any, prior: Any, k: Any, text_at: Any) -> Any:
    if context_at == 0 or k <= 0 or k > MOST:
        return np.int64(UNKNOWN)
    context = at_i64(context_at, CONTEXT)
    lists, groups, flags = context[LISTS], context[GROUPS], context[FLAGS]
    first = np.int64(byte_at(text_at))
    if first > 0:
        lists = groups = first & (EVERY - 1)
        flags = np.int64(ALL_ADMITTED | ALL_REQUIRED if first & EVERY else ALL_ADMITTED)
        if not take_terms(context[ENTRIES], text_at, lists, at_i64(memory_at, GIVEN * lists)):
            return np.int64(UNKNOWN)
    words, result = at_i64(memory_at - 8, 1)[0], np.int64(NOT_HERE)
    table_at, segments, limit = context[TABLE], context[SEGMENTS], context[LIMIT]
    prior_weight = fixed_weight(prior) if prior > 0 else np.int64(0)
    if flags & ALL_REQUIRED and lists == groups:
        result = all_top(table_at, memory_at, words, segments, lists, prior_weight, k, limit)
    if result == NOT_HERE:
        given = (table_at, memory_at, words, segments, lists, groups, flags, prior_weight, k, limit)
        result = call_kernel(context[FIRST_PASS], given)
    return result
