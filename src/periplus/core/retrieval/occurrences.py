"""Where words stand: of a query in many documents at once (the evidence of a re-ranking), or of one term in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, M_U32, R_I64, R_U32, kernel, signature
from periplus.core.format.access import find_posting
from periplus.core.format.positions import count_fields, decode, number, seek
from periplus.core.format.types import POSITIONS, POSTINGS
from periplus.core.layout.documents import FIELD_COUNT

LABEL_BITS = 16


@kernel(
    signature(I64, *POSTINGS, *POSITIONS, R_U32, R_I64, R_I64, R_I64, I64, M_I64, M_U32, M_I64, M_I64, M_U32, M_U32)
)
def occurrences(
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
    documents: Any,
    terms: Any,  # -1 where the segment has no such term
    labels: Any,  # of each term; -1: only counted
    most: Any,  # places kept of one term in one field
    fields: Any,  # 1 for each field whose places are kept
    counts: Any,  # documents x terms x fields
    ends: Any,  # documents x fields: where the places of that field end in the two arrays below
    scratch: Any,
    positions: Any,  # in words from the start of the field, ascending
    found: Any,  # the label of each
) -> Any:
    """Counts by field and places by field, with the labels of the terms that stand there; how many places there are.

    Terms of one label at one position are one. When ``scratch`` or ``positions`` is too short, the result is
    the negative of a length that suffices.
    """
    total: Any = 0
    for row in range(len(documents)):
        document = documents[row]
        base = document * (FIELD_COUNT + 1)
        size: Any = 0
        for term in range(len(terms)):
            if terms[term] < 0:
                continue
            posting = find_posting(
                frequency, blocks, large, place, rare_window, window_start, windows, terms[term], document
            )
            if posting < 0:
                continue
            origin, width, first, count = seek(block_base, block_start, data, posting)
            table = (row * len(terms) + term) * FIELD_COUNT
            field = 0
            position = np.int64(0)
            for at in range(first, first + count):
                position += number(data, origin, width, at)
                while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
                    field += 1
                counts[table + field] += 1
                if labels[term] >= 0 and fields[field] and counts[table + field] <= most:
                    if size >= len(scratch):
                        return -(2 * len(scratch) + 1)
                    scratch[size] = (position << LABEL_BITS) | labels[term]
                    size += 1
        if total + size > len(positions):
            return -(2 * (total + size) + 1)
        scratch[:size].sort()
        field = 0
        last = np.int64(-1)
        for i in range(size):
            value = scratch[i]
            if value == last:
                continue
            last = value
            position = value >> LABEL_BITS
            while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
                ends[row * FIELD_COUNT + field] = total
                field += 1
            positions[total] = position - starts[base + field]
            found[total] = value & ((1 << LABEL_BITS) - 1)
            total += 1
        while field < FIELD_COUNT:
            ends[row * FIELD_COUNT + field] = total
            field += 1
    return total


@kernel(signature("void", *POSTINGS, *POSITIONS, R_U32, R_I64, I64, M_I64))
def frequencies(
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
    terms: Any,
    document: Any,
    table: Any,
) -> Any:
    """Frequencies by field of several terms in one document; ``table`` has a row a term."""
    counts = np.zeros(FIELD_COUNT, np.int64)
    for row in range(len(terms)):
        if terms[row] < 0:
            continue
        posting = find_posting(
            frequency, blocks, large, place, rare_window, window_start, windows, terms[row], document
        )
        if posting < 0:
            continue
        count_fields(block_base, block_start, data, posting, starts, document, counts)
        for field in range(FIELD_COUNT):
            table[row * FIELD_COUNT + field] = counts[field]


@kernel(signature(I64, *POSTINGS, *POSITIONS, I64, I64, M_I64))
def positions(
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
    term: Any,
    document: Any,
    found: Any,
) -> Any:
    """All positions of a term in a document."""
    posting = find_posting(frequency, blocks, large, place, rare_window, window_start, windows, term, document)
    if posting < 0:
        return 0
    return decode(block_base, block_start, data, posting, found)
