"""Retrieval: a query to the kernel that answers it, and to a total.

1. A plan gives every list its weight, by the statistics (``plan.py``).
2. What may be found becomes part of the table of segments: columns, given numbers, live documents (``view.py``).
3. One of two kernels finds the best: block-max top-k with clauses, of which any and all of some words are cases
   (``core/retrieval/blockmax.py``), or one phrase alone (``core/retrieval/phrases.py``). Phrases among other words,
   prefixes and words in one field are made into lists first (``made.py``). By date, the first one keeps dates in place
   of scores.
4. The total: any of some words without conditions is counted when the frequencies of all forms add up to at most
   ``COUNT_LIMIT``; else it is at least the documents with the most frequent form. All other matches are counted, up to
   the deadline, and so are all in the order of dates. Totals of shards that were given the same statistics add up to
   that of one index.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from periplus.errors import UsageError
from periplus.index.format.postings import BEST_RANKS
from periplus.index.retrieval.asking import Manner, Weighted, best_of
from periplus.index.retrieval.hits import TopHits
from periplus.index.retrieval.made import MadeList, made_list
from periplus.index.retrieval.phrases import MAX_WORDS, PhraseQuery, search_phrase
from periplus.index.retrieval.plan import FORBIDDEN, OPTIONAL, Holder, make_plan
from periplus.index.retrieval.statistics import Statistics
from periplus.index.retrieval.terms import KnownTerm
from periplus.index.retrieval.view import EVERYTHING, Admission
from periplus.records import Total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.retrieval.asking import Best
    from periplus.index.retrieval.phrases import Norms
    from periplus.index.retrieval.plan import Plan
    from periplus.index.retrieval.query import IndexQuery
    from periplus.index.retrieval.tables import Table
    from periplus.index.retrieval.view import SegmentView

COUNT_LIMIT = 1_000  # frequencies of all forms together up to which matches of any word are counted
ORDERS = ("score", "date")


class Asked(Struct, frozen=True):
    """How a query is asked."""

    k: int
    prior_weight: float
    order: str
    statistics: Statistics | None
    admission: Admission
    deadline: float  # by ``time.perf_counter``


class Searched(Holder, Protocol):
    """The segments of one generation: a snapshot."""

    views: tuple[SegmentView, ...]

    @property
    def norms(self) -> Norms: ...

    def table_for(self, admission: Admission) -> Table:
        """All segments, with what may be found there."""
        ...

    def give(self, terms: Sequence[KnownTerm]) -> None:
        """Have the lists of terms be quick to search."""
        ...


def retrieve(snapshot: Searched, query: IndexQuery, asked: Asked) -> TopHits:
    """The best documents, exactly as if every stored impact had been added up."""
    if asked.order not in ORDERS:
        raise UsageError(f"cannot order by {asked.order!r}; choose one of {', '.join(ORDERS)}")
    plan = make_plan(query, snapshot, asked.statistics, asked.prior_weight)
    if asked.order == "date":
        return _newest(snapshot, plan, asked)
    if len(plan.lists) == 1 and asked.k > 0:
        entry = plan.lists[0]
        if isinstance(entry, MadeList) and 0 < len(entry.phrase) <= MAX_WORDS and plan.clauses[0] != FORBIDDEN:
            return _phrase(snapshot, plan, entry, asked)
    any_word = plan.is_any_word and asked.admission is EVERYTHING
    estimated = any_word and sum(plan.frequencies) > COUNT_LIMIT
    counted = not estimated and perf_counter() < asked.deadline
    rank = _rank(asked.k) if any_word else -1
    best = _best(snapshot, plan, asked, Manner(asked.k, rank, counted, deadline=asked.deadline))
    if best is None:
        return _nothing()
    if best.is_counted:
        total = Total(best.matches)
    elif any_word:
        total = _least_total(plan)
    else:
        total = Total(max(best.matches, len(best.numbers)), "gte")
    return TopHits(best.numbers, best.scores, total)


def _nothing() -> TopHits:
    return TopHits(np.empty(0, np.int64), np.empty(0), Total(0))


def _rank(k: int) -> int:
    """Which stored best impact at least ``k`` documents reach; -1: none."""
    return next((place for place, count in enumerate(BEST_RANKS) if count >= k), -1)


def _least_total(plan: Plan) -> Total:
    """Documents here with the form that the statistics know most documents of."""
    most = plan.lists[plan.frequencies.index(max(plan.frequencies))]
    return Total(most.frequency if isinstance(most, KnownTerm) else 0, "gte")


def _best(snapshot: Searched, plan: Plan, asked: Asked, manner: Manner) -> Best | None:
    """By weighted lists; None when nothing can match."""
    lists = _here(snapshot, plan)
    weighted = _weighted(plan, lists)
    if weighted is None:
        return None
    if asked.admission is EVERYTHING:
        snapshot.give(lists)
    if manner.k < 1:
        best = best_of(snapshot.table_for(asked.admission), weighted, replace(manner, k=1))
        best.numbers, best.scores = best.numbers[:0], best.scores[:0]
        return best
    return best_of(snapshot.table_for(asked.admission), weighted, manner)


def _here(snapshot: Searched, plan: Plan) -> list[KnownTerm]:
    """The lists of a plan, with those made that have to be. Their addresses are good for as long as they are held."""
    return [made_list(one, snapshot.views, plan.known) if isinstance(one, MadeList) else one for one in plan.lists]


def _weighted(plan: Plan, lists: list[KnownTerm]) -> Weighted | None:
    """What there is here, as the kernel takes it; None when nothing can match."""
    starts, clauses, order = plan.starts, plan.clauses, list(range(len(plan.clauses)))
    documents = [one.frequency for one in lists]
    sizes = [sum(documents[starts[group] : starts[group + 1]]) for group in order]
    if plan.required == len(order):  # a group each
        order.sort(key=sizes.__getitem__)
    elif plan.required > 1 or clauses[0] == FORBIDDEN:
        ranks = _ranks(plan, sizes)
        order.sort(key=lambda group: ranks[clauses[group]])
    pairs: list[int] = []
    begins, kept = [0], list[int]()
    for group in order:
        for at in range(starts[group], starts[group + 1]):
            if documents[at]:
                pairs += (plan.weights[at], lists[at].address)
        if sizes[group]:
            begins.append(len(pairs) >> 1)
            kept.append(clauses[group])
    wanted = len({clause for clause in kept if clause >= 0}) == plan.required if plan.required else OPTIONAL in kept
    return Weighted(pairs, begins, kept, plan.required, plan.prior_weight) if wanted else None


def _ranks(plan: Plan, sizes: list[int]) -> dict[int, tuple[int, int]]:
    """The order in which clauses are compared: those that seldom match first; optional, then forbidden ones last."""
    ranks = dict.fromkeys(range(plan.required), 0)
    for clause, size in zip(plan.clauses, sizes, strict=True):
        if clause >= 0:
            ranks[clause] += size
    last = max(ranks.values(), default=0) + 1
    places = {clause: (size, clause) for clause, size in ranks.items()}
    return {**places, OPTIONAL: (last, 0), FORBIDDEN: (last, 1)}


def _phrase(snapshot: Searched, plan: Plan, entry: MadeList, asked: Asked) -> TopHits:
    """One phrase alone."""
    words = [plan.known(word) for word in entry.phrase]
    if not min([word.frequency for word in words]):
        return _nothing()
    phrase = PhraseQuery(entry, words, plan.weights[0], plan.prior_weight)
    prune = perf_counter() >= asked.deadline
    return search_phrase(snapshot.table_for(asked.admission), phrase, snapshot.norms, asked.k, prune=prune)


def _newest(snapshot: Searched, plan: Plan, asked: Asked) -> TopHits:
    """Newest first, equal dates by key: found by their dates, then asked for their scores."""
    found = _best(snapshot, plan, asked, Manner(asked.k, by_date=True))
    if found is None:
        return _nothing()
    numbers = np.sort(found.numbers)
    only = replace(asked, admission=Admission(only=numbers))
    best = _best(snapshot, plan, only, Manner(len(numbers), counted=False)) if len(numbers) else found
    scores = {} if best is None else dict(zip(best.numbers.tolist(), best.scores.tolist(), strict=True))
    ordered = np.array([scores[number] for number in found.numbers.tolist()])
    return TopHits(found.numbers, ordered, Total(found.matches))
