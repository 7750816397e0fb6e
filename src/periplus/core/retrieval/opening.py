"""Opening lists that were found: rows, head and rare postings of each term side by side, as ``layout.lists`` says."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_I64, helper, kernel, signature
from periplus.core.format.heads import unpack_windows
from periplus.core.layout.documents import WINDOW_BITS
from periplus.core.layout.lists import (
    COUNT,
    DOCUMENTS,
    FIRST,
    IMPACTS,
    LAST_DOCUMENT,
    LENGTH,
    LIST_HEAD,
    LIST_ROW,
    MAXIMA,
    STARTS,
    TABLES,
)
from periplus.core.layout.segments import IMPACT, PLACE, RARE_WINDOW, ROW, WINDOWS
from periplus.core.machine.arrays import at_u8, at_u16, at_u32, u8
from periplus.core.machine.bits import FEWER_LANES

RARE_BYTES = 7  # of a rare posting: document, impact and window


@helper
def open_rare(table: Any, segments: Any, lists: Any, head: Any) -> Any:
    """Bring the rare postings of a term. In an index of more than 2^32 documents their numbers mean nothing."""
    count = head[COUNT]
    head[DOCUMENTS] = head.ctypes.data + 8 * LIST_HEAD
    head[IMPACTS] = head[DOCUMENTS] + 4 * (count + FEWER_LANES)
    documents, impacts = at_u32(head[DOCUMENTS], count + FEWER_LANES), at_u8(head[IMPACTS], count)
    address = head[IMPACTS] + count + (count & 1)
    before, at = np.int64(0), np.int64(0)
    for segment in range(segments):
        own = segment * LIST_ROW
        windows = table[segment * ROW + WINDOWS]
        if lists[own + LENGTH] > 0 and lists[own + STARTS] == 0:
            first, size = lists[own + FIRST], lists[own + LENGTH]
            target = at_u16(address, size)
            unpack_windows(u8(table, segment, RARE_WINDOW), windows, lists[own + MAXIMA], target)
            place, impact = u8(table, segment, PLACE), u8(table, segment, IMPACT)
            for posting in range(size):
                window = before + np.int64(target[posting])
                documents[at] = window << WINDOW_BITS | np.int64(place[first + posting])
                impacts[at] = impact[first + posting]
                at += 1
            lists[own + MAXIMA] = address
            address += 2 * size
        before += windows
    for padding in range(FEWER_LANES):
        documents[count + padding] = LAST_DOCUMENT


@helper
def size_of(segments: Any, rare: Any) -> Any:
    """How many numbers the lists of a term take that has so many rare postings."""
    size = segments * LIST_ROW + LIST_HEAD
    return size + (RARE_BYTES * rare + 4 * FEWER_LANES + 8) // 8 if rare > 0 else size


@helper
def open_term(table: Any, segments: Any, rows: Any, lists: Any, to: Any) -> Any:
    """Bring the rows of one term to ``lists``, from ``to`` on; where the next one may begin."""
    each = segments * LIST_ROW
    own, head = lists[to : to + each], lists[to + each : to + each + LIST_HEAD]
    for place in range(each):
        own[place] = rows[place]
    head[:] = 0
    for segment in range(segments):
        if own[segment * LIST_ROW + STARTS] != 0:
            head[TABLES] += 1
        else:
            head[COUNT] += own[segment * LIST_ROW + LENGTH]
    if head[COUNT] > 0:
        open_rare(table, segments, own, head)
    return to + size_of(segments, head[COUNT])


@kernel(signature("void", R_I64, I64, I64, R_I64, M_I64))
def open_lists(table: Any, segments: Any, terms: Any, rows: Any, lists: Any) -> Any:
    """Bring the rows of some terms, one behind the other, to what each of them takes in ``lists``."""
    to, each = np.int64(0), segments * LIST_ROW
    for term in range(terms):
        to = open_term(table, segments, rows[term * each : (term + 1) * each], lists, to)
