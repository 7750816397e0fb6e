"""The filters above a result list, as links: time, language, type, site, order.

Choices come from the matches, with their numbers where the engine counted them, else from the page; so nothing is
offered that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from periplus.records import Count, FilterCounts
from periplus.web.api.feeds import days_ago
from periplus.web.api.paging import Links, usual_order
from periplus.web.rendering.languages import language_name
from periplus.web.rendering.rendering import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.records import SearchAnswer

MAX_YEARS = 8
ALWAYS = ("sort", "safe")  # what can be chosen whatever was found
_AGES = (("Past day", 1), ("Past week", 7), ("Past month", 31), ("Past year", 366))


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


def filters(values: dict[str, Any], answer: SearchAnswer, root: str = "") -> list[Filter]:
    counts = answer.counts or FilterCounts()
    link = Links(f"{root}/search", {**values, "page": 1})
    made = (
        _time(link, values, counts),
        _values(
            link, "lang", "Any language", values, counts.language or _seen(r.language for r in answer), language_name
        ),
        _values(link, "type", "Any type", values, counts.type or _seen(r.type for r in answer), kind_name),
        _values(link, "site", "Any site", values, counts.site or _seen(r.site for r in answer), str),
        _order(link, values),
        _fitness(link, values),
    )
    more = counts.relation != "eq"
    shown = [item for item in made if item.active or len(item.choices) > 2 or item.name in ALWAYS]
    return [structs.replace(item, more=True) for item in shown] if more else shown


def _time(link: Links, values: dict[str, Any], counts: FilterCounts) -> Filter:
    spans = [(text, days_ago(days), "", 0) for text, days in _AGES]
    if len(counts.year) > 1:
        years = ((item.value, item.count) for item in counts.year[:MAX_YEARS] if item.value.isdigit())
        spans += [(year, f"{int(year):04}-01-01", f"{int(year) + 1:04}-01-01", number) for year, number in years]
    chosen = (values["after"], values["before"])
    known = {(after, before): text for text, after, before, _ in spans}
    active = any(chosen)
    now = known.get(chosen) or _year(*chosen) or " – ".join((values["after"] or "…", values["before"] or "…"))
    choices = (
        Choice("Any time", link(after="", before=""), not active),
        *(
            Choice(text, link(after=after, before=before), chosen == (after, before), number)
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


def _values(
    link: Links, name: str, anything: str, values: dict[str, Any], offered: tuple[Count, ...], naming: Any
) -> Filter:
    now = values[name]
    listed = [*offered, *([Count(now, 0)] if now and all(item.value != now for item in offered) else [])]
    choices = (
        Choice(anything, link(**{name: ""}), not now),
        *(Choice(naming(i.value), link(**{name: i.value}), now == i.value, i.count) for i in listed),
    )
    return Filter(name, naming(now) if now else anything, bool(now), choices)


def _order(link: Links, values: dict[str, Any]) -> Filter:
    names = {"relevance": "Best first", "date": "Newest first"}
    choices = tuple(Choice(text, link(sort=sort), values["sort"] == sort) for sort, text in names.items())
    return Filter("sort", names[values["sort"]], values["sort"] != usual_order(values.get("tab", "")), choices)


def _fitness(link: Links, values: dict[str, Any]) -> Filter:
    now = bool(values.get("safe"))
    choices = (
        Choice("Safe search: off", link(safe=False), not now),
        Choice("Safe search: on", link(safe=True), now),
    )
    return Filter("safe", "Safe search: on" if now else "Safe search: off", now, choices)
