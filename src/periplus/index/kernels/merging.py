"""Merging: postings of several segments under new document numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import F64, I64, M_I64, M_U8, M_U32, R_F64, R_I64, R_U32, kernel, signature
from periplus.index.kernels.access import FIELD_COUNT, WINDOW_BITS, folded
from periplus.index.kernels.heads import bits_of, list_of, window_at
from periplus.index.kernels.positions import seek, write_steps
from periplus.index.kernels.types import POSITIONS, POSTINGS


@kernel(signature(I64, *POSTINGS, *POSITIONS, I64, I64, R_U32, R_I64, M_I64, M_U8, M_I64, M_U32))
def gather_postings(
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
    low: Any,
    high: Any,
    target: Any,
    renumbered: Any,
    keys: Any,
    impacts: Any,
    ordinals: Any,
    counts: Any,
) -> Any:
    """The live postings of the terms [low, high): key (target term << 32 | new document), impact, and which they are
    in this segment, with how many positions they have."""
    count = 0
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
            document = renumbered[(window << WINDOW_BITS) | place[posting]]
            if document >= 0:
                keys[count] = (np.int64(target[term - low]) << 32) | document
                impacts[count] = impact[posting]
                ordinals[count] = posting
                counts[count] = seek(block_base, block_start, data, posting)[3]
                count += 1
    return count


@kernel(signature("void", *POSITIONS, R_I64, R_I64, M_U32))
def copy_positions(block_base: Any, block_start: Any, source: Any, ordinals: Any, targets: Any, steps: Any) -> Any:
    """Positions of postings of one segment, as steps, each to its place in ``steps``."""
    for place in range(len(ordinals)):
        write_steps(block_base, block_start, source, ordinals[place], steps, targets[place])


@kernel(signature("void", R_U32, R_U32, R_U32, R_U32, R_F64, F64, M_U8))
def fold_again(documents: Any, sizes: Any, steps: Any, starts: Any, factors: Any, k1: Any, impacts: Any) -> Any:
    """Impacts of a new norm epoch, from the positions of postings in the order of ``documents``."""
    counts = np.zeros(FIELD_COUNT, np.int64)
    at = np.int64(0)
    for posting in range(len(documents)):
        counts[:] = 0
        document = np.int64(documents[posting])
        base = document * (FIELD_COUNT + 1)
        field = 0
        position = np.int64(0)
        for _ in range(sizes[posting]):
            position += steps[at]
            at += 1
            while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
                field += 1
            counts[field] += 1
        impacts[posting] = folded(counts, factors, document, k1, -1)
