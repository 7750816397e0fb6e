"""Plan: a query as a table of lists with whole-number weights, the same for every segment.

Statistics (documents, frequencies) are those of the whole snapshot, so that the parts of a score do not depend on the
segment a document lies in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from periplus.errors import UsageError
from periplus.index.query import FIELDS, STRONG_SHARE
from periplus.index.weights import LARGEST_IMPACT, fixed, idf

if TYPE_CHECKING:
    from periplus.index.query import Group, IndexQuery

OPTIONAL = -1
FORBIDDEN = -2
LARGEST_SCORE = (1 << 31) - 1  # kernels add up in 32 bits
MAX_GROUPS = 256


class Statistics(Protocol):
    live: int

    def frequency(self, term: str) -> int: ...

    def prefix_frequency(self, prefix: str, field: int) -> int: ...


class PlannedList(Struct, frozen=True):
    """One list of a group: a term, or words in a row, or all words with a prefix; in one field or in any (-1)."""

    weight: int
    term: str = ""
    phrase: tuple[str, ...] = ()
    prefix: str = ""
    everything: bool = False
    field: int = -1
    is_made: bool = True  # for this query, because it does not stand in the file


class PlannedGroup(Struct, frozen=True):
    lists: tuple[PlannedList, ...]
    clause: int


class Plan(Struct, frozen=True):
    groups: tuple[PlannedGroup, ...]
    clauses: int  # required ones
    prior_weight: int

    @property
    def is_plain(self) -> bool:
        """Only optional groups, so that a document with the best posting of one list surely matches."""
        return self.clauses == 0 and all(group.clause == OPTIONAL for group in self.groups)


def make_plan(query: IndexQuery, statistics: Statistics, prior_weight: float) -> Plan:
    pairs = [(group, OPTIONAL) for group in query.should]
    pairs += [(group, FORBIDDEN) for group in query.must_not]
    pairs += [(group, clause) for clause, group in enumerate(query.must)]
    pairs += [(g, clause) for clause, groups in enumerate(query.any_of, len(query.must)) for g in groups]
    if len(pairs) > MAX_GROUPS:
        raise UsageError(f"the query has {len(pairs)} parts, more than {MAX_GROUPS}; shorten it")
    groups = [PlannedGroup(_lists(group, statistics), clause) for group, clause in pairs]
    if all(group.clause == FORBIDDEN for group in groups):
        groups.append(PlannedGroup((PlannedList(1, everything=True),), OPTIONAL))
    prior = fixed(prior_weight) if prior_weight > 0 else 0
    return _fitted(Plan(tuple(groups), len(query.must) + len(query.any_of), prior))


def _lists(group: Group, statistics: Statistics) -> tuple[PlannedList, ...]:
    field = FIELDS.index(group.field) if group.field else -1
    if group.phrase:
        weight = sum(idf(statistics.live, statistics.frequency(term)) for term in group.phrase)
        return (PlannedList(fixed(group.weight * weight), phrase=group.phrase, field=field),)
    if group.prefix:
        frequency = statistics.prefix_frequency(group.prefix, field)
        weight = idf(statistics.live, frequency)
        return (PlannedList(fixed(group.weight * weight), prefix=group.prefix, field=field),)
    frequencies = [statistics.frequency(form.term) for form in group.forms]
    strong = max((n for n, form in zip(frequencies, group.forms, strict=True) if form.share >= STRONG_SHARE), default=0)
    return tuple(
        PlannedList(
            fixed(group.weight * form.share * idf(statistics.live, max(strong, frequency))),
            form.term,
            field=field,
            is_made=field >= 0,
        )
        for form, frequency in zip(group.forms, frequencies, strict=True)
    )


def _fitted(plan: Plan) -> Plan:
    """The plan with weights scaled down, all alike, when the largest possible score would not fit 32 bits."""
    largest = plan.prior_weight + sum(
        max((entry.weight for entry in group.lists), default=0) for group in plan.groups if group.clause != FORBIDDEN
    )
    limit = LARGEST_SCORE // LARGEST_IMPACT
    if largest <= limit:
        return plan
    groups = tuple(
        PlannedGroup(tuple(_scaled(entry, limit, largest) for entry in group.lists), group.clause)
        for group in plan.groups
    )
    return Plan(groups, plan.clauses, plan.prior_weight * (limit // 2) // largest)


def _scaled(entry: PlannedList, limit: int, largest: int) -> PlannedList:
    weight = max(1, entry.weight * (limit // 2) // largest)
    return msgspec.structs.replace(entry, weight=weight)
