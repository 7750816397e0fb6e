"""Live statistics: document frequencies and best impacts without the deleted documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import WINDOW, WINDOW_BITS
from periplus.index.kernels.building import best_impacts
from periplus.index.kernels.compiler import kernel
from periplus.index.kernels.types import M_U8, M_U32, POSTINGS, R_U8, signature


@kernel(signature("void", *POSTINGS, R_U8, M_U32, M_U8))
def live_statistics(
    start: Any,
    slot: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    alive: Any,
    frequency: Any,
    best: Any,
) -> Any:
    histogram = np.zeros(WINDOW, np.int64)
    for term in range(len(frequency)):
        histogram[:] = 0
        base = start[term]
        row = ~slot[term] * (windows + 1)
        window: Any = 0
        found = 0
        for posting in range(base, start[term + 1]):
            if slot[term] < 0:
                while window_start[row + window + 1] <= posting - base:
                    window += 1
            else:
                window = np.int64(rare_window[slot[term] + posting - base])
            if alive[(window << WINDOW_BITS) | place[posting]]:
                found += 1
                histogram[impact[posting]] += 1
        frequency[term] = found
        best_impacts(histogram, best, term * 4)
