"""The usual search by two kernels: the first pass's best are scored, then put in order, folded and kept apart by host.

What this makes is what ``execution`` makes of arrays step by step, which remains the way of everything less usual:
lenses, pins, exclusions, links, pages that a query names, and of profiles whose formula no kernel has.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.fields import PIECE_GAP
from periplus.index.query import FIELDS, Filters
from periplus.search.evidence import CHUNK, MAX_SIGHTINGS, NEITHER, language_worth
from periplus.search.folding import NEAR_BITS
from periplus.search.lens import NO_LENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.rooms import TopHits
    from periplus.index.snapshot import Snapshot
    from periplus.ranking import Profile
    from periplus.search.columns import Numbers
    from periplus.search.execution import Task
    from periplus.search.generations import Generation
    from periplus.search.terms import Terms

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

LEAST_COMPARED = 64  # results that are compared for near-duplicates; three times those wanted, when that is more
_NO_FILTERS = Filters()
_NO_PRINTS = np.zeros(0, np.int64)
_FACTS = 4


def applies(task: Task) -> bool:
    """Whether a search is of the usual kind."""
    usual = task.profile.fused is not None and task.profile.candidates <= CHUNK and task.order == "score"
    plain = not task.named and task.only is None and not task.pinned and task.unfit is None
    return usual and plain and task.lens == NO_LENS and task.plan.excluded == _NO_FILTERS


class Shortlist:
    """The results of one first pass: places among its hits, best first."""

    def __init__(self, generation: Generation, task: Task, terms: Terms, hits: TopHits, wanted: int) -> None:
        profile, numbers = task.profile, hits.numbers
        head = numbers[: profile.candidates]
        self.values = _scores(generation.snapshot, task, terms, head)
        self.head = head
        facts, out = self._listed(generation, task, numbers, wanted)
        kept, self.listed, self.shown, self.last = facts.tolist()
        rows = out[: 3 * kept]
        self.places: Numbers = rows[::3]
        self.more: list[int] = rows[1::3].tolist()
        self.folded: list[int] = rows[2::3].tolist()
        self.is_folded = self.listed < min(len(numbers), profile.limit)

    def _listed(self, generation: Generation, task: Task, numbers: Numbers, wanted: int) -> tuple[Numbers, Numbers]:
        prints = generation.fingerprints if task.fold else None
        starts, values = (prints.starts, prints.values) if prints is not None else (_NO_PRINTS, _NO_PRINTS)
        facts, out = np.zeros(_FACTS, np.int64), np.empty(3 * len(numbers), np.int64)
        _kernel()(
            numbers,
            self.values,
            task.profile.limit,
            generation.snapshot.table.rows,
            task.per_host,
            generation.nameless,
            starts,
            values,
            max(LEAST_COMPARED, 3 * wanted),
            NEAR_BITS,
            wanted,
            facts,
            out,
        )
        return facts, out

    def scores(self, hits: TopHits) -> FloatArray:
        """Of the results: those of the profile, behind the candidates those of the first pass."""
        if len(self.head) == len(hits.numbers):
            return self.values[self.places]
        return np.concatenate([self.values, hits.scores[len(self.head) :]])[self.places]


def _scores(snapshot: Snapshot, task: Task, terms: Terms, numbers: Numbers) -> FloatArray:
    fused = task.profile.fused
    assert fused is not None
    return fused(
        snapshot.table.rows,
        numbers,
        terms.sought,
        _fields(task.profile),
        snapshot.average_lengths,
        language_worth(snapshot, task.language) if task.language else NEITHER,
        time.time() if task.wants_fresh else 0.0,
        max(snapshot.live, 1),
        float(PIECE_GAP),
        MAX_SIGHTINGS,
    )


@cache
def _fields(profile: Profile) -> Numbers:
    kept = np.zeros(len(FIELDS), np.int64)
    kept[list(profile.fields)] = 1
    return kept


@cache
def _kernel() -> Callable[..., None]:
    from periplus.search.kernels.listing import listed

    return listed.entry
