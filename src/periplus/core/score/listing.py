"""A list as it is shown: near-duplicates collapsed, hosts kept apart among results that compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_F64, R_I64, bare_helper, kernel, signature
from periplus.core.machine.bits import ones_of

SLOT = 3  # numbers of a host: its key, how many results it has, how many of them came so far
MIXED = np.uint64(0x9E3779B97F4A7C15)


@bare_helper
def _slot_of(table: Any, host: Any) -> Any:
    """Where a host has its numbers, or where it will have them."""
    slots = len(table) // SLOT
    slot = np.int64((np.uint64(host) * MIXED) >> np.uint64(32)) & (slots - 1)
    while table[SLOT * slot + 1] > 0 and table[SLOT * slot] != host:
        slot = (slot + 1) & (slots - 1)
    return SLOT * slot


@bare_helper
def _count(table: Any, hosts: Any, places: Any, size: Any) -> Any:
    """How many of the first ``size`` places each host has."""
    for at in range(len(table)):
        table[at] = 0
    for place in range(size):
        host = hosts[places[place]]
        slot = _slot_of(table, host)
        table[slot] = host
        table[slot + 1] += 1


@bare_helper
def _collapse(
    prints: Any, fits: Any, places: Any, ranked: Any, wanted: Any, bits: Any, firsts: Any, joined: Any
) -> Any:
    """``places`` without near-duplicates of earlier ones; how many are left. ``joined`` counts them.

    The first one of some copies has its place; shown there is the one that fits the reader best, as long as their
    scores compare. All of the ranked hits are looked at, and behind them as many as the wanted results take: so a list
    that is asked for further begins with the same results.
    """
    kept = np.int64(0)
    for place in range(len(places)):
        own, into = prints[place], np.int64(-1)
        if own != 0 and (place < ranked or kept < wanted):
            for earlier in range(kept):
                other = prints[firsts[earlier]]
                if other != 0 and ones_of(np.uint64(other ^ own)) <= bits:
                    into = np.int64(earlier)
                    break
        if into >= 0:
            joined[into] += 1
            if fits[place] > fits[places[into]] and (place < ranked) == (firsts[into] < ranked):
                places[into] = place
        else:
            places[kept], firsts[kept] = place, place
            kept += 1
    return kept


@bare_helper
def _keep_apart(
    hosts: Any, scores: Any, shares: Any, places: Any, size: Any, joined: Any, table: Any, worth: Any
) -> Any:
    """The first ``size`` places by what the n-th result of its host is worth; equal ones keep their order."""
    for place in range(size):
        at, also = places[place], joined[place]
        slot = _slot_of(table, hosts[at])
        nth = min(table[slot + 2], len(shares) - 1) if hosts[at] != 0 else np.int64(0)
        table[slot + 2] += 1
        own = scores[at] * shares[nth] if scores[at] > 0.0 else scores[at]
        to = place
        while to > 0 and worth[to - 1] < own:
            worth[to], places[to], joined[to] = worth[to - 1], places[to - 1], joined[to - 1]
            to -= 1
        worth[to], places[to], joined[to] = own, at, also


@bare_helper
def _limit(hosts: Any, places: Any, size: Any, limit: Any, joined: Any, table: Any) -> Any:
    """The first ``limit`` results of each host; how many are left."""
    kept = np.int64(0)
    for place in range(size):
        slot = _slot_of(table, hosts[places[place]])
        table[slot + 2] += 1
        if hosts[places[place]] == 0 or table[slot + 2] <= limit:
            places[kept], joined[kept] = places[place], joined[place]
            kept += 1
    return kept


@kernel(signature(I64, R_I64, R_I64, R_F64, R_F64, R_F64, I64, I64, I64, I64, M_I64, M_I64, M_I64))
def arrange(
    hosts: Any,  # of the hits, best first; 0: of no host, which is kept apart from nothing
    prints: Any,  # their fingerprints, 0 is none; empty: nothing is collapsed
    fits: Any,  # how well each would fit the reader among its copies
    scores: Any,
    shares: Any,  # of its score that the n-th result of a host is worth, and all behind the last; empty: all of it
    ranked: Any,  # hits whose scores compare; those behind keep their order
    limit: Any,  # results of a host; 0: any number
    wanted: Any,  # results
    bits: Any,  # in which the fingerprints of near-duplicates may differ
    places: Any,  # of the results among the hits
    more: Any,  # of each result: how many of its host follow, or are left out
    joined: Any,  # of each result: near-duplicates collapsed into it
) -> Any:
    """Which hits are results, in their order; how many they are."""
    count = len(hosts)
    for place in range(count):
        places[place], more[place], joined[place] = place, 0, 0
    size = np.int64(count)
    if len(prints) > 0:
        size = _collapse(prints, fits, places, ranked, wanted, bits, more, joined)
        for place in range(size):
            more[place] = 0
    if len(shares) == 0 and limit == 0:
        return size
    slots = 16
    while slots < 2 * count:
        slots *= 2
    table = np.empty(SLOT * slots, np.int64)
    _count(table, hosts, places, size)
    kept = size
    if limit > 0:
        kept = _limit(hosts, places, size, limit, joined, table)
    else:
        compared = np.int64(0)
        while compared < size and places[compared] < ranked:
            compared += 1
        _keep_apart(hosts, scores, shares, places, compared, joined, table, np.empty(compared, np.float64))
    for at in range(2, len(table), SLOT):
        table[at] = 0
    for place in range(kept):
        slot = _slot_of(table, hosts[places[place]])
        table[slot + 2] += 1
        more[place] = table[slot + 1] - table[slot + 2] if hosts[places[place]] != 0 else 0
    return kept
