"""The terms of a query as a table: from a term's hash to the word that it is a form of."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper


@bare_helper
def terms_room(query: Any) -> Any:
    """Numbers of a table of the query's terms, two a slot."""
    at, count = 2, 0
    for _ in range(query[1]):
        count += query[at]
        at += 1 + query[at]
    room = 16
    while room < 2 * count:
        room *= 2
    return 2 * room


@bare_helper
def words_of_terms(query: Any, table: Any) -> Any:
    """Put the terms into the table: hash and word, which is -1 in a slot that is free; the first word has a term."""
    last = len(table) // 2 - 1
    for slot in range(last + 1):
        table[2 * slot + 1] = -1
    at = 2
    for word in range(query[1]):
        for i in range(at + 1, at + 1 + query[at]):
            slot = query[i] & last
            while table[2 * slot + 1] >= 0 and table[2 * slot] != query[i]:
                slot = (slot + 1) & last
            if table[2 * slot + 1] < 0:
                table[2 * slot], table[2 * slot + 1] = query[i], word
        at += 1 + query[at]


@bare_helper
def word_of(table: Any, term: Any) -> Any:
    """The word that a term belongs to; -1 for one that is not of the query."""
    last = len(table) // 2 - 1
    slot = term & last
    while table[2 * slot + 1] >= 0:
        if table[2 * slot] == term:
            return table[2 * slot + 1]
        slot = (slot + 1) & last
    return np.int64(-1)
