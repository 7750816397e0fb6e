"""From a plan to an ordered list of documents.

Results form one fixed list for a query, profile and generation, whatever page is asked for: the best
``profile.candidates`` of the first pass are re-ranked, near-duplicates are collapsed, and among the re-ranked hosts are
kept apart. Everything behind them keeps its place.

1. ``Broker.top``: the first pass, with scores where a kernel has the profile's formula.
2. Candidates besides: pages that the query names, pages of sites that a lens raises.
3. Scores of all candidates, and what a lens adds.
4. ``diversity.arranged``: near-duplicates, hosts, pinned results. When too few are left, more hits are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from periplus.ranking import Part, Profile
from periplus.records import Explanation, Total
from periplus.search.ordering.diversity import Results, Shown, arranged
from periplus.search.ordering.lens import NO_LENS, adjusted, adjustment
from periplus.search.ordering.versions import newest_first
from periplus.search.query.lexicon import KnownWord
from periplus.search.query.plan import QueryPlan
from periplus.search.query.rules import LensRule
from periplus.search.shards.exchange import EVERYBODY, NOBODY, Hits, Numbers, Scores, ShardQuery, Visibility

if TYPE_CHECKING:
    from periplus.search.opening.context import SearchContext
    from periplus.search.shards.evidence import CandidateEvidence

MAX_FETCHED = 16_000  # hits asked of the first pass, at most
FAVOURED = 50  # candidates that a lens may bring in
SAME_SCORE = 1e-9  # as a share
MORE_AT_ONCE = 4  # times as many hits, when there were too few


class Task(Struct, frozen=True):
    """One plan with everything that decides its list of results."""

    plan: QueryPlan
    words: tuple[KnownWord, ...]  # of the plan, that occur
    profile: Profile
    order: str
    deadline: float
    per_host: int  # results of a host that count in full; 0: hosts are not kept apart
    sites: int = 1  # of the collection
    language: str = ""
    now: float = 0.0  # of a query that wants what is new; else 0
    named: tuple[int, ...] = ()  # documents that the query names by their address
    lens: LensRule = NO_LENS
    pinned: tuple[int, ...] = ()  # documents that the operator put first for this query
    collapse: bool = False  # near-duplicates
    visibility: Visibility = EVERYBODY
    title: int = 0  # the query as the print of a title

    @property
    def is_ranked(self) -> bool:
        """Not by date, nor by the link prior where there are only filters."""
        return self.order == "score" and not self.plan.browses


class Ranking(Struct, frozen=True):
    """The hits in their order, before any is left out."""

    numbers: Numbers
    scores: Scores
    hosts: Numbers
    prints: Numbers
    fits: Scores
    total: Total
    compared: int = 0  # the first so many have scores of one kind
    cut: bool = False  # there was no time to re-rank all candidates
    tree: Callable[[], Part] | None = None  # the scores of the re-ranked ones as parts
    ranked: Numbers = NOBODY  # those, in the order of ``tree``


class Listing(Struct, frozen=True):
    """Results in order, as far as was asked, and how their scores came about."""

    numbers: Numbers
    scores: Scores
    total: Total
    shown: Shown
    explained: Callable[[], Ranking] | None = None
    degraded: tuple[str, ...] = ()
    pinned: frozenset[int] = frozenset()
    in_full: int = 0  # results of a host that count in full

    def explain(self, number: int, score: float) -> Explanation:
        """How the score of one of the results came about."""
        ranking = self.explained() if self.explained is not None else None
        place = np.flatnonzero(ranking.ranked == number) if ranking is not None else NOBODY
        if number in self.pinned and not len(place):
            return Explanation("pinned", score, "put first by the operator's rules; the query itself does not rank it")
        if ranking is None or ranking.tree is None or not len(place):
            return Explanation("first pass", score, "order of the first pass: BM25F on stored impacts + link prior")
        own = ranking.tree().explain(int(place[0]))
        if abs(own.value - score) <= SAME_SCORE * abs(score):
            return own
        return Explanation("version", score, "the place of another version of this page, by its own score", (own,))


NO_RESULTS = Listing(NOBODY, np.zeros(0), Total(0), Shown.none())


def run(context: SearchContext, task: Task, wanted: int) -> Listing:
    """At least ``wanted`` results of the task's list, if there are so many."""
    if task.plan.empty:
        return NO_RESULTS
    candidates = task.profile.candidates if task.is_ranked else 0
    k = max(task.profile.candidates, wanted)
    while True:
        hits = context.shards.top(shard_query(context, task), k, candidates if task.profile.formula else 0)
        ranking = _ranking(context, task, hits) if candidates else _as_found(hits)
        ranking = newest_first(context, ranking) if task.now else ranking
        found = arranged(task, ranking, wanted)
        is_enough = len(found.numbers) >= wanted or hits.whole
        if is_enough or k >= (task.profile.limit if candidates else MAX_FETCHED):
            return _listing(context, task, ranking, found)
        if time.perf_counter() >= task.deadline:
            return _listing(context, task, ranking, found, is_late=True)
        k = min(MAX_FETCHED, k * MORE_AT_ONCE)


def shard_query(context: SearchContext, task: Task) -> ShardQuery:
    """The task as shards are asked it."""
    return ShardQuery(
        task.plan.query,
        task.words,
        context.generation.lexicon,
        task.profile,
        task.order,
        task.language,
        task.now,
        task.deadline,
        task.visibility,
        task.title,
    )


def _listing(context: SearchContext, task: Task, ranking: Ranking, found: Results, *, is_late: bool = False) -> Listing:
    notes = ["budget"] if ranking.cut or is_late else []
    if task.is_ranked and task.profile.reads_ranks and not context.generation.ranks.of(task.profile.name).known:
        notes.append("ranks")
    return Listing(
        found.numbers,
        found.scores,
        Total(max(ranking.total.value, len(task.pinned)), ranking.total.relation),
        found.shown,
        _explained(context, task, ranking) if task.is_ranked else None,
        tuple(notes),
        frozenset(task.pinned),
        task.profile.most_of_host or task.per_host,
    )


def _explained(context: SearchContext, task: Task, ranking: Ranking) -> Callable[[], Ranking]:
    """The ranking with its tree of parts, which is made when somebody asks for it."""
    return cache(lambda: ranking if ranking.tree is not None else _by_parts(context, task, _candidates(context, task)))


def _as_found(hits: Hits) -> Ranking:
    return Ranking(hits.numbers, hits.firsts, hits.hosts, hits.prints, hits.fits, hits.total)


def _ranking(context: SearchContext, task: Task, hits: Hits) -> Ranking:
    hits = _with_named(context, task, hits)
    hits = _with_favoured(context, task, hits)
    return _by_kernel(context, task, hits) if task.profile.formula else _by_parts(context, task, hits)


def _by_kernel(context: SearchContext, task: Task, hits: Hits) -> Ranking:
    """The candidates by the scores that shards gave them."""
    scores = hits.scores[: task.profile.candidates]
    missing = np.isnan(scores)
    if missing.any() or task.named:
        asked, named = shard_query(context, task), np.array(task.named, np.int64)
        again = missing | np.isin(hits.numbers[: len(scores)], named)
        scores = scores.copy()
        scores[again] = context.shards.scores(asked, hits.numbers[: len(scores)][again], named)
    if task.lens is not NO_LENS:
        scores = scores + adjustment(context.generation.hosts_of, task.lens, hits.hosts[: len(scores)], scores)
    return _ordered(task, hits, np.argsort(-scores, kind="stable"), scores, hits.total)


def _by_parts(context: SearchContext, task: Task, hits: Hits) -> Ranking:
    """The candidates by a formula over what is known of them: the reference profiles, and explanations."""
    head = hits.numbers[: task.profile.candidates]
    known = _known(context, task, head)
    ranked = task.profile.rank(known.evidence)
    by_number = np.argsort(head, kind="stable")
    rows = by_number[np.searchsorted(head[by_number], known.numbers)]  # of the candidates, among all hits
    score = adjusted(context.generation.hosts_of, task.lens, hits.hosts[rows], ranked.score)
    best = np.lexsort((rows, -score.values))
    best = best[ranked.admitted[best]]
    scores = np.full(len(head), np.nan)
    scores[rows] = score.values
    skipped = len(rows) - len(best)
    left = Total(hits.total.value - skipped, "gte" if skipped and not hits.whole else hits.total.relation)
    late = np.setdiff1d(np.arange(len(head)), rows)  # those that there was no time for keep their order
    order = np.concatenate([rows[best], late])
    whole = _ordered(task, hits, order, np.where(np.isnan(scores), hits.firsts[: len(head)], scores), left)
    compared = min(len(best), len(whole.numbers))
    return structs.replace(whole, compared=compared, cut=len(late) > 0, tree=lambda: score, ranked=known.numbers)


def _ordered(task: Task, hits: Hits, order: Numbers, scores: Scores, total: Total) -> Ranking:
    """The candidates in their order, then the other hits, as many as the profile lists."""
    count, limit = len(scores), task.profile.limit
    places, values = order[:limit], scores
    if count < len(hits.numbers):
        places = np.concatenate([order, np.arange(count, len(hits.numbers))])[:limit]
        values = np.concatenate([scores, hits.firsts[count:]])
    sorts = hits.hosts[places], hits.prints[places], hits.fits[places]
    return Ranking(hits.numbers[places], values[places], *sorts, total, min(count, len(places)))


def _candidates(context: SearchContext, task: Task) -> Hits:
    """The hits of which the first ones are re-ranked."""
    hits = context.shards.top(shard_query(context, task), task.profile.candidates, 0)
    return _with_favoured(context, task, _with_named(context, task, hits))


def _with_named(context: SearchContext, task: Task, hits: Hits) -> Hits:
    """Documents that the query names by address are candidates even when the first pass ranks them low."""
    if not task.named:
        return hits
    named = np.array(sorted(task.named), np.int64)
    missing = named[~np.isin(named, hits.numbers[: task.profile.candidates])]
    missing = missing[context.shards.matching(shard_query(context, task), missing)] if len(missing) else missing
    if not len(missing):
        return hits
    worth = float(hits.firsts[0]) if len(hits.firsts) else 0.0
    return _preceded(hits, context.shards.hits_of(shard_query(context, task), missing, worth))


def _with_favoured(context: SearchContext, task: Task, hits: Hits) -> Hits:
    """The best hits of sites that the lens raises or pins are candidates, in place of the last ones."""
    sites, query = (*task.lens.raised, *task.lens.pin), task.plan.query
    if not sites or query.filters.sites or task.visibility.only is not None or len(hits.numbers) <= FAVOURED:
        return hits
    narrowed = structs.replace(query, filters=structs.replace(query.filters, sites=sites))
    asked = structs.replace(shard_query(context, task), query=narrowed)
    return _preceded(hits, context.shards.top(asked, FAVOURED, FAVOURED if task.profile.formula else 0))


def _preceded(hits: Hits, first: Hits) -> Hits:
    """``first``, then those of ``hits`` that are not among them."""
    rest = ~np.isin(hits.numbers, first.numbers)
    both = {
        name: np.concatenate([getattr(first, name), getattr(hits, name)[rest]])
        for name in ("numbers", "firsts", "scores", "hosts", "prints", "fits")
    }
    return structs.replace(hits, **both)


def candidates(context: SearchContext, task: Task) -> CandidateEvidence:
    """What the re-ranking orders, and all it knows of them: for those who learn its weights."""
    return _known(context, task, _candidates(context, task).numbers[: task.profile.candidates])


def _known(context: SearchContext, task: Task, head: Numbers) -> CandidateEvidence:
    return context.shards.evidence(shard_query(context, task), head, np.array(task.named, np.int64))


def without(listing: Listing, number: int) -> Listing:
    """A list with one document left out."""
    kept = np.flatnonzero(listing.numbers != number)
    total = Total(max(0, listing.total.value - len(listing.numbers) + len(kept)), listing.total.relation)
    return structs.replace(picked(listing, kept), total=total)


def picked(listing: Listing, kept: Numbers) -> Listing:
    """Some of the results."""
    return structs.replace(
        listing, numbers=listing.numbers[kept], scores=listing.scores[kept], shown=listing.shown.picked(kept)
    )
