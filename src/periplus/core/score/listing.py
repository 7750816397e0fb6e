"""A list as it is shown: near-duplicates collapsed, at most so many results of a host."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_I64, bare_helper, kernel, signature
from periplus.core.machine.bits import ones_of

LISTED, SHOWN = 0, 1  # what is told of a list: results after collapsing, hits that hosts admit
FACTS = 2
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
def _shown(table: Any, limit: Any, nameless: Any) -> Any:
    """Results that are left when every host has at most ``limit``."""
    shown = np.int64(0)
    for at in range(0, len(table), SLOT):
        shown += table[at + 1] if table[at] == nameless else min(table[at + 1], limit)
    return shown


@bare_helper
def _collapse(prints: Any, places: Any, compared: Any, bits: Any, joined: Any) -> Any:
    """``places`` without the near-duplicates of earlier ones; how many are left. ``joined`` counts them."""
    kept = np.int64(0)
    for place in range(len(places)):
        own, into = prints[places[place]], np.int64(-1)
        if place < compared and own != 0:
            for earlier in range(kept):
                other = prints[places[earlier]]
                if other != 0 and ones_of(np.uint64(other ^ own)) <= bits:
                    into = np.int64(earlier)
                    break
        if into >= 0:
            joined[into] += 1
        else:
            places[kept] = places[place]
            kept += 1
    return kept


@kernel(signature(I64, R_I64, R_I64, I64, I64, I64, I64, I64, M_I64, M_I64, M_I64, M_I64))
def arrange(
    hosts: Any,  # of the hits, best first
    prints: Any,  # their fingerprints, 0 is none; empty: nothing is collapsed
    longest: Any,  # hits that may be listed
    compared: Any,  # hits that are compared for near-duplicates
    bits: Any,  # in which the fingerprints of near-duplicates may differ
    limit: Any,  # results of a host; 0: any number
    wanted: Any,  # results, where hosts have a limit
    facts: Any,
    places: Any,  # of the results among the hits
    more: Any,  # of each result, when it is the last one shown of its host: how many more that host has
    joined: Any,  # of each result: near-duplicates collapsed into it
) -> Any:
    """Which hits are results; how many they are. Hits of no host (key 0) have no limit."""
    count, size = len(hosts), min(len(hosts), longest)
    slots = 16
    while slots < 2 * count:
        slots *= 2
    table = np.empty(SLOT * slots, np.int64) if limit > 0 else np.empty(0, np.int64)
    for place in range(count):
        places[place], more[place], joined[place] = place, 0, 0
    facts[SHOWN] = count
    if limit > 0:
        _count(table, hosts, places, count)
        facts[SHOWN] = _shown(table, limit, 0)
    if len(prints) > 0:
        size = _collapse(prints, places[:size], min(compared, size), bits, joined)
    facts[LISTED] = size
    if limit == 0:
        return size
    _count(table, hosts, places, size)
    kept = np.int64(0)
    for place in range(size):
        if kept == wanted:
            break
        at = places[place]
        slot = _slot_of(table, hosts[at])
        table[slot + 2] += 1
        if hosts[at] != 0 and table[slot + 2] > limit:
            continue
        places[kept], joined[kept] = at, joined[place]
        more[kept] = table[slot + 1] - limit if hosts[at] != 0 and table[slot + 2] == limit else 0
        kept += 1
    return kept
