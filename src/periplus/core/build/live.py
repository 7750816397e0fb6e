"""Live statistics: document frequencies and best impacts without the deleted documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.build.inverting import best_impacts
from periplus.core.compiler import M_U8, M_U32, R_U8, kernel, signature
from periplus.core.format.heads import bits_of, list_of, ranked_of, window_at
from periplus.core.layout.documents import WINDOW, WINDOW_BITS
from periplus.core.layout.segment_tables import PostingTables


@kernel(signature("void", PostingTables, R_U8, M_U32, M_U8))
def live_statistics(postings: Any, alive: Any, frequency: Any, best: Any) -> Any:
    """How many live documents each term has, and their best impacts."""
    sizes, blocks, large, place, impact, rare_window, window_start, _, windows = postings
    histogram = np.zeros(WINDOW, np.int64)
    bits = bits_of(windows)
    for term in range(len(frequency)):
        histogram[:] = 0
        base, size, row, rare = list_of(sizes, blocks, large, term)
        is_rare, row = row < 0, row * (windows + 1)
        window = np.int64(0)
        found = 0
        for posting in range(base, base + size):
            if is_rare:
                window = window_at(rare_window, bits, rare + posting - base)
            else:
                while window_start[row + window + 1] <= posting - base:
                    window += 1
            if alive[(window << WINDOW_BITS) | place[posting]]:
                found += 1
                histogram[impact[posting]] += 1
        frequency[term] = found
        ranked = ranked_of(sizes, blocks, term)
        if ranked >= 0:
            best_impacts(histogram, best, ranked * 4)
