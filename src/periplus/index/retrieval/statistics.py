"""Statistics: what decides the weights of a query, apart from what a segment holds.

Document frequencies and the number of documents may be those of a larger collection than the snapshot that is asked:
a shard is given those of all shards, and scores and orders as one index would. What occurs in the snapshot decides only
what is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from periplus.index.format.fields import FIELDS


class Statistics(Protocol):
    @property
    def documents(self) -> int:
        """How many live documents there are."""

    @property
    def average_lengths(self) -> Sequence[float]:
        """Average words by field."""

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """Live documents with each term; 0 for one that nobody has."""


class GivenStatistics(Struct, frozen=True):
    """Statistics of a larger collection, as a plain record."""

    documents: int
    known: Mapping[str, int] = {}  # documents by term
    average_lengths: Sequence[float] = (0.0,) * len(FIELDS)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        known = self.known
        return [known.get(term, 0) for term in terms]
