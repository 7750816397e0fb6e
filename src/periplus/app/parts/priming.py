"""Cache priming: popular queries are answered again after each publication, while nobody else asks.

A new generation has an empty cache of answers, so the first visitors after a publication would pay for it. One query at
a time is answered, only when no search came for a moment, and for a few milliseconds of each look.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus.errors import PeriplusError
from periplus.records import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.parts.query_counts import QueryCounts
    from periplus.search import Engine

MOST = 200  # queries a generation
IDLE = 0.5  # seconds without a search
SLICE = 0.05  # seconds of one look


class Priming:
    def __init__(self, counts: QueryCounts, clock: Callable[[], float] = time.monotonic) -> None:
        self._counts, self._clock = counts, clock
        self._generation = 0
        self._left: list[SearchRequest] = []
        self.answered = 0  # queries, since the start

    def look(self, engine: Engine) -> None:
        """Answer some of what is left, if nobody is asking."""
        if engine.generation != self._generation:
            self._generation = engine.generation
            known = self._counts.popular(MOST)
            self._left = [request or SearchRequest(text) for text, request in reversed(known)]
            if self._left:
                self._answer(engine, self._left[-1])  # has the words of this generation gathered, if need be
        if not engine.has_words:
            return
        until = self._clock() + SLICE
        while self._left and self._counts.is_idle(IDLE) and self._clock() < until:
            self._answer(engine, self._left.pop())
            self.answered += 1

    def _answer(self, engine: Engine, request: SearchRequest) -> None:
        try:
            for _ in range(2):  # an answer is kept from the second time on
                engine.search(request)
        except PeriplusError:
            return  # of a request that this generation, or its rules, cannot answer any more
