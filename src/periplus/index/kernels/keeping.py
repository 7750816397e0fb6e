"""Candidates that are left: through the last lists, to their impacts, to the best documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.kernels.access import WINDOW_BITS
from periplus.index.kernels.bits import byte_at
from periplus.index.kernels.common import ask_for_places, bring_places, in_bits
from periplus.index.kernels.direct import offer
from periplus.index.kernels.plain_steps import ADDRESS, GIVEN, WEIGHT
from periplus.index.kernels.sieves import ROOM, in_list
from periplus.index.kernels.tables import prefetch


@bare_helper
def keep(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    sets: Any,
    first: Any,
    documents: Any,
    slots: Any,
    found: Any,
    count: Any,
    cursors: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer the candidates that the lists from ``order[first]`` on have, too."""
    for at in range(first, len(order)):
        if count == 0:
            return
        item = order[at]
        if sets[item] != 0:
            count = in_bits(sets[item], documents, slots, count)
            continue
        own = found[item * ROOM : (item + 1) * ROOM]
        list_at = query[GIVEN * item + ADDRESS]
        count = in_list(table, segments, windows_before, list_at, documents, slots, own, count, cursors, item)
    if count > 0:
        offer_all(
            table,
            segments,
            windows_before,
            query,
            order,
            sets,
            first,
            documents,
            slots,
            found,
            count,
            cursors,
            prior_weight,
            state,
            scores,
            numbers,
            histogram,
            shift,
            k,
            spare_scores,
            spare_numbers,
        )


@bare_helper
def offer_all(
    table: Any,
    segments: Any,
    windows_before: Any,
    query: Any,
    order: Any,
    sets: Any,
    first: Any,
    documents: Any,
    slots: Any,
    found: Any,
    count: Any,
    cursors: Any,
    prior_weight: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    k: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer candidates. Where they are in lists with bits, from ``order[first]`` on, is not known yet."""
    if count > 1:
        for at in range(first, len(order)):
            if sets[order[at]] != 0:
                ask_for_places(segments, windows_before, query[GIVEN * order[at] + ADDRESS], documents, count)
    for at in range(first, len(order)):
        item = order[at]
        if sets[item] != 0:
            own, list_at = found[item * ROOM : (item + 1) * ROOM], query[GIVEN * item + ADDRESS]
            bring_places(
                table, segments, windows_before, list_at, documents, slots, own, count, cursors, item, 0, slots
            )
    if count > 1:
        for at in range(count):
            for item in range(len(order)):
                prefetch(found[item * ROOM + slots[at]])
    segment = 0
    for at in range(count):
        document, slot = documents[at], slots[at]
        while document >= windows_before[segment + 1] << WINDOW_BITS:
            segment += 1
        value = np.int64(0)
        for item in range(len(order)):
            value += query[GIVEN * item + WEIGHT] * np.int64(byte_at(found[item * ROOM + slot]))
        offer(
            table,
            segment,
            document - (windows_before[segment] << WINDOW_BITS),
            value,
            prior_weight,
            state,
            scores,
            numbers,
            histogram,
            shift,
            k,
            spare_scores,
            spare_numbers,
        )
