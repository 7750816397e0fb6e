"""Where words stand, in many documents at once: the evidence of a re-ranking, and of explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, R_I64, R_U32, bare_helper, kernel, signature
from periplus.core.format.access import find_posting
from periplus.core.format.positions import number, seek
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.layout.segment_tables import LABEL_BITS, PlacesFound, PositionTables, PostingTables


@bare_helper
def _lay_out(places: Any, row: Any, size: Any, starts: Any, document: Any, total: Any) -> Any:
    """Bring the sorted places of one document from ``scratch`` to their fields; how many there are in all."""
    base = document * (FIELD_COUNT + 1)
    field = 0
    last = np.int64(-1)
    for at in range(size):
        value = places.scratch[at]
        if value == last:
            continue
        last = value
        position = value >> LABEL_BITS
        while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
            places.ends[row * FIELD_COUNT + field] = total
            field += 1
        places.positions[total] = position - starts[base + field]
        places.labels[total] = value & ((1 << LABEL_BITS) - 1)
        total += 1
    while field < FIELD_COUNT:
        places.ends[row * FIELD_COUNT + field] = total
        field += 1
    return total


@kernel(signature(I64, PostingTables, PositionTables, R_U32, R_I64, R_I64, R_I64, I64, R_I64, PlacesFound))
def occurrences(
    postings: Any,
    positions: Any,
    starts: Any,
    documents: Any,
    terms: Any,  # -1 where the segment has no such term
    labels: Any,  # of each term; -1: only counted
    most: Any,  # places kept of one term in one field
    fields: Any,  # 1 for each field whose places are kept
    places: Any,
) -> Any:
    """Counts by field and places by field, with the labels of the terms that stand there; how many places there are.

    Terms of one label at one position are one. When ``scratch`` or ``positions`` is too short, the result is
    the negative of a length that suffices.
    """
    total = np.int64(0)
    counts, scratch = places.counts, places.scratch
    for row in range(len(documents)):
        document = documents[row]
        base = document * (FIELD_COUNT + 1)
        size = np.int64(0)
        for term in range(len(terms)):
            if terms[term] < 0:
                continue
            posting = find_posting(postings, terms[term], document)
            if posting < 0:
                continue
            origin, width, first, count = seek(positions.block_base, positions.block_start, positions.data, posting)
            table = (row * len(terms) + term) * FIELD_COUNT
            field = 0
            position = np.int64(0)
            for at in range(first, first + count):
                position += number(positions.data, origin, width, at)
                while field < FIELD_COUNT - 1 and position >= starts[base + field + 1]:
                    field += 1
                counts[table + field] += 1
                if labels[term] >= 0 and fields[field] and counts[table + field] <= most:
                    if size >= len(scratch):
                        return -(2 * len(scratch) + 1)
                    scratch[size] = (position << LABEL_BITS) | labels[term]
                    size += 1
        if total + size > len(places.positions):
            return -(2 * (total + size) + 1)
        scratch[:size].sort()
        total = _lay_out(places, row, size, starts, document, total)
    return total
