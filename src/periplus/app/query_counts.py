"""How often each query was asked since this server started, and how often nothing was found: counts, nothing else.

Kept in memory only. Who asked and when is not known here; a query that was asked once is shown to nobody, since it may
say who asked it. The table is bounded: when it is full, the half that was asked least is forgotten.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

MOST = 10_000  # queries
LONGEST = 100  # characters of a query that is counted
LEAST_SHOWN = 2  # times asked
SHOWN = 25


class QueryCounts:
    def __init__(self, *, on: bool = True) -> None:
        self._on = on
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self._fruitless: Counter[str] = Counter()
        self._total = 0
        self._without = 0

    def add(self, query: str, *, found: bool) -> None:
        text = " ".join(query.casefold().split())
        with self._lock:
            self._total += 1
            self._without += not found
            if not self._on or not text or len(text) > LONGEST:
                return
            for counter in (self._asked,) if found else (self._asked, self._fruitless):
                counter[text] += 1
                if len(counter) > MOST:
                    _halve(counter)

    def shown(self) -> dict[str, Any]:
        with self._lock:
            return {
                "asked": self._total,
                "without_result": self._without,
                "top": _rows(self._asked),
                "top_without_result": _rows(self._fruitless),
            }


def _halve(counter: Counter[str]) -> None:
    kept = counter.most_common(MOST // 2)
    counter.clear()
    counter.update(dict(kept))


def _rows(counter: Counter[str]) -> list[dict[str, Any]]:
    rows = sorted(counter.most_common(SHOWN), key=lambda item: (-item[1], item[0]))
    return [{"query": text, "count": number} for text, number in rows if number >= LEAST_SHOWN]
