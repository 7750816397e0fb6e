"""The usual search by one kernel: the first pass's best are scored, then put in order, folded and kept apart by host.

What this makes is what ``execution`` makes of arrays step by step, which remains the way of everything less usual:
lenses, pins, exclusions, links, pages that a query names, and of profiles whose formula no kernel has.

To bring a query's numbers to a kernel takes longer than many a kernel, so it takes addresses: what a generation knows
is laid out once (``Shortlists``), and each thread keeps memory in which a query and its list have their places.
"""

from __future__ import annotations

import threading
import time
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.fields import PIECE_GAP
from periplus.index.pages import pages
from periplus.index.query import Filters
from periplus.search.columns import Numbers
from periplus.search.evidence import CHUNK, MAX_SIGHTINGS, NEITHER, language_worth
from periplus.search.folding import LEAST_COMPARED, NEAR_BITS
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

NO_PAGE_S = "?"  # a language that no page is in
SMALLEST = 1 << 18  # words of 64 bits that a thread keeps
LARGEST = 1 << 20  # those that it keeps at most; more are given back after the query
_NO_FILTERS = Filters()
_FIRST_PRINT, _FINGERPRINTS = 6, 7  # places among the numbers of a generation, as the kernel knows them
_FACTS = Layout("4q")  # that tell of a list: see ``Shortlist``


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


def memory_of(words: int = 0) -> Memory:
    """That of this thread, or more of it."""
    kept = _kept.own
    if kept is not None and kept.words >= words:
        return kept
    numbers = pages(max(SMALLEST, words))
    made = Memory(len(numbers), numbers, numbers.view(np.float64), numbers.data.cast("B"), numbers.ctypes.data)
    if made.words <= LARGEST:
        _kept.own = made
    return made


class Shortlist(Struct, frozen=True, gc=False):
    """The results of one first pass, best first."""

    numbers: Numbers
    scores: FloatArray
    counts: Numbers  # three of each, as in ``Listing``
    listed: int  # results of which these are the first that hosts admit
    shown: int  # hits that hosts admit
    last: int  # place of the last result among those listed
    is_folded: bool


class Shortlists:
    """Those of one generation and profile."""

    def __init__(self, generation: Generation, profile: Profile) -> None:
        snapshot = generation.snapshot
        assert profile.fused is not None
        fused = profile.fused(
            snapshot.average_lengths, profile.fields, max(snapshot.live, 1), float(PIECE_GAP), MAX_SIGHTINGS
        )
        table = snapshot.table
        self._kept: list[object] = [fused, table]  # whose addresses are used
        self._snapshot = snapshot  # not the generation, which holds on to this
        self._run: Callable[..., int] = fused.run
        self._longest = profile.limit
        numbers = (profile.candidates, profile.limit, generation.nameless, 0, 0, NEAR_BITS, LEAST_COMPARED)
        self._fixed = np.array([table.address, table.segments, fused.constants, *numbers], np.int64)
        self.address: int = self._fixed.ctypes.data
        self._languages: dict[str, tuple[tuple[int, int], FloatArray]] = {}
        self._has_prints = False

    def of(self, generation: Generation, task: Task, terms: Terms, hits: HitsAt, wanted: int) -> Shortlist:
        folds = task.fold and self.folds(generation)
        languages, count = self.worth(task.language)
        now = time.time() if task.wants_fresh else 0.0
        sought, size = terms.sought, hits.size
        memory = _kept.own or memory_of()
        while True:
            memory.view[: len(sought)] = sought
            needed = self._run(
                self.address, hits.numbers, hits.scores, size, len(sought) // 8, languages, count, now,
                task.per_host, folds, wanted, memory.address, memory.words,
            )  # fmt: skip
            if not needed:
                break
            memory = memory_of(needed)
        longest = min(size, self._longest)
        return _read(memory, len(sought), min(size, wanted) if task.per_host else longest, longest)

    def folds(self, generation: Generation) -> bool:
        """Whether near-duplicates can be folded, which is said when both addresses are there."""
        if not self._has_prints:
            self._take_prints(generation.fingerprints)
        return self._has_prints

    def worth(self, language: str) -> tuple[int, int]:
        """What candidates in each language get, for a query in one: an address, and how many numbers."""
        return (self._languages.get(language) or self._worth(language))[0]

    def _take_prints(self, prints: Fingerprints | None) -> None:
        """Nothing is folded while those of a large collection are being read."""
        if prints is not None and len(prints):
            self._kept.append(prints)
            self._fixed[_FINGERPRINTS] = prints.values.ctypes.data
            self._fixed[_FIRST_PRINT] = prints.starts.ctypes.data
            self._has_prints = True

    def _worth(self, language: str) -> tuple[tuple[int, int], FloatArray]:
        # One for all that no page is in: what kernels read by its address must never go, whatever people ask for.
        known = language if not language or language in self._snapshot.language_names() else NO_PAGE_S
        worth = language_worth(self._snapshot, known) if known else NEITHER
        return self._languages.setdefault(known, ((worth.ctypes.data, len(worth)), worth))


def _read(memory: Memory, at: int, length: int, most: int) -> Shortlist:
    """The list at a byte of memory: facts; numbers, scores and counts of as many results as there may be."""
    kept, listed, shown, last = _FACTS.unpack_from(memory.view, at)
    at = (at + _FACTS.size) // 8
    block = memory.numbers[at : at + 5 * length].copy()
    scores = block[length : length + kept].view(np.float64)
    counts = block[2 * length : 2 * length + 3 * kept]
    return Shortlist(block[:kept], scores, counts, listed, shown, last, listed < most)
