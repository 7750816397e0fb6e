"""From a plan to an ordered list of documents.

Results form one fixed list for a query, profile and generation, whatever page is asked for: the best
``profile.candidates`` of the first pass are re-ranked, everything behind them keeps its place, near-duplicates are
folded and host diversity is counted from rank 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from periplus.index.query import Filters
from periplus.index.rooms import HitsAt
from periplus.ranking import Part, Profile
from periplus.records import Explanation, Total
from periplus.search.arranging import arranged, counts_of, picked, spread
from periplus.search.columns import Mask, Numbers, browse, rejected
from periplus.search.evidence import Asked, Gathered
from periplus.search.lens import NO_LENS, adjusted, adjustment
from periplus.search.plan import Plan
from periplus.search.rules import LensRule
from periplus.search.shortlist import applies
from periplus.search.terms import Terms
from periplus.search.typed import WordsOnly

if TYPE_CHECKING:
    from periplus.index.snapshot import Snapshot
    from periplus.search.generations import Generation

MAX_FETCHED = 16_000  # hits asked of the first pass, at most
REACH_AFTER_FOLDING = 4  # times the results wanted, when folding left too few
FAVOURED = 50  # candidates that a lens may bring in

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
_NO_FILTERS = Filters()
_NOBODY = np.zeros(0, np.int64)


class Task(Struct, frozen=True):
    """One plan with everything that decides its list of results."""

    plan: Plan
    profile: Profile
    order: str
    deadline: float
    per_host: int  # 0 is no limit
    language: str = ""
    wants_fresh: bool = False
    named: frozenset[int] = frozenset()  # documents that the query names by their address
    only: Numbers | None = None  # the only documents that may be found: those with a link, for ``link:``
    lens: LensRule = NO_LENS
    pinned: tuple[int, ...] = ()  # documents that the operator put first for this query
    fold: bool = False  # fold near-duplicates
    unfit: Numbers | None = None  # documents that are left out, ascending
    words: WordsOnly | None = None  # of a plan that is words and nothing else


class Listing(Struct, frozen=True):
    """Results in order, as far as was asked, and how their scores came about."""

    numbers: Numbers
    scores: FloatArray
    total: Total
    complete: bool  # nothing follows the last of them
    tree: Callable[[], Part] | None = None  # the scores of the re-ranked ones as parts
    ranked: Callable[[], Numbers] = lambda: _NOBODY  # those, in the order of ``tree``
    # Three of each result: how many more its host has, if it is the last one shown of that; how many near-duplicates
    # are folded into it; whether it is pinned. Nothing: all are 0.
    counts: Numbers | None = None
    degraded: tuple[str, ...] = ()
    pinned: frozenset[int] = frozenset()
    terms: Terms | None = None  # the words of the query as the index knows them
    is_folded: bool = False  # near-duplicates were left out

    def explain(self, number: int, score: float) -> Explanation:
        place = np.flatnonzero(self.ranked() == number)
        if number in self.pinned and not len(place):
            return Explanation("pinned", score, "put first by the operator's rules; the query itself does not rank it")
        if self.tree is None or not len(place):
            return Explanation("first pass", score, "order of the first pass: BM25F on stored impacts + link prior")
        return self.tree().explain(int(place[0]))


def run(generation: Generation, task: Task, wanted: int) -> Listing:
    """At least ``wanted`` results of the task's list, if there are so many."""
    if task.plan.empty:
        return Listing(np.zeros(0, np.int64), np.zeros(0), Total(0), complete=True)
    listed = _way(task)
    listing = listed(generation, task, wanted)
    if listing.is_folded and len(listing.numbers) < wanted:  # folding left too few
        listing = listed(generation, task, REACH_AFTER_FOLDING * wanted)
    return listing


def _way(task: Task) -> Callable[[Generation, Task, int], Listing]:
    if task.plan.browses or task.order == "date":
        return _unranked
    return _shortlisted if applies(task) else _ranked


def _unranked(generation: Generation, task: Task, wanted: int) -> Listing:
    """By date, or by the link prior when there are only filters."""
    snapshot = generation.snapshot
    if task.plan.browses:
        numbers, scores = browse(snapshot, task.plan.query.filters, task.order)
        kept = ~rejected(snapshot, task.plan.excluded, numbers)
        kept &= np.isin(numbers, task.only) if task.only is not None else True
        kept &= _fit(task, numbers)
        numbers, scores, total, whole = numbers[kept], scores[kept], Total(int(kept.sum())), True
    else:
        numbers, scores, total, whole = _first_pass(generation, task, wanted)
    return arranged(generation, task, wanted, Listing(numbers, scores, total, whole))


def candidates(generation: Generation, task: Task) -> Gathered:
    """What the re-ranking orders, and all it knows of them: for those who learn its weights."""
    numbers, scores, _, _ = _first_pass(generation, task, task.profile.candidates)
    numbers, _ = _with_named(task, generation.snapshot, numbers, scores)
    return gathered(generation, task, numbers[: task.profile.candidates])


def gathered(generation: Generation, task: Task, head: Numbers) -> Gathered:
    asked = Asked(generation.ranks, task.deadline, task.language, task.wants_fresh, task.named)
    return Gathered(generation.snapshot, task.profile, Terms(generation.lexicon, task.plan.words), head, asked)


def _shortlisted(generation: Generation, task: Task, wanted: int) -> Listing:
    """``_ranked`` for the usual search: the same list, by kernels."""
    snapshot, profile, words = generation.snapshot, task.profile, task.words
    shortlists = generation.shortlists.get(profile.name) or generation.shortlists_of(profile)
    known = words is not None
    terms = Terms.of(words.words, words.known) if words is not None else Terms(generation.lexicon, task.plan.words)
    most = profile.candidates
    asked = max(most, 2 * wanted if task.per_host else wanted)
    while True:
        quick = snapshot.top_of_lists(*terms.lists, asked, profile.prior_weight) if known else None
        hits = quick or HitsAt.of(snapshot.top(task.plan.query, asked, prior_weight=profile.prior_weight))
        found = shortlists.of(generation, task, terms, hits, wanted)
        whole = hits.size < asked
        if whole or asked >= MAX_FETCHED or (hits.size >= most and hits.size >= wanted and found.shown >= wanted):
            break
        asked = min(MAX_FETCHED, asked * 4)
    shown = len(found.numbers)
    complete = whole or hits.size >= profile.limit
    again = _Again(generation, task)
    return Listing(
        found.numbers,
        found.scores,
        hits.total,
        shown < wanted or (complete and found.last + 1 == found.listed),
        again.tree,
        again.ranked,
        found.counts,
        terms=terms,
        is_folded=found.is_folded,
    )


class _Again:
    """What kernels scored, once more as a tree, when somebody asks for explanations."""

    def __init__(self, generation: Generation, task: Task) -> None:
        self._generation, self._task = generation, task

    @cached_property
    def _known(self) -> Gathered:
        return candidates(self._generation, self._task)

    def tree(self) -> Part:
        return self._task.profile.rank(self._known.evidence).score

    def ranked(self) -> Numbers:
        return self._known.numbers


def _ranked(generation: Generation, task: Task, wanted: int) -> Listing:
    snapshot, profile = generation.snapshot, task.profile
    numbers, scores, total, whole = _first_pass(generation, task, wanted)
    numbers, scores = _with_named(task, snapshot, numbers, scores)
    numbers, scores = _with_favoured(task, snapshot, numbers, scores)
    head = numbers[: profile.candidates]
    known = gathered(generation, task, head)
    values, order, tree = _scored(snapshot, task, known)
    done = known.numbers
    skipped = len(done) - len(order)
    listing = Listing(
        np.concatenate([done[order], numbers[len(done) :]])[: profile.limit],
        np.concatenate([values[order], scores[len(done) :]])[: profile.limit],
        Total(total.value - skipped, "gte" if skipped and not whole else total.relation),
        whole or len(numbers) - skipped >= profile.limit,
        tree,
        lambda: done,
        degraded=_degraded(generation, task, cut=len(done) < len(head)),
        terms=known.terms,
    )
    return arranged(generation, task, wanted, listing)


def _scored(snapshot: Snapshot, task: Task, known: Gathered) -> tuple[FloatArray, Numbers, Callable[[], Part]]:
    """The candidates' scores, the order they give, and the same as a tree, made when somebody asks for it."""

    def tree() -> Part:
        return adjusted(snapshot, task.lens, known.numbers, task.profile.rank(known.evidence).score)

    if task.profile.quick is None:
        ranked = task.profile.rank(known.evidence)
        values = adjusted(snapshot, task.lens, known.numbers, ranked.score).values
        order = np.lexsort((known.before, -values))
        return values, order[ranked.admitted[order]], tree
    values = task.profile.quick(known.candidates)
    if task.lens != NO_LENS:
        values = values + adjustment(snapshot, task.lens, known.numbers, values)
    return values, np.lexsort((known.before, -values)), tree


def _degraded(generation: Generation, task: Task, *, cut: bool) -> tuple[str, ...]:
    notes = ["budget"] if cut else []
    if task.profile.reads_ranks and not generation.ranks.known:
        notes.append("ranks")
    return tuple(notes)


def _first_pass(generation: Generation, task: Task, wanted: int) -> tuple[Numbers, FloatArray, Total, bool]:
    """Enough admitted hits for the re-ranking, the page and its diversity; whether these are all."""
    snapshot = generation.snapshot
    if task.only is not None:
        return _among(snapshot, task, task.only)
    need = max(task.profile.candidates, wanted)
    asked = max(task.profile.candidates, 2 * wanted if task.per_host else wanted)
    while True:
        hits = snapshot.top(task.plan.query, asked, prior_weight=task.profile.prior_weight, order=task.order)
        numbers, scores = _without_excluded(snapshot, task, hits.numbers, hits.scores)
        whole = len(hits.numbers) < asked
        if whole or asked >= MAX_FETCHED or (len(numbers) >= need and _shown(generation, task, numbers) >= wanted):
            left_out = 0 if task.unfit is None else int((~_fit(task, hits.numbers)).sum())
            return numbers, scores, _fewer(_total(snapshot, task.plan, hits.total), left_out, whole=whole), whole
        asked = min(MAX_FETCHED, asked * 4)


def _among(snapshot: Snapshot, task: Task, only: Numbers) -> tuple[Numbers, FloatArray, Total, bool]:
    """The few documents that may be found at all, out of as many hits as there may be."""
    hits = snapshot.top(task.plan.query, MAX_FETCHED, prior_weight=task.profile.prior_weight, order=task.order)
    kept = np.isin(hits.numbers, only)
    numbers, scores = _without_excluded(snapshot, task, hits.numbers[kept], np.asarray(hits.scores)[kept])
    return numbers, scores, Total(len(numbers), "eq" if len(hits.numbers) < MAX_FETCHED else "gte"), True


def _shown(generation: Generation, task: Task, numbers: Numbers) -> int:
    """How many would be left after host diversity; their order hardly matters for that."""
    if not task.per_host:
        return len(numbers)
    hosts = generation.snapshot.column("host", numbers)
    return len(spread(hosts, task.per_host, generation.nameless, len(numbers)).kept)


def _without_excluded(
    snapshot: Snapshot, task: Task, numbers: Numbers, scores: FloatArray
) -> tuple[Numbers, FloatArray]:
    if task.plan.excluded == _NO_FILTERS and task.unfit is None:
        return numbers, scores
    kept = _fit(task, numbers)
    if task.plan.excluded != _NO_FILTERS:
        kept &= ~rejected(snapshot, task.plan.excluded, numbers)
    return numbers[kept], scores[kept]


def _fit(task: Task, numbers: Numbers) -> Mask:
    """Which documents all ages may see, where that is asked for."""
    return np.ones(len(numbers), np.bool_) if task.unfit is None else ~np.isin(numbers, task.unfit)


def _fewer(total: Total, left_out: int, *, whole: bool) -> Total:
    return Total(max(0, total.value - left_out), total.relation if whole else "gte") if left_out else total


def _total(snapshot: Snapshot, plan: Plan, total: Total) -> Total:
    """All matches less the excluded ones; several kinds of exclusion overlap, so then it is only a bound."""
    if plan.excluded == _NO_FILTERS:
        return total
    kinds = [name for name in plan.excluded.__struct_fields__ if getattr(plan.excluded, name)]
    narrowed = [
        structs.replace(plan.query, filters=structs.replace(plan.query.filters, **{kind: getattr(plan.excluded, kind)}))
        for kind in kinds
    ]
    fewer = sum(snapshot.top(query, 1).total.value for query in narrowed)
    free = all(not getattr(plan.query.filters, kind) for kind in kinds)
    return Total(max(0, total.value - fewer), total.relation if len(kinds) == 1 and free else "gte")


def _with_named(task: Task, snapshot: Snapshot, numbers: Numbers, scores: FloatArray) -> tuple[Numbers, FloatArray]:
    """Documents that the query names by address are candidates even when the first pass ranks them low."""
    if not task.named:
        return numbers, scores
    head = set(numbers[: task.profile.candidates].tolist())
    named = np.array(sorted(task.named), np.int64)
    fit = named[_fit(task, named)].tolist()
    missing = [n for n in fit if n not in head and snapshot.matches(task.plan.query, n)]
    if not missing:
        return numbers, scores
    kept = ~np.isin(numbers, missing)
    worth = np.full(len(missing), float(scores[0]) if len(scores) else 0.0)
    return np.concatenate([np.array(missing, np.int64), numbers[kept]]), np.concatenate([worth, scores[kept]])


def _with_favoured(task: Task, snapshot: Snapshot, numbers: Numbers, scores: FloatArray) -> tuple[Numbers, FloatArray]:
    """The best hits of sites that the lens raises or pins are candidates, in place of the last ones."""
    sites = (*task.lens.raised, *task.lens.pin)
    if not sites or task.plan.query.filters.sites or task.only is not None or len(numbers) <= FAVOURED:
        return numbers, scores
    narrowed = structs.replace(task.plan.query, filters=structs.replace(task.plan.query.filters, sites=sites))
    hits = snapshot.top(narrowed, FAVOURED, prior_weight=task.profile.prior_weight)
    found, worth = _without_excluded(snapshot, task, hits.numbers, np.asarray(hits.scores))
    kept = ~np.isin(numbers, found)
    return np.concatenate([found, numbers[kept]]), np.concatenate([worth, scores[kept]])


def without(listing: Listing, number: int) -> Listing:
    """The same list with one document left out."""
    kept = listing.numbers != number
    total = Total(max(0, listing.total.value - int((~kept).sum())), listing.total.relation)
    return structs.replace(picked(listing, kept, counts_of(listing)), total=total)
