"""Lists made for one query: prefixes and words in one field (``phrases`` has those of phrases).

Each list kernel fills ``documents`` (ascending) and ``impacts`` and returns how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_U8, M_U32, kernel, signature
from periplus.index.kernels.access import FIELD_COUNT, WINDOW_BITS, folded
from periplus.index.kernels.heads import bits_of, list_of, window_at
from periplus.index.kernels.positions import count_fields
from periplus.index.kernels.types import FIELD_TABLES, POSITIONS, POSTINGS


@kernel(signature("void", *POSTINGS, I64, I64, M_U8))
def spread(
    frequency: Any,
    blocks: Any,
    large: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    low: Any,
    high: Any,
    best: Any,
) -> Any:
    """The largest impact of the terms [low, high) by document."""
    bits = bits_of(windows)
    for term in range(low, high):
        base, size, row, rare = list_of(frequency, blocks, large, term)
        is_rare, row = row < 0, row * (windows + 1)
        window = np.int64(0)
        for posting in range(base, base + size):
            if is_rare:
                window = window_at(rare_window, bits, rare + posting - base)
            else:
                while window_start[row + window + 1] <= posting - base:
                    window += 1
            document = (window << WINDOW_BITS) | place[posting]
            if impact[posting] > best[document]:
                best[document] = impact[posting]


@kernel(signature(I64, *POSTINGS, *POSITIONS, *FIELD_TABLES, I64, I64, M_U32, M_U8))
def in_field(
    frequency: Any,
    blocks: Any,
    large: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    block_base: Any,
    block_start: Any,
    data: Any,
    starts: Any,
    factors: Any,
    k1: Any,
    term: Any,
    field: Any,
    documents: Any,
    impacts: Any,
) -> Any:
    """The documents that have a term in one field, with the impact of that field alone."""
    counts = np.zeros(FIELD_COUNT, np.int64)
    bits = bits_of(windows)
    base, size, row, rare = list_of(frequency, blocks, large, term)
    is_rare, row = row < 0, row * (windows + 1)
    window = np.int64(0)
    found = 0
    for posting in range(base, base + size):
        if is_rare:
            window = window_at(rare_window, bits, rare + posting - base)
        else:
            while window_start[row + window + 1] <= posting - base:
                window += 1
        document = (window << WINDOW_BITS) | place[posting]
        count_fields(block_base, block_start, data, posting, starts, document, counts)
        if counts[field] > 0:
            documents[found] = document
            impacts[found] = folded(counts, factors, document, k1, field)
            found += 1
    return found
