"""Postings of a segment.

Every posting has one byte of place in its window of 256 documents and one byte of impact. A frequent term keeps a table
of windows (first posting, largest impact); a rare one keeps the number of the window beside each posting.

    per term      frequency; where its postings begin follows from blocks of 16 terms (``core.format.heads``)
    per posting   place, impact; rare_window for rare terms, in so many bits as the last window needs
    per window    window_start, window_max, for each frequent term
    best          largest, 10th, 100th, 1000th impact of each term with ten postings and more
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.core.layout.documents import WINDOW
from periplus.core.layout.segment_tables import COLUMNS, ESCAPE, NO_ROW, RANKED, TERMS, PostingTables
from periplus.core.layout.streams import ListTables
from periplus.errors import INDEX_PART, Corrupt, StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.format.files import ArrayFile, ArrayFileWriter

MAX_DOCUMENTS = WINDOW << 16  # window numbers have 16 bits
MAX_POSTINGS = (1 << 32) - 1  # and those of postings 32
BEST_RANKS = (1, 10, 100, 1000)  # of the stored best impacts
FREQUENT_PER_WINDOW = 4  # postings a window from which a table of windows is the smaller form
FREQUENT_AT_LEAST = 64
PACKED_TOGETHER = 8  # windows, which are whole bytes at any width
PADDING = 8  # bytes behind packed windows, because kernels read words of eight


def window_count(documents: int) -> int:
    return -(-documents // WINDOW)


def window_bits(windows: int) -> int:
    """Bits of the number of a window."""
    return max(1, windows - 1).bit_length()


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
        self._totals = np.zeros(5, np.int64)  # terms, postings, rare postings, ranked and frequent terms
        self._waiting = np.empty(0, np.uint16)  # windows that do not yet fill whole bytes
        self._place = postings.stream("place", "u1")
        self._frequency = postings.stream("frequency", "u1")
        self._blocks = postings.stream("blocks", "<u4")
        self._large = postings.stream("large", "<u4")
        self._best = postings.stream("best", "u1")
        self._impact = postings.stream("impact", "u1")
        self._rare_window = postings.stream("rare_window", "u1")
        self._window_start = postings.stream("window_start", "<u4")
        self._window_max = postings.stream("window_max", "u1")

    def append(self, frequency: NDArray[np.uint32], documents: NDArray[np.uint32], impacts: NDArray[np.uint8]) -> None:
        """Postings of the next terms: how many each has, then documents and impacts of all."""
        from periplus.core.build import layout

        if self._place.length + len(documents) > MAX_POSTINGS:
            raise StorageError(f"a segment holds at most {MAX_POSTINGS:,} postings; build with less memory")
        is_frequent = frequency >= self._frequent_from
        frequent, rare = int(is_frequent.sum()), int(frequency[~is_frequent].sum())
        place, best = np.empty(len(documents), np.uint8), np.empty(4 * int((frequency >= RANKED).sum()), np.uint8)
        rare_window = np.empty(rare, np.uint16)
        window_start = np.empty(frequent * (self._windows + 1), np.uint32)
        window_max = np.zeros(frequent * self._windows, np.uint8)
        tables = ListTables(place, best, rare_window, window_start, window_max)
        layout(frequency, documents, impacts, self._windows, self._frequent_from, tables)
        self._append_heads(frequency, int((is_frequent | (frequency >= ESCAPE)).sum()))
        self._append_windows(rare_window)
        for stream, values in (
            (self._best, best),
            (self._place, place),
            (self._impact, impacts),
            (self._window_start, window_start),
            (self._window_max, window_max),
        ):
            stream.append(values)

    def finish(self) -> int:
        """Close the tables; the number of postings."""
        self._blocks.append(self._totals[1:4])
        self._append_windows(np.zeros(-len(self._waiting) % PACKED_TOGETHER, np.uint16))
        self._rare_window.append(bytes(PADDING))
        return self._place.length

    def _append_heads(self, frequency: NDArray[np.uint32], large_terms: int) -> None:
        from periplus.core.format import describe

        known = int(self._totals[0])
        small, large = np.empty(len(frequency), np.uint8), np.empty(COLUMNS * large_terms, np.uint32)
        begun = -(-(known + len(frequency)) // TERMS) - -(-known // TERMS)
        blocks = np.empty(COLUMNS * begun, np.uint32)
        describe(frequency, self._frequent_from, self._totals, small, blocks, large)
        self._frequency.append(small)
        self._blocks.append(blocks)
        self._large.append(large)

    def _append_windows(self, windows: NDArray[np.uint16]) -> None:
        from periplus.core.format import pack_windows

        windows = np.concatenate([self._waiting, windows]) if len(self._waiting) else windows
        whole = len(windows) // PACKED_TOGETHER * PACKED_TOGETHER
        bits = window_bits(self._windows)
        packed = np.zeros(whole * bits // 8 + PADDING, np.uint8)
        pack_windows(windows[:whole], bits, packed)
        self._rare_window.append(packed[:-PADDING])
        self._waiting = windows[whole:].copy()


class Postings:
    def __init__(self, file: ArrayFile, documents: int, terms: int) -> None:
        self.small: NDArray[np.uint8] = file.array("frequency")  # of each term, ESCAPE where ``large`` has it
        self.blocks: NDArray[np.uint32] = file.array("blocks")
        self.large: NDArray[np.uint32] = file.array("large")
        self.best: NDArray[np.uint8] = file.array("best")
        self.place: NDArray[np.uint8] = file.array("place")
        self.impact: NDArray[np.uint8] = file.array("impact")
        self.rare_window: NDArray[np.uint8] = file.array("rare_window")
        self.window_start: NDArray[np.uint32] = file.array("window_start")
        self.window_max: NDArray[np.uint8] = file.array("window_max")
        self.windows = window_count(documents)
        self._large_terms = self.large[::COLUMNS].astype(np.int64)
        self._check(file, terms)

    @property
    def tables(self) -> PostingTables:
        """As kernels take them."""
        return PostingTables(
            self.small,
            self.blocks,
            self.large,
            self.place,
            self.impact,
            self.rare_window,
            self.window_start,
            self.window_max,
            self.windows,
        )

    def frequency(self, term: int) -> int:
        return int(self.frequencies(term, term + 1)[0])

    def frequencies(self, low: int, high: int) -> NDArray[np.int64]:
        """How many postings each of the terms [low, high) has."""
        found = self.small[low:high].astype(np.int64)
        first, last = np.searchsorted(self._large_terms, (low, high)).tolist()
        found[self._large_terms[first:last] - low] = self.large[1::COLUMNS][first:last]
        return found

    def _check(self, file: ArrayFile, terms: int) -> None:
        """Lengths that kernels rely on."""
        frequent = int((self.large[2::COLUMNS] != NO_ROW).sum())
        postings, rare, ranked = self.blocks[-COLUMNS:].tolist() if len(self.blocks) >= COLUMNS else (-1, -1, -1)
        sound = (
            len(self.small) == terms
            and len(self.blocks) == COLUMNS * (-(-terms // TERMS) + 1)
            and len(self.best) == 4 * ranked
            and len(self.place) == len(self.impact) == postings
            and len(self.rare_window) == -(-rare // PACKED_TOGETHER) * window_bits(self.windows) + PADDING
            and len(self.window_start) == frequent * (self.windows + 1)
            and len(self.window_max) == frequent * self.windows
        )
        if not sound:
            raise Corrupt(f"{file.path}: its tables do not fit together; rebuild the index", INDEX_PART)
