"""A list as it is shown: candidates by score, near-duplicates folded, hosts kept apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.bits import ones_of
from periplus.index.kernels.memory import item
from periplus.index.kernels.tables import HOST, HOST_NUMBERS, ROW, at_f64, at_i64, i64, prefetch, u32
from periplus.ranking.kernels.hosts import slot_of

NUMBER_BITS = 32
LOCAL = (1 << NUMBER_BITS) - 1
# What is told of a list: results kept, results listed, hits kept apart by host alone, place of the last one kept.
KEPT, LISTED, SHOWN, LAST = 0, 1, 2, 3
FACTS = 4
COLUMNS = 5  # of a result: its number and score; how many more its host has, how many are folded into it, 0


@bare_helper
def _sort(scores: Any, order: Any) -> Any:
    """Places of the scores, best first; of equal ones the first."""
    for place in range(len(scores)):
        score, before = scores[place], np.int64(0)  # how many are: all are compared, since that is eight at once
        for other in range(place):
            before += np.int64(item(scores, other) >= score)
        for other in range(place + 1, len(scores)):
            before += np.int64(item(scores, other) > score)
        order[before] = place


@bare_helper
def _is_near(prints: Any, count: Any, own: Any, bits: Any) -> Any:
    """Whether some fingerprint is nearly the same: all of them are looked at, since that is eight at once."""
    near = np.int64(0)
    for earlier in range(count):
        differ = ones_of(np.uint64(item(prints, earlier) ^ own))
        near |= np.int64(item(prints, earlier) != 0) & np.int64(differ <= bits)
    return near != 0


@bare_helper
def _folded(prints: Any, order: Any, size: Any, compared: Any, bits: Any, counts: Any) -> Any:
    """``order`` without what is nearly the same as something before it; how many are left, and how many may fold."""
    kept = 0
    for place in range(size):
        near = False
        if place < compared and prints[place] != 0 and _is_near(prints, kept, prints[place], bits):
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


@bare_helper
def _counted(known: Any, hosts: Any, order: Any, size: Any) -> Any:
    """How many of the first results each host has."""
    for place in range(len(known)):
        known[place] = 0
    for place in range(size):
        host = hosts[order[place]]
        slot = slot_of(known, host)
        known[slot] = host
        known[slot + 1] += 1


@bare_helper
def _shown(known: Any, limit: Any, nameless: Any) -> Any:
    """Results that are left when no host has more than so many."""
    shown = np.int64(0)
    for slot in range(0, len(known), 3):
        shown += known[slot + 1] if known[slot] == nameless else min(known[slot + 1], limit)
    return shown


@bare_helper
def length_of(count: Any, longest: Any, limit: Any, wanted: Any) -> Any:
    """Results in a list, at most."""
    return min(count, wanted) if limit > 0 else min(count, longest)


@bare_helper
def listed(
    numbers: Any,
    scores: Any,  # of the first of them; the others keep their order
    before: Any,  # scores of all of them in the first pass
    longest: Any,  # list
    table: Any,  # of the segments, as ``index.tables`` lays them out
    limit: Any,  # results of a host; 0: any number
    nameless: Any,  # a host that has no limit
    first_print_at: Any,  # of each segment: where its fingerprints begin; 0: nothing is folded
    fingerprints_at: Any,
    compared: Any,  # results, for near-duplicates
    bits: Any,  # in which these may differ
    wanted: Any,
    memory_at: Any,  # to work in
    words: Any,  # of memory, as numbers of 64 bits
    out_at: Any,  # the facts; then numbers, scores, and three counts of each result
) -> Any:
    """0, or how many words of memory it takes when there are too few."""
    count, scored = len(numbers), len(scores)
    room = 16
    while room < 2 * count:
        room *= 2
    compared = min(compared, count)
    needed = 3 * room + 2 * count + 2 * compared
    if needed > words:
        return np.int64(needed)
    length = length_of(count, longest, limit, wanted)
    known = at_i64(memory_at, 3 * room)  # of each host: itself, how many results, how many of them shown
    order, hosts = at_i64(memory_at + 24 * room, count), at_i64(memory_at + 24 * room + 8 * count, count)
    counts = at_i64(memory_at + 24 * room + 16 * count, compared)
    prints = at_i64(memory_at + 24 * room + 16 * count + 8 * compared, compared)
    facts, found = at_i64(out_at, FACTS), at_i64(out_at + 8 * FACTS, length)
    values, told = at_f64(out_at + 8 * (FACTS + length), length), at_i64(out_at + 8 * (FACTS + 2 * length), 3 * length)
    first_print = at_i64(first_print_at, len(table) // ROW)
    for place in range(count):  # what is read next lies far apart
        order[place] = place
        segment, local = numbers[place] >> NUMBER_BITS, numbers[place] & LOCAL
        prefetch(table[segment * ROW + HOST] + 4 * local)
        if first_print_at != 0:
            prefetch(fingerprints_at + 8 * (first_print[segment] + local))
    facts[SHOWN] = count
    if limit > 0:
        for place in range(count):
            segment = numbers[place] >> NUMBER_BITS
            own = u32(table, segment, HOST)[numbers[place] & LOCAL]
            hosts[place] = i64(table, segment, HOST_NUMBERS)[own]
        _counted(known, hosts, order, count)
        facts[SHOWN] = _shown(known, limit, nameless)
    _sort(scores, order)
    size = min(count, longest)
    compared = min(compared, size)
    for place in range(compared):
        counts[place] = 0
    if first_print_at != 0:
        for place in range(compared):
            number = numbers[order[place]]
            at = first_print[number >> NUMBER_BITS] + (number & LOCAL)
            prints[place] = at_i64(fingerprints_at, at + 1)[at]
        size = _folded(prints, order, size, compared, bits, counts)
    facts[LISTED] = size
    if limit > 0 and size < count:  # those that are not listed are no results of their host
        _counted(known, hosts, order, size)
    kept, facts[LAST] = 0, 0
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
        at = order[place]
        found[kept], values[kept] = numbers[at], scores[at] if at < scored else before[at]
        told[3 * kept], told[3 * kept + 1], told[3 * kept + 2] = more, counts[place] if place < compared else 0, 0
        kept += 1
        facts[LAST] = place
    facts[KEPT] = kept
    return np.int64(0)
