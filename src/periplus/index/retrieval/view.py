"""View: one segment as one generation sees it: live documents, live statistics, prior; and searching in it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.core.layout.documents import WINDOW
from periplus.index.format.meant_for import text_language
from periplus.index.format.overlays import window_maxima
from periplus.index.retrieval.phrases import norms_of, phrase_list
from periplus.index.retrieval.query import NO_FILTERS, Filters
from periplus.index.retrieval.tables import Table, addressed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from periplus.index.format.dictionary import Dictionary
    from periplus.index.format.norms import Epoch
    from periplus.index.format.overlays import Live
    from periplus.index.format.segment import Segment
    from periplus.index.retrieval.made import MadeList
    from periplus.index.retrieval.phrases import Norms
    from periplus.index.retrieval.terms import KnownTerm

    Postings = tuple[NDArray[np.uint32], NDArray[np.uint8]]

NUMBER_BITS = 32  # a global document number is (ordinal of the segment << 32) | number in the segment
MASKS_KEPT = 16
_EMPTY_U8 = np.empty(0, np.uint8)
_EMPTY_U32 = np.empty(0, np.uint32)
_EMPTY_I64 = np.empty(0, np.int64)


class Admission(Struct, frozen=True):
    """Which documents may be found: by their columns, and by ascending global numbers."""

    filters: Filters = NO_FILTERS
    excluded: Filters = NO_FILTERS
    only: NDArray[np.int64] | None = None
    without: NDArray[np.int64] | None = None


EVERYTHING = Admission()


def admission_of(
    filters: Filters, excluded: Filters, only: NDArray[np.int64] | None, without: NDArray[np.int64] | None
) -> Admission:
    """``EVERYTHING`` itself where nothing is left out."""
    by_columns = filters != NO_FILTERS or excluded != NO_FILTERS
    by_number = only is not None or without is not None
    return Admission(filters, excluded, only, without) if by_columns or by_number else EVERYTHING


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
        self._masks: dict[tuple[Filters, Filters], NDArray[np.uint8]] = {}

    @property
    def dictionary(self) -> Dictionary:
        return self.segment.dictionary

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

    def admitted(self, admission: Admission) -> NDArray[np.uint8]:
        """1 for each live document that may be found, in whole windows; empty when that is all of them."""
        mask = self._by_columns(admission.filters, admission.excluded)
        if admission.only is None and admission.without is None:
            return mask
        mask = _in_windows(self.live_mask()) if not len(mask) else mask.copy()
        if admission.only is not None:
            chosen = np.zeros(len(mask), np.uint8)
            chosen[self._own(admission.only)] = 1
            mask &= chosen
        if admission.without is not None:
            mask[self._own(admission.without)] = 0
        return mask

    @cached_property
    def _living(self) -> NDArray[np.uint8]:
        return _EMPTY_U8 if self.alive is None else _in_windows(self.alive)

    def _own(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of ascending documents that are of this segment, by their numbers in it."""
        first, last = np.searchsorted(numbers, [self.first_number, self.first_number + self.segment.documents])
        own: NDArray[np.int64] = numbers[first:last] - self.first_number
        return own

    def _by_columns(self, filters: Filters, excluded: Filters) -> NDArray[np.uint8]:
        if filters == NO_FILTERS and excluded == NO_FILTERS:
            return self._living
        known = self._masks.get((filters, excluded))
        if known is None:
            mask = self.live_mask().astype(bool)
            for condition in self._conditions(filters):
                mask &= condition
            for condition in self._conditions(excluded):
                mask &= ~condition
            if len(self._masks) >= MASKS_KEPT:
                self._masks.clear()
            known = self._masks[filters, excluded] = _in_windows(mask)
        return known

    def _conditions(self, filters: Filters) -> Iterator[NDArray[np.bool_]]:
        """For each condition, which documents meet it."""
        columns = self.segment.columns
        if filters.sites:
            allowed = np.array([_is_on(host, filters.sites) for host in columns.names["host"]], bool)
            yield allowed[columns.array("host")]
        if filters.languages:
            allowed = np.array([text_language(name) in filters.languages for name in columns.names["language"]], bool)
            yield allowed[columns.array("language")]
        if filters.types:
            allowed = np.array([name in filters.types for name in columns.names["type"]], bool)
            yield allowed[columns.array("type")]
        if filters.before:
            yield self.dates < filters.before
        if filters.after:
            yield self.dates >= filters.after

    # Lists made for a query

    def made(self, entry: MadeList, known: Callable[[str], KnownTerm]) -> Postings:
        """The documents (ascending, deleted ones among them) and impacts of a list that is not in the file."""
        if entry.everything:
            return np.arange(self.segment.documents, dtype=np.uint32), np.ones(self.segment.documents, np.uint8)
        if entry.phrase:
            return self._phrase(entry, known)
        if entry.words is not None:
            return self._any_of([known(word).numbers[self.ordinal] for word in entry.words], entry.field)
        if entry.prefix:
            return self._prefix(entry.prefix, entry.field)
        return self._in_field(known(entry.term).numbers[self.ordinal], entry.field)

    def prefix_live(self, prefix: str, field: int) -> int:
        """Live documents with any word that begins with ``prefix``."""
        documents, _ = self._prefix(prefix, field)
        return len(documents) if self.alive is None else int(self.alive[documents].sum())

    def _phrase(self, entry: MadeList, known: Callable[[str], KnownTerm]) -> Postings:
        from periplus.core.layout.lists import LIST_ROW

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
        low, high = self.segment.dictionary.prefix_range(prefix.encode())
        return self._any_of(range(low, high), field)

    def _any_of(self, terms: Sequence[int], field: int) -> Postings:
        """The documents of some terms, each with its largest impact."""
        from periplus.core.retrieval import spread

        best = np.zeros(self.segment.documents, np.uint8)
        if field < 0:
            for low, high in _runs(terms):
                spread(self._alone.rows, low, high, best)
        else:
            for term in terms:
                documents, impacts = self._in_field(term, field)
                best[documents] = np.maximum(best[documents], impacts)
        documents = np.flatnonzero(best).astype(np.uint32)
        return documents, best[documents]

    def _in_field(self, term: int, field: int) -> Postings:
        from periplus.core.retrieval import in_field

        if term < 0:
            return _EMPTY_U32, _EMPTY_U8
        size = self.segment.postings.frequency(term)
        documents, impacts = np.empty(size, np.uint32), np.empty(size, np.uint8)
        _, factors, k1 = self.field_tables
        found = in_field(self._alone.rows, factors, k1, term, field, documents, impacts)
        return documents[:found], impacts[:found]

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
            self._living,
            segment.columns.key,
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
            segment.columns.array("title"),
        )
        return [*addressed(arrays), postings.windows, self.first_number, segment.positions.longest]


def _in_windows(mask: NDArray[Any]) -> NDArray[np.uint8]:
    """A mask with zeros behind it, as kernels look at whole windows of documents."""
    padded = np.zeros(-(-len(mask) // WINDOW) * WINDOW, np.uint8)
    padded[: len(mask)] = mask
    return padded


def _runs(terms: Sequence[int]) -> list[tuple[int, int]]:
    """Terms that stand side by side, as ranges; without those that are not there."""
    if isinstance(terms, range):
        return [(terms.start, terms.stop)]
    return [(term, term + 1) for term in terms if term >= 0]


def _is_on(host: str, sites: tuple[str, ...]) -> bool:
    """Whether a host is one of the sites, or lies under one."""
    name = host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdigit() else host
    return any(site in (host, name) or name.endswith(f".{site}") for site in sites)
