"""A list as it is shown: near-duplicates collapsed, hosts kept apart, the operator's own results first.

**Near-duplicates.** Two texts are near-duplicates when their 64-bit fingerprints differ in at most ``NEAR_BITS``. Of
copies the one is shown whose language fits the reader best, by its text and by whom its address says it is meant for.

**Hosts.** The first ``per_host`` results of a host count in full. Of its score, each further one is worth ``DECAY`` of
what the one before it is, and at least ``LEAST``. Results stand in the order of what they are worth. So a page gives
way only to pages with more than half of its score, and nothing is left out. A collection of few sites needs less: what
is taken off grows with the number of sites up to ``MANY_SITES``. Only re-ranked results are moved: the scores of those
behind them are of another kind. Reference profiles show what their formulas find; one of them shows at most three
results of a host, as its source does (``Profile.most_of_host``).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.search.shards.exchange import NOBODY, Numbers, Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.search.ordering.listing import Ranking, Task

NEAR_BITS = 3
DECAY = 0.85  # of the result of the same host before it
LEAST = 0.5  # of its score
MANY_SITES = 8  # from which on hosts are kept apart in full
NOTHING: Scores = np.zeros(0)


class Shown(Struct, frozen=True):
    """What is told of each result besides its score."""

    hosts: Numbers
    more: Numbers  # how many of its host follow, or are left out
    duplicates: Numbers  # near-duplicates collapsed into it
    pinned: Numbers  # 1: put first by the operator

    @classmethod
    def none(cls) -> Shown:
        return cls(NOBODY, NOBODY, NOBODY, NOBODY)

    def picked(self, kept: Numbers) -> Shown:
        return Shown(self.hosts[kept], self.more[kept], self.duplicates[kept], self.pinned[kept])


class Results(Struct, frozen=True):
    numbers: Numbers
    scores: Scores
    shown: Shown


@lru_cache(maxsize=64)
def host_shares(per_host: int, sites: int) -> Scores:
    """Of its score, what the n-th result of a host is worth in a collection of so many sites, and all behind the last.

    Empty where hosts are not kept apart: ``per_host`` is 0, or there is only one site.
    """
    strength = min(1.0, (sites - 1) / (MANY_SITES - 1))
    if not per_host or strength <= 0.0:
        return NOTHING
    decay, least = 1.0 - strength * (1.0 - DECAY), 1.0 - strength * (1.0 - LEAST)
    shares = [1.0] * per_host
    while shares[-1] > least:
        shares.append(max(least, shares[-1] * decay))
    return np.array(shares)


def arranged(task: Task, ranking: Ranking, wanted: int) -> Results:
    """The results of a ranking; near-duplicates are looked for as far as ``wanted`` results take."""
    count, profile = len(ranking.numbers), task.profile
    shares, limit = NOTHING, 0
    if task.per_host and ranking.compared:
        shares = host_shares(task.per_host, task.sites) if profile.keeps_apart else NOTHING
        limit = profile.most_of_host
    places, more, duplicates = np.empty((3, count), np.int64)
    kept = _arrange()(
        ranking.hosts,
        ranking.prints if task.collapse and count > 1 else NOBODY,
        ranking.fits,
        ranking.scores,
        shares,
        ranking.compared,
        limit,
        wanted,
        NEAR_BITS,
        places,
        more,
        duplicates,
    )
    places = places[:kept]
    shown = Shown(ranking.hosts[places], more[:kept], duplicates[:kept], np.zeros(kept, np.int64))
    found = Results(ranking.numbers[places], ranking.scores[places], shown)
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
    duplicates = [0 if at is None else int(found.shown.duplicates[at]) for at in known]
    after, nothing = found.shown.picked(rest), np.zeros(len(pinned), np.int64)
    return Results(
        np.concatenate([np.array(pinned, np.int64), found.numbers[rest]]),
        np.concatenate([np.array(scores), found.scores[rest]]),
        Shown(
            np.concatenate([nothing, after.hosts]),
            np.concatenate([nothing, after.more]),
            np.concatenate([np.array(duplicates, np.int64), after.duplicates]),
            np.concatenate([np.ones(len(pinned), np.int64), after.pinned]),
        ),
    )
