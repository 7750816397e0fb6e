"""Corrections of usual queries by one kernel call (``kernels/respelling.py``), not by the many of ``spelling.py``."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.analysis.stemming import DEFAULT_LANGUAGE
from periplus.index.phrases import room_for_row
from periplus.search.stemmers import judge
from periplus.search.usual import BROKEN, MOST_WORDS, UNUSUAL, WORDS, desk_of_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.snapshot import Snapshot
    from periplus.search.dictionary import Dictionary

WORK = 1 << 15  # numbers
AS_TYPED, ANOTHER = 0, 1  # what a word was meant as; or parted
MEANT, WHICH, ONE_WITH_NEXT = 0, MOST_WORDS, 2 * MOST_WORDS  # where that is


class _Work(Struct):
    """Memory of one thread."""

    numbers: NDArray[np.int64]
    address: int
    head: memoryview


class _Own(threading.local):
    work: _Work | None = None


_own = _Own()


def _work() -> _Work:
    numbers = np.zeros(WORK, np.int64)
    _own.work = _Work(numbers, numbers.ctypes.data, numbers.data)
    return _own.work


@cache
def _kernels() -> tuple[Callable[..., int], list[int]]:
    """The one that is called, and the addresses of those that it calls."""
    from periplus.index.kernels.first_pass import first_pass
    from periplus.index.kernels.phrases import phrase_search
    from periplus.search.kernels.lookups import look_up, open_lists_of
    from periplus.search.kernels.respelling import respell
    from periplus.search.kernels.words import near

    return respell.entry, [kernel.address for kernel in (near, first_pass, phrase_search, look_up, open_lists_of)]


class Respeller:
    """Corrections over one generation by one dictionary."""

    def __init__(self, snapshot: Snapshot, dictionary: Dictionary) -> None:
        self._respell, steps = _kernels()
        self._dictionary = dictionary
        table, norms = snapshot.table, snapshot.norms
        self._known = np.array(
            [
                *steps, table.address, table.segments, norms.address, room_for_row(table, 2), *dictionary.addresses,
                judge().place(DEFAULT_LANGUAGE),
            ],
            np.int64,
        )  # fmt: skip
        self._known_at: int = self._known.ctypes.data
        self._kept = (table, norms)  # whose addresses are used

    def corrections(self, words: list[str], *, every: bool) -> tuple[str, ...] | None:
        """The query that this thread searched last, as it was probably meant; empty when it needs no correction,
        nothing when that is not said here. ``every``: words that occur are looked at, too."""
        desk, work = desk_of_thread(), _own.work or _work()
        if desk.laid_out is None or desk.head[WORDS] != len(words):  # it is not on the desk, or has signs
            return None
        own = desk.judge
        is_small = all(map(str.islower, words))
        changes = self._respell(
            self._known_at, desk.memories_at, desk.address, work.address, own.address, own.size, every, is_small
        )
        if changes == UNUSUAL:
            desk.laid_out = None  # the steps may ask for more memory, and keep it
            return None
        if changes == BROKEN:
            raise IndexError("a kernel of spelling failed")
        head = work.head
        if changes:
            meant = [self._meant(word, head[place], head[WHICH + place]) for place, word in enumerate(words)]
            return (" ".join(meant),)
        first = head[ONE_WITH_NEXT]
        if first < 0:
            return ()
        joined = f"{words[first]}{words[first + 1]}".casefold()
        return (" ".join([*words[:first], joined, *words[first + 2 :]]),)

    def _meant(self, word: str, meant: int, which: int) -> str:
        if meant == AS_TYPED:
            return word
        if meant == ANOTHER:
            return self._dictionary.word(which)
        word = word.casefold()
        return f"{word[:which]} {word[which:]}"
