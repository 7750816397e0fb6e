"""The filters above a result list, as links: time, language, type, site, order.

Choices come from the matches, with their numbers where the engine counted them, else from the page; so nothing is
offered that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from periplus.records import Count, FilterCounts
from periplus.web.feeds import days_ago
from periplus.web.languages import language_name
from periplus.web.paging import address
from periplus.web.rendering import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.records import SearchAnswer

MAX_YEARS = 8
_AGES = (("Past week", 7), ("Past month", 31), ("Past year", 366))


class Choice(Struct, frozen=True):
    text: str
    address: str
    chosen: bool = False
    count: int = 0  # 0 is not known


class Filter(Struct, frozen=True):
    name: str
    text: str  # what is in force now
    active: bool
    choices: tuple[Choice, ...]
    more: bool = False  # counts are lower bounds


def kind_name(media_type: str) -> str:
    return type_name(media_type) or "web page"


def filters(values: dict[str, Any], answer: SearchAnswer) -> list[Filter]:
    counts = answer.counts or FilterCounts()
    made = (
        _time(values, counts),
        _values("lang", "Any language", values, counts.language or _seen(r.language for r in answer), language_name),
        _values("type", "Any type", values, counts.type or _seen(r.type for r in answer), kind_name),
        _values("site", "Any site", values, counts.site or _seen(r.site for r in answer), str),
        _order(values),
        _fitness(values),
    )
    more = counts.relation != "eq"
    shown = [item for item in made if item.active or len(item.choices) > 2 or item.name == "sort"]
    return [structs.replace(item, more=True) for item in shown] if more else shown


def _time(values: dict[str, Any], counts: FilterCounts) -> Filter:
    spans = [(text, days_ago(days), "", 0) for text, days in _AGES]
    if len(counts.year) > 1:
        years = ((item.value, item.count) for item in counts.year[:MAX_YEARS] if item.value.isdigit())
        spans += [(year, f"{int(year):04}-01-01", f"{int(year) + 1:04}-01-01", number) for year, number in years]
    chosen = (values["after"], values["before"])
    known = {(after, before): text for text, after, before, _ in spans}
    active = any(chosen)
    now = known.get(chosen) or _year(*chosen) or " – ".join((values["after"] or "…", values["before"] or "…"))
    choices = (
        Choice("Any time", _link(values, after="", before=""), not active),
        *(
            Choice(text, _link(values, after=after, before=before), chosen == (after, before), number)
            for text, after, before, number in spans
        ),
    )
    return Filter("time", now if active else "Any time", active, choices)


def _year(after: str, before: str) -> str:
    """The year that these two days enclose; empty when they enclose something else."""
    whole = after.endswith("-01-01") and before.endswith("-01-01")
    return after[:4] if whole and int(before[:4]) == int(after[:4]) + 1 else ""


def _seen(items: Iterable[str]) -> tuple[Count, ...]:
    """What stands on this page, where nothing was counted."""
    return tuple(Count(item, 0) for item in sorted({item for item in items if item}))


def _values(name: str, anything: str, values: dict[str, Any], offered: tuple[Count, ...], naming: Any) -> Filter:
    now = values[name]
    listed = [*offered, *([Count(now, 0)] if now and all(item.value != now for item in offered) else [])]
    choices = (
        Choice(anything, _link(values, **{name: ""}), not now),
        *(Choice(naming(i.value), _link(values, **{name: i.value}), now == i.value, i.count) for i in listed),
    )
    return Filter(name, naming(now) if now else anything, bool(now), choices)


def _order(values: dict[str, Any]) -> Filter:
    names = {"relevance": "Best first", "date": "Newest first"}
    choices = tuple(Choice(text, _link(values, sort=sort), values["sort"] == sort) for sort, text in names.items())
    return Filter("sort", names[values["sort"]], values["sort"] != "relevance", choices)


def _fitness(values: dict[str, Any]) -> Filter:
    """Shown only where it was asked for, so that it can be taken away."""
    now = bool(values.get("safe"))
    choices = (
        Choice("All pages", _link(values, safe=False), not now),
        Choice("For all ages", _link(values, safe=True), now),
    )
    return Filter("safe", "For all ages" if now else "All pages", now, choices)


def _link(values: dict[str, Any], **changes: Any) -> str:
    return address("/search", values, page=1, **changes)
