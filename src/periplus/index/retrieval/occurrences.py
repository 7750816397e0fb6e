"""Occurrences: how often and where some terms stand in many documents, as flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.core.layout.segment_tables import PlacesFound
from periplus.index.format.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.format.segment import Segment

FIRST_ROOM = 1 << 14  # places; more are asked for when they do not suffice


class Occurrences(Struct, frozen=True):
    """``counts`` by document, term and field; the places of document d in field f end at ``ends[d, f]``.

    Places run by document, field and position, so those of one field begin where those of the last one end.
    """

    counts: NDArray[np.uint32]  # D x T x F
    ends: NDArray[np.int64]  # D x F
    positions: NDArray[np.uint32]  # in words from the start of the field
    labels: NDArray[np.uint32]


def in_segment(
    segment: Segment,
    documents: NDArray[np.int64],
    terms: NDArray[np.int64],
    labels: NDArray[np.int64],
    fields: Sequence[int],
    most: int,
) -> Occurrences:
    """Occurrences in documents of one segment, by their numbers there."""
    from periplus.core.retrieval import occurrences

    kept = np.zeros(len(FIELDS), np.int64)
    kept[list(fields)] = 1
    tables = (segment.postings.tables, segment.positions.tables, segment.columns.starts)
    room = FIRST_ROOM
    while True:
        counts = np.zeros(len(documents) * len(terms) * len(FIELDS), np.uint32)
        ends = np.empty(len(documents) * len(FIELDS), np.int64)
        scratch = np.empty(room, np.int64)
        positions, found = np.empty(room, np.uint32), np.empty(room, np.uint32)
        places = PlacesFound(counts, ends, scratch, positions, found)
        total = int(occurrences(*tables, documents, terms, labels, most, kept, places))
        if total >= 0:
            shape = (len(documents), len(terms), len(FIELDS))
            return Occurrences(
                counts.reshape(shape), ends.reshape(len(documents), len(FIELDS)), positions[:total], found[:total]
            )
        room = -total


def joined(parts: Sequence[tuple[NDArray[np.int64], Occurrences]], count: int, terms: int) -> Occurrences:
    """Occurrences of several segments in the order of the documents asked for; each part says which rows it has."""
    if len(parts) == 1:
        return parts[0][1]
    counts = np.zeros((count, terms, len(FIELDS)), np.uint32)
    sizes = np.zeros((count, len(FIELDS)), np.int64)
    for rows, part in parts:
        counts[rows] = part.counts
        sizes[rows] = _sizes(part)
    ends = np.cumsum(sizes.reshape(-1)).reshape(sizes.shape)
    positions, labels = (np.empty(int(sizes.sum()), np.uint32) for _ in range(2))
    for rows, part in parts:
        targets = _targets(ends[rows, -1] - sizes[rows].sum(axis=1), sizes[rows].sum(axis=1))
        positions[targets], labels[targets] = part.positions, part.labels
    return Occurrences(counts, ends, positions, labels)


def _sizes(part: Occurrences) -> NDArray[np.int64]:
    return np.diff(part.ends.reshape(-1), prepend=0).reshape(part.ends.shape)


def _targets(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """The places [begin, begin + size) of all documents, one after another."""
    shifts = np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    return shifts + np.arange(int(sizes.sum()))
