"""A list as it is shown: near-duplicates collapsed, hosts kept apart, the operator's own results first.

Two texts are near-duplicates when their 64-bit fingerprints differ in at most ``NEAR_BITS``; only the first results of
a list are compared.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.search.exchange import NOBODY, Numbers, Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.search.listing import Ranking, Task

NEAR_BITS = 3
LEAST_COMPARED = 64  # results that are compared for near-duplicates; three times those wanted, when that is more
COMPARED = 3


class Shown(Struct, frozen=True):
    """What is told of each result besides its score."""

    more: Numbers  # how many more its host has, if it is the last one shown of that
    duplicates: Numbers  # near-duplicates collapsed into it
    pinned: Numbers  # 1: put first by the operator

    @classmethod
    def none(cls, count: int) -> Shown:
        nothing = np.zeros(count, np.int64)
        return cls(nothing, nothing, nothing)

    def picked(self, kept: Numbers) -> Shown:
        return Shown(self.more[kept], self.duplicates[kept], self.pinned[kept])


class Results(Struct, frozen=True):
    numbers: Numbers
    scores: Scores
    shown: Shown
    admitted: int  # hits that are left when each host has at most its number
    is_collapsed: bool


def arranged(task: Task, ranking: Ranking, wanted: int) -> Results:
    """The first ``wanted`` results of a ranking with at most ``per_host`` of a host, or all where that is no limit."""
    count = len(ranking.numbers)
    facts, memory = np.empty(2, np.int64), np.empty((3, count), np.int64)
    places, more, duplicates = memory
    prints = ranking.prints if task.collapse and count > 1 else NOBODY
    compared = max(LEAST_COMPARED, COMPARED * wanted)
    kept = _arrange()(
        ranking.hosts, prints, count, compared, NEAR_BITS, task.per_host, wanted, facts, places, more, duplicates
    )
    places = places[:kept]
    shown = Shown(more[:kept], duplicates[:kept], np.zeros(kept, np.int64))
    listed, admitted = facts.tolist()
    found = Results(ranking.numbers[places], ranking.scores[places], shown, admitted, listed < count)
    return _with_pinned(task.pinned, found) if task.pinned else found


@cache
def _arrange() -> Callable[..., int]:
    from periplus.core.score import arrange

    return arrange.entry


def _with_pinned(pinned: tuple[int, ...], found: Results) -> Results:
    """Pinned results first, whether the query finds them or not."""
    rest = np.flatnonzero(~np.isin(found.numbers, pinned))
    best = float(found.scores[0]) if len(found.scores) else 0.0
    place = {number: place for place, number in enumerate(found.numbers.tolist())}
    known = [place.get(number) for number in pinned]
    scores = [best if at is None else float(found.scores[at]) for at in known]
    more = [0 if at is None else int(found.shown.more[at]) for at in known]
    duplicates = [0 if at is None else int(found.shown.duplicates[at]) for at in known]
    after = found.shown.picked(rest)
    return Results(
        np.concatenate([np.array(pinned, np.int64), found.numbers[rest]]),
        np.concatenate([np.array(scores), found.scores[rest]]),
        Shown(
            np.concatenate([np.array(more, np.int64), after.more]),
            np.concatenate([np.array(duplicates, np.int64), after.duplicates]),
            np.concatenate([np.ones(len(pinned), np.int64), after.pinned]),
        ),
        found.admitted,
        found.is_collapsed,
    )
