"""Instant answers of a collection, as its settings want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.answers import Answerer
    from periplus.records import InstantAnswer
    from periplus.settings import SearchSettings


class InstantAnswers:
    """Nothing is loaded before the first query."""

    def __init__(self, folder: Path, chosen: SearchSettings) -> None:
        self._rates = folder / chosen.rates if chosen.rates else None
        self._answerer: Answerer | None = None

    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        if self._answerer is None:
            from periplus.answers import Answerer

            self._answerer = Answerer(self._rates)
        return self._answerer.answers(query, explain=explain)
