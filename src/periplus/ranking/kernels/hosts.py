"""Results of many hosts: at most so many of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_I64, R_I64, bare_helper, kernel, signature


@bare_helper
def slot_of(table: Any, host: Any) -> Any:
    """Where a host has its numbers, or where it will have them: host, how many results, how many of them shown."""
    room = len(table) // 3
    slot = np.int64((np.uint64(host) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (room - 1)
    while table[3 * slot + 1] > 0 and table[3 * slot] != host:
        slot = (slot + 1) & (room - 1)
    return 3 * slot


@kernel(signature(I64, R_I64, I64, I64, I64, M_I64, M_I64))
def spread(
    hosts: Any,
    limit: Any,
    nameless: Any,  # a host that has no limit
    wanted: Any,
    kept: Any,  # places of the results shown
    left: Any,  # of each of them, when it is the last one shown of its host: how many more that host has
) -> Any:
    """The first ``wanted`` results with at most ``limit`` of a host; how many there are."""
    room = 16
    while room < 2 * len(hosts):
        room *= 2
    table = np.zeros(3 * room, np.int64)
    for place in range(len(hosts)):
        slot = slot_of(table, hosts[place])
        table[slot] = hosts[place]
        table[slot + 1] += 1
    count = 0
    for place in range(len(hosts)):
        if count == wanted:
            break
        slot = slot_of(table, hosts[place])
        table[slot + 2] += 1
        if hosts[place] == nameless or table[slot + 2] <= limit:
            kept[count], left[count] = place, 0
            if hosts[place] != nameless and table[slot + 2] == limit:
                left[count] = table[slot + 1] - limit
            count += 1
    return count
