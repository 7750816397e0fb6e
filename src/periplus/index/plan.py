"""Plan: a query as lists with whole-number weights, the same for every segment.

Statistics (documents, frequencies) are those of the whole snapshot, so that the parts of a score do not depend on the
segment a document lies in. A plan is made once a query, so it is flat: what belongs to a list stands at its place in
``numbers``, ``weights`` and ``sizes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.errors import UsageError
from periplus.index.phrases import checked_slop
from periplus.index.query import FIELDS, MAX_GROUPS, STRONG_SHARE
from periplus.index.weights import LARGEST_WEIGHTS, fixed, idf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.query import Group, IndexQuery, TermForm

OPTIONAL = -1
FORBIDDEN = -2
_INFINITE = float("inf")
FIRST_MADE = -2  # the n-th list made for a query has the number -2 - n


class KnownTerm(Struct, frozen=True, gc=False):
    """A term in a snapshot: live documents that have it, their idf, its number in every segment (-1: not there)."""

    frequency: int
    idf: float
    numbers: tuple[int, ...]
    lists: NDArray[np.int64]  # where its postings lie, for kernels (``kernels.lists_known``)
    address: int  # of ``lists``
    weight: int  # its idf as a whole number
    packed: bytes  # weight and address, as kernels take them
    size: int = 0  # bytes that its lists take
    kept: object = None  # all memory that these, and what is given to them later, lie in


class Statistics(Protocol):
    live: int
    segments: int

    def known(self, term: str) -> KnownTerm: ...

    def prefix_frequency(self, prefix: str, field: int) -> int: ...


class MadeList(Struct, frozen=True):
    """A list that stands in no file: words in a row, words with a prefix, a word in one field, or everything."""

    term: str = ""
    phrase: tuple[str, ...] = ()
    prefix: str = ""
    everything: bool = False
    field: int = -1
    slop: int = 0
    ordered: bool = True


class Plan:
    def __init__(self, statistics: Statistics, clauses: int) -> None:
        self.clauses = clauses  # required ones
        self.prior_weight = 0
        self.numbers: list[int] = []  # of each list in every segment, one list after the other
        self.weights: list[int] = []
        self.sizes: list[int] = []  # live documents, at most
        self.starts = [0]  # first list of each group
        self.group_clauses: list[int] = []
        self.made: list[MadeList] = []
        self._statistics = statistics

    @property
    def is_plain(self) -> bool:
        """Only optional groups, so that a document with the best posting of one list surely matches."""
        return self.clauses == 0 and FORBIDDEN not in self.group_clauses

    @property
    def reach(self) -> int:
        """How many postings decide about matches, at most."""
        sizes: dict[int, int] = {}
        for group, clause in enumerate(self.group_clauses):
            size = sum(self.sizes[self.starts[group] : self.starts[group + 1]])
            sizes[clause] = sizes.get(clause, 0) + size
        if self.clauses:
            return min(sizes.get(clause, 0) for clause in range(self.clauses))
        return sizes.get(OPTIONAL, 0)

    def numbers_in(self, segment: int) -> list[int]:
        """The numbers of all lists in one segment."""
        return self.numbers[segment :: self._statistics.segments]

    def add(self, group: Group, clause: int) -> None:
        if group.phrase or group.prefix or group.field:
            self._add_made(group)
        else:
            self._add_forms(group)
        self._end_group(clause)

    def add_everything(self) -> None:
        self._make(MadeList(everything=True), 1)
        self._end_group(OPTIONAL)

    def _end_group(self, clause: int) -> None:
        self.starts.append(len(self.weights))
        self.group_clauses.append(clause)

    def _add_forms(self, group: Group) -> None:
        known = [self._statistics.known(form.term) for form in group.forms]
        for term, weight in zip(known, form_weights(group.forms, known, group.weight), strict=True):
            if term.frequency:
                self.numbers.extend(term.numbers)
                self.weights.append(weight)
                self.sizes.append(term.frequency)

    def _add_made(self, group: Group) -> None:
        statistics = self._statistics
        field = FIELDS.index(group.field) if group.field else -1
        if group.phrase:
            weight = sum(statistics.known(term).idf for term in group.phrase)
            slop = checked_slop(group.slop)
            made = MadeList(phrase=group.phrase, field=field, slop=slop, ordered=group.ordered)
            self._make(made, fixed(group.weight * weight))
        elif group.prefix:
            weight = idf(statistics.live, statistics.prefix_frequency(group.prefix, field))
            self._make(MadeList(prefix=group.prefix, field=field), fixed(group.weight * weight))
        else:
            known = [statistics.known(form.term) for form in group.forms]
            for form, weight in zip(group.forms, form_weights(group.forms, known, group.weight), strict=True):
                self._make(MadeList(form.term, field=field), weight)

    def _make(self, made: MadeList, weight: int) -> None:
        self.numbers.extend([FIRST_MADE - len(self.made)] * self._statistics.segments)
        self.weights.append(weight)
        self.sizes.append(self._statistics.live)
        self.made.append(made)

    def fit(self, prior_weight: float) -> None:
        """Scale weights down, all alike, when the largest possible score would not fit 32 bits."""
        self.prior_weight = fixed(prior_weight) if prior_weight > 0 else 0
        limit = LARGEST_WEIGHTS
        if self.prior_weight + sum(self.weights) <= limit:
            return
        largest = self.prior_weight + sum(
            max(self.weights[self.starts[group] : self.starts[group + 1]], default=0)
            for group, clause in enumerate(self.group_clauses)
            if clause != FORBIDDEN
        )
        if largest > limit:
            self.weights = [max(1, weight * (limit // 2) // largest) for weight in self.weights]
            self.prior_weight = self.prior_weight * (limit // 2) // largest


def make_plan(query: IndexQuery, statistics: Statistics, prior_weight: float) -> Plan:
    parts = len(query.should) + len(query.must) + len(query.must_not) + sum(map(len, query.any_of))
    if parts > MAX_GROUPS:
        raise UsageError(f"the query has {parts} parts, more than {MAX_GROUPS}; shorten it")
    plan = Plan(statistics, len(query.must) + len(query.any_of))
    for group in query.should:
        plan.add(group, OPTIONAL)
    for group in query.must_not:
        plan.add(group, FORBIDDEN)
    for clause, group in enumerate(query.must):
        plan.add(group, clause)
    for clause, groups in enumerate(query.any_of, len(query.must)):
        for group in groups:
            plan.add(group, clause)
    if len(query.must_not) == parts:
        plan.add_everything()
    plan.fit(prior_weight)
    return plan


def form_weights(forms: tuple[TermForm, ...], known: Sequence[KnownTerm], weight: float = 1.0) -> list[int]:
    """What the forms of a word weigh."""
    return weights_of(forms, [term.idf for term in known], weight)


def weights_of(forms: tuple[TermForm, ...], worth: Sequence[float], weight: float) -> list[int]:
    """The same by their idf, which falls as the frequency rises, so the smaller one is the more frequent."""
    strong = min([one for one, form in zip(worth, forms, strict=True) if form.share >= STRONG_SHARE], default=_INFINITE)
    return [fixed(weight * form.share * min(strong, one)) for one, form in zip(worth, forms, strict=True)]
