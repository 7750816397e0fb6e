"""View: one segment as one generation sees it: live documents, live statistics, prior; and searching in it."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.overlays import window_maxima
from periplus.index.phrases import norms_of, phrase_list
from periplus.index.tables import Table, addressed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.overlays import Live
    from periplus.index.phrases import Norms
    from periplus.index.plan import KnownTerm, MadeList, Plan
    from periplus.index.query import Filters
    from periplus.index.segment import Segment

    Postings = tuple[NDArray[np.uint32], NDArray[np.uint8]]

NUMBER_BITS = 32  # a global document number is (ordinal of the segment << 32) | number in the segment
MASKS_KEPT = 16
STATE = 4  # numbers before the heap
_EMPTY_U8 = np.empty(0, np.uint8)
_EMPTY_U32 = np.empty(0, np.uint32)
_EMPTY_I64 = np.empty(0, np.int64)
_NOTHING_MADE = (np.zeros(1, np.int64), _EMPTY_U8, _EMPTY_U8, np.empty(0, np.uint16))


class SegmentView:
    def __init__(
        self, segment: Segment, ordinal: int, epoch: Epoch, live: Live | None, prior: NDArray[np.uint8] | None
    ) -> None:
        self.segment = segment
        self.ordinal = ordinal
        self.first_number = ordinal << NUMBER_BITS
        self.epoch = epoch
        self.prior = _EMPTY_U8 if prior is None else prior
        self.prior_max = _EMPTY_U8 if prior is None else window_maxima(prior)
        self.alive = None if live is None else live.alive
        self._frequency = None if live is None else live.frequency
        self.best = segment.postings.best if live is None else live.best
        self._masks: dict[Filters, NDArray[np.uint8]] = {}

    def frequency(self, term: int) -> int:
        """Live documents with a term of this segment."""
        return self.segment.postings.frequency(term) if self._frequency is None else int(self._frequency[term])

    def frequencies(self, low: int, high: int) -> NDArray[np.int64]:
        if self._frequency is None:
            return self.segment.postings.frequencies(low, high)
        return self._frequency[low:high].astype(np.int64)

    @cached_property
    def dates(self) -> NDArray[np.float64]:
        """When a document was published, else fetched."""
        published = self.segment.columns.array("published")
        return np.where(published > 0, published, self.segment.columns.array("fetched"))

    @cached_property
    def field_tables(self) -> tuple[NDArray[np.uint32], NDArray[np.float64], float]:
        return self.segment.field_tables(self.epoch)

    def live_mask(self) -> NDArray[np.uint8]:
        return np.ones(self.segment.documents, np.uint8) if self.alive is None else self.alive

    # Filters

    def admitted(self, filters: Filters) -> NDArray[np.uint8]:
        """1 for each live document that the filters admit; empty when that is all of them."""
        if not _restricts(filters):
            return _EMPTY_U8 if self.alive is None else self.alive
        known = self._masks.get(filters)
        if known is None:
            if len(self._masks) >= MASKS_KEPT:
                self._masks.clear()
            known = self._masks[filters] = self._mask(filters)
        return known

    def _mask(self, filters: Filters) -> NDArray[np.uint8]:
        mask = self.live_mask().astype(bool)
        columns = self.segment.columns
        if filters.sites:
            allowed = np.array([_is_on(host, filters.sites) for host in columns.names["host"]], bool)
            mask &= allowed[columns.array("host")]
        for name, wanted in (("language", filters.languages), ("type", filters.types)):
            if wanted:
                allowed = np.array([entry in wanted for entry in columns.names[name]], bool)
                mask &= allowed[columns.array(name)]
        if filters.before:
            mask &= self.dates < filters.before
        if filters.after:
            mask &= self.dates >= filters.after
        return mask.astype(np.uint8)

    # Lists made for a query

    def made(self, entry: MadeList, known: Callable[[str], KnownTerm]) -> Postings:
        """The documents (ascending, deleted ones among them) and impacts of a list that is not in the file."""
        if entry.everything:
            return np.arange(self.segment.documents, dtype=np.uint32), np.ones(self.segment.documents, np.uint8)
        if entry.phrase:
            return self._phrase(entry, known)
        if entry.prefix:
            return self._prefix(entry.prefix, entry.field)
        return self._in_field(int(self.segment.dictionary.find([entry.term.encode()])[0]), entry.field)

    def prefix_live(self, prefix: str, field: int) -> int:
        """Live documents with any word that begins with ``prefix``."""
        documents, _ = self._prefix(prefix, field)
        return len(documents) if self.alive is None else int(self.alive[documents].sum())

    def _phrase(self, entry: MadeList, known: Callable[[str], KnownTerm]) -> Postings:
        from periplus.index.kernels.lists_known import LIST_ROW

        words = [known(word) for word in entry.phrase]  # which hold on to their lists
        numbers = [word.numbers[self.ordinal] for word in words]
        if -1 in numbers:
            return _EMPTY_U32, _EMPTY_U8
        most = min([self.segment.postings.frequency(number) for number in numbers])
        lists = [word.address + 8 * LIST_ROW * self.ordinal for word in words]
        return phrase_list(self._alone, entry, lists, self._norms, most)

    @cached_property
    def _alone(self) -> Table:
        return Table([self.row])

    @cached_property
    def _norms(self) -> Norms:
        return norms_of(self.epoch)

    def _prefix(self, prefix: str, field: int) -> Postings:
        from periplus.index.kernels.lists import spread

        low, high = self.segment.dictionary.prefix_range(prefix.encode())
        best = np.zeros(self.segment.documents, np.uint8)
        if field < 0:
            spread(*self.segment.postings.tables, low, high, best)
        else:
            for term in range(low, high):
                documents, impacts = self._in_field(term, field)
                best[documents] = np.maximum(best[documents], impacts)
        documents = np.flatnonzero(best).astype(np.uint32)
        return documents, best[documents]

    def _in_field(self, term: int, field: int) -> Postings:
        from periplus.index.kernels.lists import in_field

        if term < 0:
            return _EMPTY_U32, _EMPTY_U8
        size = self.segment.postings.frequency(term)
        documents, impacts = np.empty(size, np.uint32), np.empty(size, np.uint8)
        found = in_field(*self._tables, *self.field_tables, term, field, documents, impacts)
        return documents[:found], impacts[:found]

    @property
    def _tables(self) -> tuple[Any, ...]:
        return (*self.segment.postings.tables, *self.segment.positions.tables)

    # What kernels take

    @cached_property
    def row(self) -> list[int]:
        """This segment in the table that search kernels take."""
        segment, postings = self.segment, self.segment.postings
        arrays = (
            postings.small,
            postings.blocks,
            postings.place,
            postings.impact,
            postings.rare_window,
            postings.window_start,
            postings.window_max,
            self.best,
            self.prior,
            self.prior_max,
            _EMPTY_U8 if self.alive is None else self.alive,
            segment.columns.key,
            *_NOTHING_MADE,
            segment.dictionary.text,
            segment.dictionary.offsets,
            _EMPTY_U32 if self._frequency is None else self._frequency,
            *segment.positions.tables,
            segment.columns.starts,
            segment.columns.array("lengths"),
            postings.large,
            segment.columns.array("host"),
            segment.columns.array("language"),
            _EMPTY_I64,  # numbers of the names in a generation, which is to put them here
            _EMPTY_I64,
            segment.columns.array("published"),
            segment.columns.array("fetched"),
        )
        return [*addressed(arrays), postings.windows, self.first_number, segment.positions.longest]

    def made_row(self, entries: Sequence[MadeList], known: Callable[[str], KnownTerm]) -> tuple[NDArray[Any], ...]:
        """The lists made for a query, joined: starts, places, impacts and windows."""
        return _joined([self.made(entry, known) for entry in entries])


class Best:
    """The best documents of all segments: a heap that kernels keep, best first when they are done."""

    def __init__(self, k: int, collect: int = 0) -> None:
        self.k = k
        self.heap = np.zeros(STATE + 3 * k, np.int64)  # size, matching, whether anything was left out, floor; the best
        self.documents = np.empty(collect, np.uint32) if collect else _EMPTY_U32
        self.all_scores = np.empty(collect, np.int64) if collect else _EMPTY_I64

    def search(self, table: Table, plan: Plan, rank: int, *, prune: bool) -> None:
        """Offer the documents of all segments of the table; ``rank`` of stored best impacts gives a floor."""
        from periplus.index.kernels.search import top

        numbers = plan.numbers if table.only is None else plan.numbers_in(table.only)
        head = [table.segments, len(plan.weights), len(plan.group_clauses), plan.clauses, plan.prior_weight]
        parts = [*head, rank, int(prune), *plan.weights, *plan.starts, *plan.group_clauses, *numbers]
        top(table.rows, np.array(parts, np.int64), self.heap, self.documents, self.all_scores)

    @property
    def matching(self) -> int:
        return int(self.heap[1])

    @property
    def is_complete(self) -> bool:
        return not self.heap[2]

    def ranked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers and scores, best first; equal scores by key."""
        size = int(self.heap[0])
        return self.heap[STATE + 2 * self.k :][:size], self.heap[STATE : STATE + size]


def _joined(made: list[Postings]) -> tuple[NDArray[Any], ...]:
    if not made:
        return _NOTHING_MADE
    starts = np.array([0, *accumulate(len(documents) for documents, _ in made)], np.int64)
    documents, impacts = made[0] if len(made) == 1 else map(np.concatenate, zip(*made, strict=True))
    return starts, documents.astype(np.uint8), impacts, (documents >> 8).astype(np.uint16)


def _restricts(filters: Filters) -> bool:
    return bool(filters.sites or filters.languages or filters.types or filters.before or filters.after)


def _is_on(host: str, sites: tuple[str, ...]) -> bool:
    """Whether a host is one of the sites, or lies under one."""
    name = host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdigit() else host
    return any(site in (host, name) or name.endswith(f".{site}") for site in sites)
