"""Seeds that brought nothing: one line each, as soon as it is known."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus.reasons import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.app import Collection

LOOK_EVERY = 1.0  # seconds
LINES = 20  # at most; a list of seeds may be long


class SeedLines:
    """Says each seed that failed once; ``look`` may be called as often as one likes."""

    def __init__(
        self, collection: Collection, seeds: Sequence[str], max_pages: int, say: Callable[[str], None]
    ) -> None:
        self._say = say
        self._collection = collection
        self._seeds = seeds
        self._max_pages = max_pages
        self._said: set[str] = set()
        self._next = 0.0

    def look(self, *, now: bool = False) -> int:
        """How many brought nothing, as of the last look."""
        from periplus.crawl import barren_seeds

        if not self._seeds or (not now and time.monotonic() < self._next):
            return len(self._said)
        self._next = time.monotonic() + LOOK_EVERY
        for seed in barren_seeds(self._collection.database, self._seeds, self._max_pages):
            if seed.url not in self._said:
                self._said.add(seed.url)
                self._tell(f"{seed.url}: {in_words(seed.reason, seed.detail)}")
        return len(self._said)

    def _tell(self, line: str) -> None:
        if len(self._said) <= LINES:
            self._say(line)
        elif len(self._said) == LINES + 1:
            self._say("further addresses brought nothing, too; periplus inspect URL says why")
