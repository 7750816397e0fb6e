"""Merging: postings of several segments under new document numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import FIELD_COUNT, WINDOW_BITS, count_fields, folded, read_varint
from periplus.index.kernels.compiler import kernel
from periplus.index.kernels.types import (
    F64,
    I64,
    M_I64,
    M_U8,
    M_U32,
    POSTINGS,
    R_F64,
    R_I64,
    R_U8,
    R_U32,
    signature,
)


@kernel(signature(I64, *POSTINGS, R_I64, R_U8, I64, I64, R_U32, R_I64, M_I64, M_U8, M_I64, M_U32))
def gather(
    start: Any,
    slot: Any,
    place: Any,
    impact: Any,
    rare_window: Any,
    window_start: Any,
    window_max: Any,
    windows: Any,
    position_start: Any,
    data: Any,
    low: Any,
    high: Any,
    target: Any,
    renumbered: Any,
    keys: Any,
    impacts: Any,
    offsets: Any,
    sizes: Any,
) -> Any:
    """The live postings of the terms [low, high): key (target term << 32 | new document), impact, position bytes."""
    count = 0
    for term in range(low, high):
        at = position_start[term]
        base = start[term]
        row = ~slot[term] * (windows + 1)
        window: Any = 0
        for posting in range(base, start[term + 1]):
            if slot[term] < 0:
                while window_start[row + window + 1] <= posting - base:
                    window += 1
            else:
                window = np.int64(rare_window[slot[term] + posting - base])
            length, after = read_varint(data, at)
            end = after + length
            document = renumbered[(window << WINDOW_BITS) | place[posting]]
            if document >= 0:
                keys[count] = (np.int64(target[term - low]) << 32) | document
                impacts[count] = impact[posting]
                offsets[count] = at
                sizes[count] = end - at
                count += 1
            at = end
    return count


@kernel(signature("void", R_U8, R_I64, R_U32, R_I64, M_U8))
def copy_positions(source: Any, offsets: Any, sizes: Any, targets: Any, data: Any) -> Any:
    for posting in range(len(offsets)):
        for byte in range(sizes[posting]):
            data[targets[posting] + byte] = source[offsets[posting] + byte]


@kernel(signature("void", R_U32, R_U8, R_U32, R_F64, F64, M_U8))
def fold_again(documents: Any, data: Any, starts: Any, factors: Any, k1: Any, impacts: Any) -> Any:
    """Impacts of a new norm epoch, from position bytes in the order of ``documents``."""
    counts = np.zeros(FIELD_COUNT, np.int64)
    at = 0
    for posting in range(len(documents)):
        length, at = read_varint(data, at)
        count_fields(data, at, at + length, starts, np.int64(documents[posting]), counts)
        impacts[posting] = folded(counts, factors, np.int64(documents[posting]), k1, -1)
        at += length
