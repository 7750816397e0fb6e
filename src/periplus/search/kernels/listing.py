"""A list as it is shown, in one call: candidates by score, near-duplicates folded, hosts kept apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import ones_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.tables import HOST, HOST_NUMBERS, i64, u32
from periplus.index.kernels.types import I64, M_I64, R_F64, R_I64, signature
from periplus.search.kernels.hosts import slot_of

NUMBER_BITS = 32
LOCAL = (1 << NUMBER_BITS) - 1
KEPT, LISTED, SHOWN, LAST = 0, 1, 2, 3  # places of what ``listed`` tells
RESULT = 3  # numbers of a result


@bare_helper
def _sort(scores: Any, order: Any) -> Any:
    """Places of the scores, best first; of equal ones the first."""
    for place in range(len(scores)):
        score = scores[place]
        at = place
        while at > 0 and scores[order[at - 1]] < score:
            order[at] = order[at - 1]
            at -= 1
        order[at] = place


@bare_helper
def _folded(prints: Any, order: Any, size: Any, compared: Any, bits: Any, counts: Any) -> Any:
    """``order`` without what is nearly the same as something before it; how many are left, and how many may fold."""
    kept = 0
    for place in range(size):
        near = False
        if place < compared and prints[place] != 0:
            for earlier in range(kept):
                if prints[earlier] != 0 and ones_of(np.uint64(prints[earlier] ^ prints[place])) <= bits:
                    counts[earlier] += 1
                    near = True
                    break
        if not near:
            order[kept] = order[place]
            if place < compared:
                prints[kept] = prints[place]
            kept += 1
    return kept


@kernel(signature("void", R_I64, R_F64, I64, R_I64, I64, I64, R_I64, R_I64, I64, I64, I64, M_I64, M_I64))
def listed(
    numbers: Any,
    scores: Any,  # of the first of them; the others keep their order
    longest: Any,  # list
    table: Any,  # of the segments, as ``index.tables`` lays them out
    limit: Any,  # results of a host; 0: any number
    nameless: Any,  # a host that has no limit
    first_print: Any,  # of each segment: where its fingerprints begin; empty: nothing is folded
    fingerprints: Any,
    compared: Any,  # results, for near-duplicates
    bits: Any,  # in which these may differ
    wanted: Any,
    facts: Any,  # results kept, results listed, results kept apart by host alone, place of the last one kept
    out: Any,  # of each result kept: its place among ``numbers``; how many more its host has; how many are folded
) -> Any:
    count = len(numbers)
    room = 16
    while room < 2 * count:
        room *= 2
    known = np.zeros(3 * room, np.int64)  # of each host: itself, how many results, how many of them shown
    hosts = np.empty(count if limit > 0 else 0, np.int64)
    for place in range(len(hosts)):
        segment = numbers[place] >> NUMBER_BITS
        own = u32(table, segment, HOST)[numbers[place] & LOCAL]
        hosts[place] = i64(table, segment, HOST_NUMBERS)[own]
    facts[SHOWN] = count
    if limit > 0:
        facts[SHOWN] = 0
        for place in range(count):
            slot = slot_of(known, hosts[place])
            known[slot] = hosts[place]
            known[slot + 1] += 1
            facts[SHOWN] += hosts[place] == nameless or known[slot + 1] <= limit
    order = np.empty(count, np.int64)
    _sort(scores, order)
    for place in range(len(scores), count):
        order[place] = place
    size = min(count, longest)
    compared = min(compared, size)
    counts = np.zeros(compared, np.int64)
    if len(first_print) > 0:
        prints = np.empty(compared, np.int64)
        for place in range(compared):
            number = numbers[order[place]]
            prints[place] = fingerprints[first_print[number >> NUMBER_BITS] + (number & LOCAL)]
        size = _folded(prints, order, size, compared, bits, counts)
    facts[LISTED] = size
    if limit > 0 and size < count:  # those that are not listed are no results of their host
        known[:] = 0
        for place in range(size):
            slot = slot_of(known, hosts[order[place]])
            known[slot] = hosts[order[place]]
            known[slot + 1] += 1
    kept = 0
    for place in range(size):
        if kept == wanted and limit > 0:
            break
        more = np.int64(0)
        if limit > 0:
            host = hosts[order[place]]
            slot = slot_of(known, host)
            known[slot + 2] += 1
            if host != nameless:
                if known[slot + 2] > limit:
                    continue
                if known[slot + 2] == limit:
                    more = known[slot + 1] - limit
        out[RESULT * kept], out[RESULT * kept + 1] = order[place], more
        out[RESULT * kept + 2] = counts[place] if place < compared else 0
        kept += 1
        facts[LAST] = place
    facts[KEPT] = kept
