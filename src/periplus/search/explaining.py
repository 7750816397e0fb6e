"""Why a page has its score for a query, or why it is not found: missing words, filters, or not in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus import addresses
from periplus.errors import Corrupt
from periplus.index.query import Filters, IndexQuery
from periplus.records import Explanation
from periplus.search.columns import admitted, rejected
from periplus.search.execution import gathered, run
from periplus.search.requests import MAX_RESULTS
from periplus.search.text import clean

if TYPE_CHECKING:
    from periplus.index.query import Group
    from periplus.index.snapshot import Snapshot
    from periplus.search.execution import Task
    from periplus.search.generations import Generation
    from periplus.search.reading import Understood

NOT_FOUND = "not found"


def explain(generation: Generation, understood: Understood, task: Task, url: str) -> Explanation:
    """The score of the page as a tree of parts; zero, with the reasons as parts, when the query does not find it."""
    snapshot = generation.snapshot
    number = find_in_all(snapshot, url)
    if number is None:
        return Explanation(NOT_FOUND, 0.0, f"{url} is not in the index; periplus inspect tells how far it came")
    if understood.plan.empty:
        return Explanation(NOT_FOUND, 0.0, "the query asks for nothing")
    reasons = _reasons(snapshot, understood, number)
    if task.only is not None and number not in task.only:
        reasons.append(_reason("filtered: link", f"the page has no link to {understood.plan.link}"))
    if reasons:
        return Explanation(NOT_FOUND, 0.0, "; ".join(reason.name for reason in reasons), tuple(reasons))
    return _score(generation, task, number)


def find(snapshot: Snapshot, url: str) -> int | None:
    """By address in any spelling, or by the id of a document without one."""
    plain = clean(url)
    names = [name for name in (addresses.try_canonical(plain), plain, f"id:{plain}") if name]
    found = (snapshot.find(addresses.key(name)) for name in names)
    return next((number for number in found if number is not None), None)


def find_in_all(snapshot: Snapshot, url: str) -> int | None:
    """The same; ``Corrupt`` for a page that may be in a part of the index that is damaged."""
    number = find(snapshot, url)
    if number is None and "index" in snapshot.losses.codes:
        raise Corrupt(snapshot.losses.damage[0])
    return number


def _reasons(snapshot: Snapshot, understood: Understood, number: int) -> list[Explanation]:
    query = understood.plan.query
    reasons = [*_filters(snapshot, understood, number)]
    reasons += [
        _reason(f"missing: {_name(group)}", "the query demands it and the page does not have it")
        for group in query.must
        if not snapshot.matches(IndexQuery(must=(group,)), number)
    ]
    reasons += [
        _reason(f"missing: {' OR '.join(map(_name, choice))}", "the page has none of them")
        for choice in query.any_of
        if not snapshot.matches(IndexQuery(any_of=(choice,)), number)
    ]
    reasons += [
        _reason(f"excluded: {_name(group)}", "the page has what the query forbids")
        for group in query.must_not
        if snapshot.matches(IndexQuery(must=(group,)), number)
    ]
    if query.should and not (query.must or query.any_of) and not snapshot.matches(IndexQuery(query.should), number):
        reasons += [
            _reason(f"missing: {_name(group)}", "the page does not have this word in any form")
            for group in query.should
            if group.forms or group.prefix
        ]
    return reasons


def _reason(name: str, formula: str) -> Explanation:
    return Explanation(name, 0.0, formula)


def _filters(snapshot: Snapshot, understood: Understood, number: int) -> list[Explanation]:
    one = np.array([number], dtype=np.int64)
    wanted, unwanted = understood.plan.query.filters, understood.plan.excluded
    names = {"sites": "site", "languages": "lang", "types": "filetype", "before": "before", "after": "after"}
    reasons = []
    for field, name in names.items():
        single = Filters(**{field: getattr(wanted, field)})
        if single != Filters() and not admitted(snapshot, single, one)[0]:
            reasons.append(_reason(f"filtered: {name}", f"the page is not admitted by {name}:"))
        against = Filters(**{field: getattr(unwanted, field)})
        if against != Filters() and rejected(snapshot, against, one)[0]:
            reasons.append(_reason(f"filtered: -{name}", f"the page is excluded by -{name}:"))
    return reasons


def _name(group: Group) -> str:
    where = {"title": "intitle:", "address": "inurl:"}.get(group.field, "")
    if group.phrase:
        return f'{where}"{" ".join(group.phrase)}"'
    if group.prefix:
        return f"{where}{group.prefix}*"
    return where + (group.forms[0].term if group.forms else "")


def _score(generation: Generation, task: Task, number: int) -> Explanation:
    """As the listing has it; a page beyond the re-ranked ones is scored beside them."""
    listing = run(generation, task, MAX_RESULTS)
    places = np.flatnonzero(listing.numbers == number)
    if len(places) and (listing.ranked() == number).any():
        found = listing.explain(number, float(listing.scores[places[0]]))
        return structs.replace(found, formula=f"{found.formula}; rank {int(places[0]) + 1} of {listing.total.value}")
    evidence = gathered(generation, task, np.array([number], dtype=np.int64)).evidence
    ranked = task.profile.rank(evidence)
    found = ranked.score.explain(0)
    if not ranked.admitted[0]:
        return structs.replace(found, formula=f"{found.formula}; not shown: the profile skips pages of so low a rank")
    rank = f"rank {int(places[0]) + 1}" if len(places) else f"below rank {len(listing.numbers)}"
    return structs.replace(found, formula=f"{found.formula}; {rank}, ordered by the first pass")
