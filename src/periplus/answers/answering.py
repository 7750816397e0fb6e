"""``Answerer``: a query, and what can be computed of it here. Plain words have no answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from periplus.answers.arithmetic import MAX_LENGTH, calculate
from periplus.answers.colours import colour
from periplus.answers.currencies import Rates, exchange, read_rates
from periplus.answers.dates import when
from periplus.answers.functions import FUNCTIONS
from periplus.answers.numbers import Unanswerable, is_exactly_shown, shown
from periplus.answers.phrases import in_signs, without_end, without_lead
from periplus.answers.records import Computed
from periplus.answers.units import convert
from periplus.errors import UnfitFile
from periplus.records import Explanation, InstantAnswer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LEAST_SCORE = 0.5  # of an answer that is shown
TERSE = 0.7  # how sure a calculation is that may be anything else: 1/3
_MAY_BE = re.compile(r"[\d#√π(]|\btime\b|\bdays?\b|\bhex\b|\brgb\b|\bhsl\b|\bcolou?r\b|\bhow many\b", re.IGNORECASE)
# Written like a calculation and mostly none: dates, telephone numbers, versions, and what is said every day.
_YEAR = r"(?:19|20)\d\d"
_OTHER = re.compile(
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|[+(]?\d[\d)]*(?:[- /]\d+){2,}|\d+-\d{4,}|\d+/\d+/\d+"
    rf"|0\d+(?:\s*[-/]\s*\d+)+|\d+(?:\.\d+)+-\d+|{_YEAR}[-/](?:0[1-9]|1[0-2]|\d\d)|(?:0?[1-9]|1[0-2])/{_YEAR}"
    r"|24/7|9/11|7-11|50/50|80/20|20/20|9-5"
)
_TERSE = re.compile(r"\d+[-/]\d+")


class Answerer:
    """Thread-safe. ``rates`` is the operator's file of exchange rates; it is read again when it changes."""

    def __init__(self, rates: Path | None = None) -> None:
        self._path = rates
        self._known: tuple[float, Rates | None] = (-1.0, None)

    def answers(self, query: str, now: datetime | None = None, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        """What can be computed for ``query``; none for most, since most are words."""
        if len(query) > MAX_LENGTH or not _MAY_BE.search(query):
            return ()
        text, now = without_end(query.strip()), now or datetime.now(UTC)
        found = self._found(text, now)
        if found is None and (asked := without_lead(text)) != text:
            found = self._found(asked, now)
        if found is None or found.sure < LEAST_SCORE:
            return ()
        return (_answer(found, explain=explain),)

    def _found(self, text: str, now: datetime) -> Computed | None:
        ways: tuple[Callable[[], Computed | None], ...] = (
            lambda: colour(text),
            lambda: when(text, now),
            lambda: convert(text),
            lambda: self._exchanged(text),
            lambda: _calculated(text),
        )
        for way in ways:
            try:
                found = way()
            except (Unanswerable, OverflowError):
                found = None
            if found is not None:
                return found
        return None

    def _exchanged(self, text: str) -> Computed | None:
        rates = self._rates()
        return exchange(text, rates) if rates else None

    def _rates(self) -> Rates | None:
        if self._path is None:
            return None
        try:
            changed = self._path.stat().st_mtime
            if changed != self._known[0]:
                self._known = (changed, read_rates(self._path))
        except (OSError, UnfitFile):
            return self._known[1]  # the last that could be read
        return self._known[1]


def _calculated(text: str) -> Computed | None:
    if _OTHER.fullmatch(text):
        return None
    found = calculate(in_signs(text))
    calls = any(mark in FUNCTIONS for mark in found.marks)
    if not found.marks or not (found.numbers or calls) or found.marks in (("%",), ("°",)):
        return None
    exact = is_exactly_shown(found.value)
    sure = TERSE if _TERSE.fullmatch(text) else 1.0
    return Computed("calculation", found.reading, shown(found.value), exact=exact, sure=sure)


def _answer(found: Computed, *, explain: bool) -> InstantAnswer:
    why = Explanation(
        f"instant answer: {found.kind}",
        found.sure,
        "product of its parts",
        (
            Explanation("understood", 1.0, "share of the query that was read"),
            Explanation("form", found.sure, "how sure it is that nothing else was meant"),
        ),
    )
    return InstantAnswer(
        found.kind,
        found.question,
        found.answer,
        found.detail,
        found.exact,
        found.sure,
        found.colour,
        why if explain else None,
    )
