"""What a part of this room finds, before it is an answer."""

from __future__ import annotations

from typing import NamedTuple


class Computed(NamedTuple):
    kind: str  # calculation, unit, currency, time, date or colour
    question: str  # as it was read
    answer: str
    detail: str = ""
    exact: bool = True
    sure: float = 1.0  # how sure the form of the query is, 0..1
    colour: str = ""  # as #rrggbb, to be shown
