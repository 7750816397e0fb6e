"""Plan: a query as lists with whole-number weights, the same for every segment.

Weights come from statistics, which may be those of a larger collection; which lists there are comes from the snapshot.
So the parts of a score depend neither on the segment nor on the shard that a document lies in. A plan is made once a
query, so it is flat: what belongs to a list stands at its place in ``terms``, ``weights`` and ``frequencies``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from periplus.errors import UsageError
from periplus.index.format.fields import FIELDS
from periplus.index.retrieval.made import MadeList
from periplus.index.retrieval.phrases import checked_slop
from periplus.index.retrieval.query import MAX_GROUPS, STRONG_SHARE
from periplus.index.retrieval.weights import LARGEST_WEIGHTS, fixed, idf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.retrieval.query import Group, IndexQuery
    from periplus.index.retrieval.statistics import Statistics
    from periplus.index.retrieval.terms import KnownTerm
    from periplus.text import TermForm

OPTIONAL = -1
FORBIDDEN = -2
_INFINITE = float("inf")


class Holder(Protocol):
    """What holds the lists: a snapshot."""

    live: int

    def known_all(self, terms: Sequence[str]) -> list[KnownTerm]: ...

    def prefix_frequency(self, prefix: str, field: int) -> int: ...


class Plan:
    def __init__(self, holder: Holder, statistics: Statistics | None, runs: Sequence[Run], required: int) -> None:
        """Without statistics, those of the holder count."""
        self.required = required  # clauses
        self.prior_weight = 0
        self.lists: list[KnownTerm | MadeList] = []
        self.weights: list[int] = []
        self.frequencies: list[int] = []  # documents by the statistics; of a made list, all there are
        self.starts = [0]  # first list of each group
        self.clauses: list[int] = []  # of each group
        self.is_any_word = not required  # only optional groups of words: whoever has one of their lists matches
        self._holder, self._is_given = holder, statistics is not None
        self._terms = terms = terms_of(runs)
        self._known = known = holder.known_all(terms)
        self.documents = documents = holder.live if statistics is None else statistics.documents
        counts = [one.frequency for one in known] if statistics is None else statistics.frequencies(terms)
        self._add_all(runs, counts, [idf(documents, count) for count in counts])

    def _add_all(self, runs: Sequence[Run], counts: list[int], worth: list[float]) -> None:
        """Groups of words as they are, all others as lists that are to be made."""
        at, known = 0, self._known
        lists, weights, frequencies = self.lists, self.weights, self.frequencies
        for clause, groups in runs:
            for group in groups:
                if group.phrase or group.prefix or group.field:
                    end = at + len(group.phrase or group.forms)
                    self._add_made(group, worth[at:end])
                    at = end
                else:
                    strong, asked = _strong(group.forms, worth, at), group.weight
                    for form in group.forms:
                        count, term = counts[at], known[at]
                        if count or term.frequency:
                            lists.append(term)
                            weights.append(fixed(asked * form.share * min(strong, worth[at])))
                            frequencies.append(count)
                        at += 1
                self.starts.append(len(weights))
                self.clauses.append(clause)

    def known(self, term: str) -> KnownTerm:
        """A term of the query."""
        return self._known[self._terms.index(term)]

    def _add_made(self, group: Group, worth: Sequence[float]) -> None:
        field = FIELDS.index(group.field) if group.field else -1
        if group.phrase:
            slop = checked_slop(group.slop)
            made = MadeList(phrase=group.phrase, field=field, slop=slop, ordered=group.ordered)
            self.make(made, fixed(group.weight * sum(worth)))
        elif group.prefix and (group.forms or self._is_given):
            # The most frequent of the words that came with it decides the weight.
            words = tuple([form.term for form in group.forms])
            made = MadeList(prefix=group.prefix, words=words, field=field)
            self.make(made, fixed(group.weight * min(worth, default=0.0)))
        elif group.prefix:
            weight = idf(self.documents, self._holder.prefix_frequency(group.prefix, field))
            self.make(MadeList(prefix=group.prefix, field=field), fixed(group.weight * weight))
        else:
            strong = _strong(group.forms, worth, 0)
            for form, own in zip(group.forms, worth, strict=True):
                self.make(MadeList(form.term, field=field), fixed(group.weight * form.share * min(strong, own)))

    def add_everything(self) -> None:
        self.make(MadeList(everything=True), 1)
        self.starts.append(len(self.weights))
        self.clauses.append(OPTIONAL)

    def make(self, made: MadeList, weight: int) -> None:
        self.lists.append(made)
        self.weights.append(weight)
        self.frequencies.append(self.documents)
        self.is_any_word = False

    def fit(self, prior_weight: float) -> None:
        """Scale weights down, all alike, when the largest possible score would not fit 32 bits."""
        self.prior_weight = fixed(prior_weight) if prior_weight > 0 else 0
        limit = LARGEST_WEIGHTS
        if self.prior_weight + sum(self.weights) <= limit:
            return
        largest = self.prior_weight + sum(
            max(self.weights[self.starts[group] : self.starts[group + 1]], default=0)
            for group, clause in enumerate(self.clauses)
            if clause != FORBIDDEN
        )
        if largest > limit:
            self.weights = [max(1, weight * (limit // 2) // largest) for weight in self.weights]
            self.prior_weight = self.prior_weight * (limit // 2) // largest


Run = tuple[int, "Sequence[Group]"]  # a clause and its groups


def terms_of(runs: Sequence[Run]) -> list[str]:
    """All terms that are to be looked up, group after group."""
    terms: list[str] = []
    for _, groups in runs:
        for group in groups:
            if group.phrase:
                terms += group.phrase
            else:
                terms += [form.term for form in group.forms]
    return terms


def make_plan(query: IndexQuery, holder: Holder, statistics: Statistics | None, prior_weight: float) -> Plan:
    runs: list[Run] = [(clause, (group,)) for clause, group in enumerate(query.must)]
    runs += enumerate(query.any_of, len(runs))
    required = len(runs)
    if query.should:
        runs.append((OPTIONAL, query.should))
    if query.must_not:
        runs.append((FORBIDDEN, query.must_not))
    plan = Plan(holder, statistics, runs, required)
    if len(plan.clauses) > MAX_GROUPS:
        raise UsageError(f"the query has {len(plan.clauses)} parts, more than {MAX_GROUPS}; shorten it")
    if query.must_not:
        plan.is_any_word = False
    if len(query.must_not) == len(plan.clauses):
        plan.add_everything()
    plan.fit(prior_weight)
    return plan


def _strong(forms: tuple[TermForm, ...], worth: Sequence[float], at: int) -> float:
    """The idf of the most frequent strong form of a word, of which the first has its idf at a place: it falls as the
    frequency rises."""
    strong = _INFINITE
    for place, form in enumerate(forms, at):
        if form.share >= STRONG_SHARE and worth[place] < strong:
            strong = worth[place]
    return strong
