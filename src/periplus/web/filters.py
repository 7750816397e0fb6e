"""The filters above a result list, as links: time, language, type, site, order.

Choices come from the list itself (languages and sites seen on the page), so nothing is offered that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus.web.feeds import days_ago
from periplus.web.languages import language_name
from periplus.web.paging import address
from periplus.web.rendering import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.records import SearchAnswer

_AGES = (("Past week", 7), ("Past month", 31), ("Past year", 366))


class Choice(Struct, frozen=True):
    text: str
    address: str
    chosen: bool = False


class Filter(Struct, frozen=True):
    name: str
    text: str  # what is in force now
    active: bool
    choices: tuple[Choice, ...]


def kind_name(media_type: str) -> str:
    return type_name(media_type) or "web page"


def filters(values: dict[str, Any], answer: SearchAnswer) -> list[Filter]:
    made = (
        _time(values),
        _seen("lang", "Any language", values, (result.language for result in answer), language_name),
        _seen(
            "type", "Any type", values, (result.type for result in answer), lambda kind: type_name(kind) or "web page"
        ),
        _seen("site", "Any site", values, (result.site for result in answer), str),
        _order(values),
    )
    return [item for item in made if item.active or len(item.choices) > 2 or item.name == "sort"]


def _time(values: dict[str, Any]) -> Filter:
    ages = [(text, days_ago(days)) for text, days in _AGES]
    known = {after: text for text, after in ages}
    active = bool(values["after"] or values["before"])
    span = " – ".join((values["after"] or "…", values["before"] or "…"))
    now = known.get(values["after"], span) if active and not values["before"] else span
    choices = (
        Choice("Any time", _link(values, after="", before=""), not active),
        *(Choice(text, _link(values, after=after, before=""), values["after"] == after) for text, after in ages),
    )
    return Filter("time", now if active else "Any time", active, choices)


def _seen(name: str, anything: str, values: dict[str, Any], seen: Iterable[str], naming: Any) -> Filter:
    offered = sorted({item for item in seen if item} | ({values[name]} if values[name] else set()))
    choices = (
        Choice(anything, _link(values, **{name: ""}), not values[name]),
        *(Choice(naming(item), _link(values, **{name: item}), values[name] == item) for item in offered),
    )
    active = bool(values[name])
    return Filter(name, naming(values[name]) if active else anything, active, choices)


def _order(values: dict[str, Any]) -> Filter:
    names = {"relevance": "Best first", "date": "Newest first"}
    choices = tuple(Choice(text, _link(values, sort=sort), values["sort"] == sort) for sort, text in names.items())
    return Filter("sort", names[values["sort"]], values["sort"] != "relevance", choices)


def _link(values: dict[str, Any], **changes: Any) -> str:
    return address("/search", values, page=1, **changes)
