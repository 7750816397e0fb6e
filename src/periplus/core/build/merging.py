"""Merging: postings of several segments under new document numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import F64, I64, M_U8, M_U32, R_F64, R_I64, R_U32, kernel, signature
from periplus.core.format.access import folded
from periplus.core.format.heads import bits_of, list_of, window_at
from periplus.core.format.positions import seek, write_steps
from periplus.core.layout.documents import FIELD_COUNT, GONE, WINDOW_BITS
from periplus.core.layout.segment_tables import MergedPostings, PositionTables, PostingTables


@kernel(signature(I64, PostingTables, PositionTables, I64, I64, I64, I64, R_U32, R_U32, MergedPostings))
def gather_postings(
    postings: Any,
    positions: Any,
    low: Any,
    high: Any,
    first: Any,
    last: Any,
    target: Any,
    renumbered: Any,
    gathered: Any,
) -> Any:
    """The live postings of the terms [low, high) in the new documents [first, last), which ascend with the old ones.

    Of each its key (target term << 32 | new document), impact, which one it is in this segment, and how many positions
    it has; how many there are.
    """
    frequency, blocks, large, place, impact, rare_window, window_start, _, windows = postings
    block_base, block_start, data = positions
    keys, impacts, ordinals, counts = gathered
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
            document = np.int64(renumbered[(window << WINDOW_BITS) | place[posting]])
            if document == GONE or document < first:
                continue
            if document >= last:
                break
            keys[count] = (np.int64(target[term - low]) << 32) | document
            impacts[count] = impact[posting]
            ordinals[count] = posting
            counts[count] = seek(block_base, block_start, data, posting)[3]
            count += 1
    return count


@kernel(signature("void", PositionTables, R_U32, R_I64, M_U32))
def copy_positions(positions: Any, ordinals: Any, targets: Any, steps: Any) -> Any:
    """Positions of postings of one segment, as steps, each to its place in ``steps``."""
    block_base, block_start, source = positions
    for place in range(len(ordinals)):
        write_steps(block_base, block_start, source, np.int64(ordinals[place]), steps, targets[place])


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
