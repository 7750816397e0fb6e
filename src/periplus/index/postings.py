"""Postings of a segment.

Every posting has one byte of place in its window of 256 documents and one byte of impact. A frequent term keeps a table
of windows (first posting, largest impact); a rare one keeps the number of the window beside each posting.

    per term      start (first posting), slot (≥ 0: offset in rare_window; < 0: ~row of the window tables),
                  best (largest, 10th, 100th, 1000th impact)
    per posting   place, impact; rare_window for rare terms
    per window    window_start, window_max, for each frequent term
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.errors import Corrupt, StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.files import ArrayFile, ArrayFileWriter

WINDOW = 256
MAX_DOCUMENTS = WINDOW << 16  # window numbers have 16 bits
BEST_RANKS = (1, 10, 100, 1000)  # of the stored best impacts
FREQUENT_PER_WINDOW = 4  # postings a window from which a table of windows is the smaller form
FREQUENT_AT_LEAST = 64


def window_count(documents: int) -> int:
    return -(-documents // WINDOW)


def checked_documents(documents: int) -> int:
    """So many as a segment can hold: the windows of rare terms are numbers of 16 bits."""
    if documents > MAX_DOCUMENTS:
        raise StorageError(
            f"a segment of {documents:,} documents is too large (at most {MAX_DOCUMENTS:,}); build with less memory"
        )
    return documents


class PostingsWriter:
    """Takes the postings of ascending terms in runs, and writes them in the form of the file."""

    def __init__(self, postings: ArrayFileWriter, documents: int) -> None:
        self._windows = window_count(checked_documents(documents))
        self._frequent_from = max(FREQUENT_AT_LEAST, FREQUENT_PER_WINDOW * self._windows)
        self._totals = np.zeros(2, np.int64)  # rare postings, frequent terms
        self._start = postings.stream("start", "<i8")
        self._slot = postings.stream("slot", "<i8")
        self._best = postings.stream("best", "u1")
        self._place = postings.stream("place", "u1")
        self._impact = postings.stream("impact", "u1")
        self._rare_window = postings.stream("rare_window", "<u2")
        self._window_start = postings.stream("window_start", "<u4")
        self._window_max = postings.stream("window_max", "u1")

    def append(self, frequency: NDArray[np.uint32], documents: NDArray[np.uint32], impacts: NDArray[np.uint8]) -> None:
        """Postings of the next terms: how many each has, then documents and impacts of all."""
        from periplus.index.kernels.building import layout

        terms, postings = len(frequency), len(documents)
        frequent = int((frequency >= self._frequent_from).sum())
        rare = int(frequency[frequency < self._frequent_from].sum())
        place, best = np.empty(postings, np.uint8), np.empty(4 * terms, np.uint8)
        rare_window, slot = np.empty(rare, np.uint16), np.empty(terms, np.int64)
        window_start = np.empty(frequent * (self._windows + 1), np.uint32)
        window_max = np.zeros(frequent * self._windows, np.uint8)
        tables = (place, best, rare_window, window_start, window_max, slot)
        layout(frequency, documents, impacts, self._windows, self._frequent_from, *tables, self._totals)
        ends = self._place.length + np.cumsum(frequency, dtype=np.int64)
        self._start.append(ends - frequency)
        for stream, values in (
            (self._slot, slot),
            (self._best, best),
            (self._place, place),
            (self._impact, impacts),
            (self._rare_window, rare_window),
            (self._window_start, window_start),
            (self._window_max, window_max),
        ):
            stream.append(values)

    def finish(self) -> int:
        """Close the tables; the number of postings."""
        self._start.append(np.array([self._place.length]))
        return self._place.length


class Postings:
    def __init__(self, file: ArrayFile, documents: int, terms: int) -> None:
        self.start: NDArray[np.int64] = file.array("start")
        self.slot: NDArray[np.int64] = file.array("slot")
        self.best: NDArray[np.uint8] = file.array("best")
        self.place: NDArray[np.uint8] = file.array("place")
        self.impact: NDArray[np.uint8] = file.array("impact")
        self.rare_window: NDArray[np.uint16] = file.array("rare_window")
        self.window_start: NDArray[np.uint32] = file.array("window_start")
        self.window_max: NDArray[np.uint8] = file.array("window_max")
        self.windows = window_count(documents)
        self._check(file, terms)

    @property
    def tables(self) -> tuple[Any, ...]:
        """The arguments that kernels take first."""
        return (
            self.start,
            self.slot,
            self.place,
            self.impact,
            self.rare_window,
            self.window_start,
            self.window_max,
            self.windows,
        )

    def frequency(self, term: int) -> int:
        return int(self.start[term + 1] - self.start[term])

    def _check(self, file: ArrayFile, terms: int) -> None:
        """Lengths that kernels rely on."""
        frequent = int((self.slot < 0).sum())
        sound = (
            len(self.start) == terms + 1
            and len(self.slot) == terms
            and len(self.best) == 4 * terms
            and len(self.place) == len(self.impact) == int(self.start[-1])
            and len(self.window_start) == frequent * (self.windows + 1)
            and len(self.window_max) == frequent * self.windows
        )
        if not sound:
            raise Corrupt(f"{file.path}: its tables do not fit together; rebuild the index")
