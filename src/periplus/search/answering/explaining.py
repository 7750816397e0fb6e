"""Why a page has its score for a query, or why it is not found: missing words, filters, or not in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus.index import Filters, IndexQuery
from periplus.records import Explanation
from periplus.search.answering.requests import MAX_RESULTS
from periplus.search.opening.context import find_in_all
from periplus.search.ordering.listing import run, shard_query
from periplus.search.shards.exchange import EVERYBODY

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index import Group
    from periplus.search.opening.context import SearchContext
    from periplus.search.ordering.listing import Task
    from periplus.search.query.reading import Understood

NOT_FOUND = "not found"


def explain(context: SearchContext, understood: Understood, task: Task, url: str) -> Explanation:
    """The score of the page as a tree of parts; zero, with the reasons as parts, when the query does not find it."""
    number = find_in_all(context, url)
    if number is None:
        return Explanation(NOT_FOUND, 0.0, f"{url} is not in the index; periplus inspect tells how far it came")
    if understood.plan.empty:
        return Explanation(NOT_FOUND, 0.0, "the query asks for nothing")
    has = _Finding(context, task, number)
    reasons = _reasons(has, understood)
    if not context.shards.visible(task.visibility, np.array([number], np.int64))[0]:
        reasons.append(_reason("filtered: link", f"the page has no link to {understood.plan.link}"))
    if reasons:
        return Explanation(NOT_FOUND, 0.0, "; ".join(reason.name for reason in reasons), tuple(reasons))
    return _score(context, task, number)


class _Finding:
    """Whether a query finds one page."""

    def __init__(self, context: SearchContext, task: Task, number: int) -> None:
        self._shards, self._asked = context.shards, shard_query(context, structs.replace(task, visibility=EVERYBODY))
        self._number = np.array([number], np.int64)

    def __call__(self, query: IndexQuery) -> bool:
        asked = structs.replace(self._asked, query=query)
        return bool(self._shards.matching(asked, self._number)[0])


def _reasons(has: Callable[[IndexQuery], bool], understood: Understood) -> list[Explanation]:
    query = understood.plan.query
    reasons = [*_filters(has, query)]
    reasons += [
        _reason(f"missing: {_name(group)}", "the query demands it and the page does not have it")
        for group in query.must
        if not has(IndexQuery(must=(group,)))
    ]
    reasons += [
        _reason(f"missing: {' OR '.join(map(_name, choice))}", "the page has none of them")
        for choice in query.any_of
        if not has(IndexQuery(any_of=(choice,)))
    ]
    reasons += [
        _reason(f"excluded: {_name(group)}", "the page has what the query forbids")
        for group in query.must_not
        if has(IndexQuery(must=(group,)))
    ]
    if query.should and not (query.must or query.any_of) and not has(IndexQuery(query.should)):
        reasons += [
            _reason(f"missing: {_name(group)}", "the page does not have this word in any form")
            for group in query.should
            if group.forms or group.prefix
        ]
    return reasons


def _reason(name: str, formula: str) -> Explanation:
    return Explanation(name, 0.0, formula)


def _filters(has: Callable[[IndexQuery], bool], query: IndexQuery) -> list[Explanation]:
    names = {"sites": "site", "languages": "lang", "types": "filetype", "before": "before", "after": "after"}
    reasons = []
    for field, name in names.items():
        single = Filters(**{field: getattr(query.filters, field)})
        if single != Filters() and not has(IndexQuery(filters=single)):
            reasons.append(_reason(f"filtered: {name}", f"the page is not admitted by {name}:"))
        against = Filters(**{field: getattr(query.excluded, field)})
        if against != Filters() and has(IndexQuery(filters=against)):
            reasons.append(_reason(f"filtered: -{name}", f"the page is excluded by -{name}:"))
    return reasons


def _name(group: Group) -> str:
    where = {"title": "intitle:", "address": "inurl:"}.get(group.field, "")
    if group.phrase:
        return f'{where}"{" ".join(group.phrase)}"'
    if group.prefix:
        return f"{where}{group.prefix}*"
    return where + (group.forms[0].term if group.forms else "")


def _score(context: SearchContext, task: Task, number: int) -> Explanation:
    """As the listing has it; a page beyond the re-ranked ones is scored beside them."""
    listing = run(context, task, MAX_RESULTS)
    places = np.flatnonzero(listing.numbers == number)
    ranking = listing.explained() if listing.explained is not None else None
    if len(places) and ranking is not None and (ranking.ranked == number).any():
        found = listing.explain(number, float(listing.scores[places[0]]))
        return structs.replace(found, formula=f"{found.formula}; rank {int(places[0]) + 1} of {listing.total.value}")
    one, named = np.array([number], np.int64), np.array(task.named, np.int64)
    ranked = task.profile.rank(context.shards.evidence(shard_query(context, task), one, named).evidence)
    found = ranked.score.explain(0)
    if not ranked.admitted[0]:
        return structs.replace(found, formula=f"{found.formula}; not shown: the profile skips pages of so low a rank")
    rank = f"rank {int(places[0]) + 1}" if len(places) else f"below rank {len(listing.numbers)}"
    return structs.replace(found, formula=f"{found.formula}; {rank}, ordered by the first pass")
