"""Which pages of a result list there are, and the addresses of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus.web.api.operations import MAX_DEPTH, SEARCH_PARAMETERS
from periplus.web.rendering.rendering import quoted

if TYPE_CHECKING:
    from periplus.records import SearchAnswer

WINDOW = 9  # page numbers shown at once

_DEFAULTS = {parameter.name: parameter.default for parameter in SEARCH_PARAMETERS}


def usual_order(tab: str) -> str:
    """How a list is sorted of which nobody said so: news by their date."""
    return "date" if tab == "news" else "relevance"


class Pages(Struct, frozen=True):
    current: int
    numbers: tuple[int, ...]
    previous: int | None
    next: int | None


def pages(answer: SearchAnswer) -> Pages:
    last = max(last_page(answer), answer.page)
    first = max(1, min(answer.page - WINDOW // 2, last - WINDOW + 1))
    return Pages(
        answer.page,
        tuple(range(first, min(first + WINDOW - 1, last) + 1)),
        answer.page - 1 if answer.page > 1 else None,
        answer.page + 1 if has_next(answer) else None,
    )


def has_next(answer: SearchAnswer) -> bool:
    """A page that is not full need not be the last: what host diversity kept back comes on pages of its own."""
    return answer.next is not None


def last_page(answer: SearchAnswer) -> int:
    if not has_next(answer):
        return answer.page
    reachable = min(answer.total.value, MAX_DEPTH - MAX_DEPTH % answer.size)
    return max(answer.page + 1, math.ceil(reachable / answer.size))


class Links:
    """The addresses of one list: what it was asked for is written once, and only changes anew."""

    def __init__(self, path: str, values: dict[str, Any]) -> None:
        self._start = f"{path}?"
        self._defaults = {**_DEFAULTS, "sort": usual_order(values.get("tab", ""))}
        told = [(name, value) for name, value in values.items() if value and value != self._defaults.get(name)]
        self._told = {name: "1" if value is True else str(value) for name, value in told}
        self._parts = {name: _part(name, value) for name, value in told}

    def values(self, without: tuple[str, ...] = ()) -> dict[str, str]:
        """What the list was asked for, for a form that changes something of it."""
        return {name: value for name, value in self._told.items() if name not in without}

    def __call__(self, **changes: Any) -> str:
        """The address of this list with some values changed; what equals its default is left out."""
        parts = self._parts.copy()
        for name, value in changes.items():
            if value and value != self._defaults.get(name):
                parts[name] = _part(name, value)
            else:
                parts.pop(name, None)
        return self._start + "&".join(parts.values())


def address(path: str, values: dict[str, Any], **changes: Any) -> str:
    return Links(path, values | changes)()


def _part(name: str, value: Any) -> str:
    return f"{name}={quoted('1' if value is True else value)}"
