"""Phrases and words near each other, as the kernels that look for them are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.errors import UsageError
from periplus.index.fields import PIECE_GAP
from periplus.index.query import FIELDS
from periplus.index.weights import LARGEST_IMPACT, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.plan import KnownTerm, MadeList
    from periplus.index.query import Group, IndexQuery
    from periplus.index.tables import Table

MAX_SLOP = PIECE_GAP - 1  # a wider one would reach from one piece of text into the next
LARGEST_WEIGHT = ((1 << 31) - 1) // LARGEST_IMPACT  # of a score that fits 32 bits
STATE = 4  # numbers before the heap: its size, matches, whether any were left out


class PhraseQuery(NamedTuple):
    """A query that asks for one phrase and nothing else."""

    group: Group
    field: int
    words: list[KnownTerm]
    weight: int
    prior_weight: int
    reach: int  # live documents that may match, at most


def checked_slop(slop: int) -> int:
    if not 0 <= slop <= MAX_SLOP:
        raise UsageError(f"a phrase cannot have {slop} words in between; give a number from 0 to {MAX_SLOP}")
    return slop


def norms_of(epoch: Epoch) -> NDArray[np.float64]:
    """What is baked into impacts, as ``kernels.phrases`` takes it."""
    averages = (max(average, 1.0) for average in epoch.averages)
    return np.array([epoch.k1, *epoch.weights, *epoch.penalties, *averages])


def only_phrase(query: IndexQuery, known: Callable[[str], KnownTerm], prior_weight: float) -> PhraseQuery | None:
    """``None`` for all queries that need a plan: those that ask for more, and where scores have to be scaled down."""
    if query.must_not or query.any_of or len(query.must) + len(query.should) != 1:
        return None
    group = (query.must or query.should)[0]
    if not group.phrase:
        return None
    checked_slop(group.slop)
    words = [known(term) for term in group.phrase]
    weight = fixed(group.weight * sum([word.idf for word in words]))
    prior = fixed(prior_weight) if prior_weight > 0 else 0
    if weight + prior > LARGEST_WEIGHT:
        return None
    field = FIELDS.index(group.field) if group.field else -1
    return PhraseQuery(group, field, words, weight, prior, min([word.frequency for word in words]))


def search_phrase(
    table: Table, query: PhraseQuery, norms: NDArray[np.float64], k: int, *, prune: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, bool]:
    """Numbers and scores of the best documents, best first; how many matches were met, and whether these are all."""
    from periplus.index.kernels.phrases import top_phrase

    numbers = [word.numbers for word in query.words]
    asked = phrase_query(query.group, query.field, numbers, query.weight, query.prior_weight, prune=prune)
    heap = np.zeros(STATE + 3 * k, np.int64)
    top_phrase(table.rows, asked, norms, heap)
    size, matching, is_cut, _ = heap[:STATE].tolist()
    return heap[STATE + 2 * k :][:size], heap[STATE : STATE + size], matching, not is_cut


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
