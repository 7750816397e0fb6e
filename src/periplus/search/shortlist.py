"""The usual search by two kernels: the first pass's best are scored, then put in order, folded and kept apart by host.

What this makes is what ``execution`` makes of arrays step by step, which remains the way of everything less usual:
lenses, pins, exclusions, links, pages that a query names, and of profiles whose formula no kernel has.

To bring a query's numbers to a kernel takes longer than many a kernel, so these take addresses: what a generation knows
is laid out once (``Shortlists``), and each thread keeps memory in which a query and its list have their places.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index.fields import PIECE_GAP
from periplus.index.pages import pages
from periplus.index.query import Filters
from periplus.search.columns import Numbers
from periplus.search.evidence import CHUNK, MAX_SIGHTINGS, NEITHER, language_worth
from periplus.search.folding import NEAR_BITS
from periplus.search.lens import NO_LENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.rooms import HitsAt
    from periplus.ranking import Profile
    from periplus.search.execution import Task
    from periplus.search.folding import Fingerprints
    from periplus.search.generations import Generation
    from periplus.search.terms import Terms

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

LEAST_COMPARED = 64  # results that are compared for near-duplicates; three times those wanted, when that is more
LANGUAGES_KEPT = 256
SMALLEST = 1 << 18  # words of 64 bits that a thread keeps
LARGEST = 1 << 20  # those that it keeps at most; more are given back after the query
_NO_FILTERS = Filters()
_NOTHING: dict[int, int] = {}
_FACTS = 6  # numbers that tell of a list; kernels know their places
_COLUMNS = 4  # of a result: its number and score, how many more its host has, how many are folded into it


def applies(task: Task) -> bool:
    """Whether a search is of the usual kind."""
    usual = task.profile.fused is not None and task.profile.candidates <= CHUNK and task.order == "score"
    plain = not task.named and task.only is None and not task.pinned and task.unfit is None
    return usual and plain and task.lens is NO_LENS and task.plan.excluded == _NO_FILTERS


class Memory(Struct):
    """That kernels work in, seen as numbers, fractions and bytes."""

    words: int
    numbers: Numbers
    fractions: FloatArray
    view: memoryview
    address: int


class _Kept(threading.local):
    own: Memory | None = None


_kept = _Kept()


def _memory(words: int) -> Memory:
    """That of this thread, or more of it."""
    kept = _kept.own
    if kept is not None and kept.words >= words:
        return kept
    numbers = pages(max(SMALLEST, words))
    made = Memory(len(numbers), numbers, numbers.view(np.float64), numbers.data.cast("B"), numbers.ctypes.data)
    if made.words <= LARGEST:
        _kept.own = made
    return made


class Shortlist(Struct, frozen=True):
    """The results of one first pass, best first."""

    numbers: Numbers
    scores: FloatArray
    more: dict[int, int]  # the last result shown of a host -> how many of that host were left out
    duplicates: dict[int, int]  # number -> how many near-duplicates are folded into it
    listed: int  # results of which these are the first that hosts admit
    shown: int  # hits that hosts admit
    last: int  # place of the last result among those listed
    is_folded: bool


class Prints(NamedTuple):
    """Where fingerprints are: of each segment the first, and all."""

    starts: int
    values: int
    kept: Fingerprints


class Shortlists:
    """Those of one generation and profile."""

    def __init__(self, generation: Generation, profile: Profile) -> None:
        from periplus.search.kernels.listing import listed

        snapshot = generation.snapshot
        assert profile.fused is not None
        fused = profile.fused(
            snapshot.average_lengths, profile.fields, max(snapshot.live, 1), float(PIECE_GAP), MAX_SIGHTINGS
        )
        self._kept = fused, snapshot.table  # whose addresses are used
        self._snapshot = snapshot  # not the generation, which holds on to this
        self._score, self._constants = fused.run, fused.constants
        self._list: Callable[..., int] = listed.entry
        self._nameless = generation.nameless
        self._table, self._segments = snapshot.table.address, snapshot.table.segments
        self._most, self._longest = profile.candidates, profile.limit
        self._languages: dict[str, tuple[int, int, FloatArray]] = {}
        self._prints: Prints | None = None

    def of(self, generation: Generation, task: Task, terms: Terms, hits: HitsAt, wanted: int) -> Shortlist:
        sought, size = terms.sought, hits.size
        scored = min(size, self._most)
        own = len(sought) // 8 + scored + _FACTS + _COLUMNS * size  # words: the query, scores, the list
        memory = _memory(own)
        if self._prints is None and task.fold:
            self._prints = _prints(generation)
        while True:
            memory.view[: len(sought)] = sought
            scores, work = memory.address + len(sought), memory.address + 8 * own
            needed = self._scored(task, len(sought) // 8, hits, scored, memory, scores, work)
            needed = needed or self._ordered(task, hits, scored, wanted, memory, scores, work)
            if not needed:
                return self._read(memory, own - _FACTS - _COLUMNS * size, size)
            memory = _memory(own + needed)

    def _scored(
        self, task: Task, sought: int, hits: HitsAt, scored: int, memory: Memory, scores: int, work: int
    ) -> int:
        """Writes scores; says how many words of memory it takes to work in when there are too few."""
        languages, count, _ = self._languages.get(task.language) or self._worth(task.language)
        now = time.time() if task.wants_fresh else 0.0
        room = memory.words - (work - memory.address) // 8
        return self._score(
            self._table, self._segments, hits.numbers, scored, memory.address, sought, self._constants,
            languages, count, now, work, room, scores,
        )  # fmt: skip

    def _ordered(
        self, task: Task, hits: HitsAt, scored: int, wanted: int, memory: Memory, scores: int, work: int
    ) -> int:
        """The same with the list, which comes behind the scores."""
        prints = self._prints if task.fold else None
        starts, values = (prints.starts, prints.values) if prints is not None else (0, 0)
        room = memory.words - (work - memory.address) // 8
        return self._list(
            hits.numbers, hits.size, scores, scored, hits.scores, self._longest, self._table, self._segments,
            task.per_host, self._nameless, starts, values, max(LEAST_COMPARED, 3 * wanted), NEAR_BITS,
            wanted, work, room, scores + 8 * scored,
        )  # fmt: skip

    def _read(self, memory: Memory, at: int, size: int) -> Shortlist:
        kept, listed, shown, last, hosts, folds = memory.numbers[at : at + _FACTS].tolist()
        at += _FACTS
        numbers = memory.numbers[at : at + kept].copy()
        scores = memory.fractions[at + size : at + size + kept].copy()
        more = _counted(numbers, memory.numbers[at + 2 * size : at + 2 * size + kept]) if hosts else _NOTHING
        duplicates = _counted(numbers, memory.numbers[at + 3 * size : at + 3 * size + kept]) if folds else _NOTHING
        return Shortlist(numbers, scores, more, duplicates, listed, shown, last, listed < min(size, self._longest))

    def _worth(self, language: str) -> tuple[int, int, FloatArray]:
        """What candidates in each language get."""
        if len(self._languages) >= LANGUAGES_KEPT:
            self._languages = {}
        worth = language_worth(self._snapshot, language) if language else NEITHER
        found = self._languages[language] = worth.ctypes.data, len(worth), worth
        return found


def _prints(generation: Generation) -> Prints | None:
    """Nothing while those of a large collection are being read."""
    prints = generation.fingerprints
    if prints is None or not len(prints):
        return None
    return Prints(prints.starts.ctypes.data, prints.values.ctypes.data, prints)


def _counted(numbers: Numbers, counts: Numbers) -> dict[int, int]:
    return {number: count for number, count in zip(numbers.tolist(), counts.tolist(), strict=True) if count}
