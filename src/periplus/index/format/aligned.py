"""Ranges: what is too large for memory cut into parts: several sorted sequences at common values, so that they can be
merged a part at a time; one sequence by what its entries count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


class Ascending(Protocol):
    """A sorted sequence that may be too large for memory; none of its values is there twice."""

    def __len__(self) -> int: ...

    def at(self, place: int) -> Any:
        """The value at a place."""
        ...

    def before(self, value: Any) -> int:
        """How many values are smaller."""
        ...

    def reach(self, low: int, share: int) -> int:
        """Up to which place the values from ``low`` on weigh at most ``share``; ``low`` when the first weighs more."""
        ...

    @property
    def weight(self) -> int:
        """Of all values."""
        ...


def aligned_ranges(sequences: Sequence[Ascending], most: int) -> Iterator[list[tuple[int, int]]]:
    """Ranges of each sequence that hold the same values and together weigh at most ``most``, in order.

    A value that weighs more is in ranges of its own.
    """
    whole = max(1, sum(sequence.weight for sequence in sequences))
    shares = [max(1, most * sequence.weight // whole) for sequence in sequences]
    lows = [0] * len(sequences)
    while any(low < len(sequence) for sequence, low in zip(sequences, lows, strict=True)):
        highs = _highs(sequences, lows, shares)
        yield list(zip(lows, highs, strict=True))
        lows = highs


def _highs(sequences: Sequence[Ascending], lows: Sequence[int], shares: Sequence[int]) -> list[int]:
    going = list(zip(sequences, lows, shares, strict=True))
    reached = [(sequence, sequence.reach(low, share)) for sequence, low, share in going if low < len(sequence)]
    cuts = [sequence.at(high) for sequence, high in reached if high < len(sequence)]
    if not cuts:
        return [len(sequence) for sequence in sequences]
    cut = min(cuts)
    highs = [max(low, sequence.before(cut)) for sequence, low, _ in going]
    if highs != list(lows):
        return highs
    return [low + (low < len(sequence) and sequence.at(low) == cut) for sequence, low, _ in going]


def bounded_runs(counts: NDArray[np.integer[Any]], limit: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose counts add up to at most ``limit`` (or that hold a single entry)."""
    ends = np.cumsum(counts)
    runs, low = [], 0
    while low < len(counts):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + limit, "right")))
        runs.append((low, high))
        low = high
    return runs
