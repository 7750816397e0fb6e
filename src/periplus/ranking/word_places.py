"""Places: where the words of the query stand in the candidates, as flat arrays that kernels can walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Where the words of the query stand in one field of one document: (position, word of the query), by position.
Sightings = tuple[tuple[int, int], ...]

Whole = np.ndarray[Any, np.dtype[np.int64]]
Small = np.ndarray[Any, np.dtype[np.uint32]]


class WordPlaces(Struct, frozen=True):
    """Sorted by candidate, field, position and word; the places of candidate d in field f end at ``ends[d, f]``."""

    ends: Whole  # D x F
    positions: Small
    words: Small

    @classmethod
    def none(cls, count: int) -> WordPlaces:
        return cls(np.zeros((count, len(FIELDS)), np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    @classmethod
    def of(cls, sightings: Mapping[int, Sequence[Sightings]], count: int) -> WordPlaces:
        """From pairs by field and candidate."""
        ends = np.zeros((count, len(FIELDS)), np.int64)
        flat: list[tuple[int, int]] = []
        for row in range(count):
            for field in range(len(FIELDS)):
                flat += sorted(sightings[field][row]) if field in sightings else ()
                ends[row, field] = len(flat)
        pairs = np.array(flat, np.uint32).reshape(len(flat), 2)
        return cls(ends, np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))

    def seen(self, field: int) -> tuple[Sightings, ...]:
        """The pairs of every candidate in one field."""
        ends = self.ends.reshape(-1).tolist()
        positions, words = self.positions.tolist(), self.words.tolist()
        found = []
        for place in range(field, len(ends), len(FIELDS)):
            begin = ends[place - 1] if place else 0
            found.append(tuple(zip(positions[begin : ends[place]], words[begin : ends[place]], strict=True)))
        return tuple(found)
