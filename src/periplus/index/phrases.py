"""Phrases and words near each other, as the kernels that look for them are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.errors import UsageError
from periplus.index.fields import PIECE_GAP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.plan import MadeList
    from periplus.index.query import Group, IndexQuery

MAX_SLOP = PIECE_GAP - 1  # a wider one would reach from one piece of text into the next


def checked_slop(slop: int) -> int:
    if not 0 <= slop <= MAX_SLOP:
        raise UsageError(f"a phrase cannot have {slop} words in between; give a number from 0 to {MAX_SLOP}")
    return slop


def norms_of(epoch: Epoch) -> NDArray[np.float64]:
    """What is baked into impacts, as ``kernels.phrases`` takes it."""
    averages = (max(average, 1.0) for average in epoch.averages)
    return np.array([epoch.k1, *epoch.weights, *epoch.penalties, *averages])


def only_phrase(query: IndexQuery) -> Group | None:
    """The phrase of a query that asks for nothing else."""
    if query.must_not or query.any_of or len(query.must) + len(query.should) != 1:
        return None
    group = (query.must or query.should)[0]
    return group if group.phrase else None


def phrase_query(
    entry: MadeList | Group,
    field: int,
    numbers: Sequence[Sequence[int]],
    weight: int = 0,
    prior_weight: int = 0,
    *,
    prune: bool = False,
) -> NDArray[np.int64]:
    """``numbers`` has a row a word: its number in every segment."""
    parts = [len(numbers[0]), len(numbers), field, entry.slop, int(entry.ordered), weight, prior_weight, int(prune)]
    for row in numbers:
        parts += row
    return np.array(parts, np.int64)
