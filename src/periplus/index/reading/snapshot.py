"""Snapshot: one generation, open for searching; immutable, and safe to use from many threads at once.

A document number is ``segment ordinal << 32 | number in the segment`` and means nothing in another snapshot.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from periplus.core.layout.segments import ADMITTED, HOST_NUMBERS
from periplus.errors import NotFound
from periplus.index.format.columns import NAMED, PLAIN
from periplus.index.format.fields import FIELDS
from periplus.index.format.marks import TABS, facts_of
from periplus.index.format.overlays import LARGEST_PRIOR
from periplus.index.reading.live_counts import marks_there, named_counts
from periplus.index.reading.titles import titled_pages
from periplus.index.reading.wordlist import frequent_words, words_with_prefix
from periplus.index.retrieval.lookups import looked_up_all
from periplus.index.retrieval.occurrences import in_segment, joined
from periplus.index.retrieval.phrases import norms_of
from periplus.index.retrieval.retrieval import Asked, retrieve
from periplus.index.retrieval.tables import Table
from periplus.index.retrieval.terms import HeldLists, Terms
from periplus.index.retrieval.view import EVERYTHING, NUMBER_BITS, admission_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.index.format.manifest import Manifest
    from periplus.index.format.stored import StoredDocument
    from periplus.index.reading.opening import Losses
    from periplus.index.reading.titles import TitledPage
    from periplus.index.retrieval.hits import TopHits
    from periplus.index.retrieval.occurrences import Occurrences
    from periplus.index.retrieval.phrases import Norms
    from periplus.index.retrieval.query import IndexQuery
    from periplus.index.retrieval.statistics import Statistics
    from periplus.index.retrieval.terms import KnownTerm
    from periplus.index.retrieval.view import Admission, SegmentView

LOCAL = (1 << NUMBER_BITS) - 1
COLUMN_TYPES = {"published": np.float64, "fetched": np.float64, "prior": np.float64}  # all others are whole numbers
LENGTH_COLUMNS = {"words": "body", "title_length": "title"}


class Held(Protocol):
    """Files that stay for as long as they are held."""

    @property
    def release(self) -> Callable[[], object]: ...


class Snapshot:
    def __init__(self, manifest: Manifest, views: Sequence[SegmentView], hold: Held, losses: Losses) -> None:
        self.manifest = manifest
        self.generation = manifest.generation
        self.live = manifest.documents
        self.losses = losses  # what answers do without
        self.views = tuple(views)
        self._hold = hold
        self._terms = Terms()
        self.segments = len(views)

    def close(self) -> None:
        """Let go of the generation, so that its files may be removed."""
        self._hold.release()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Searching

    def top(
        self,
        query: IndexQuery,
        k: int,
        *,
        prior_weight: float = 1.0,
        order: str = "score",
        statistics: Statistics | None = None,
        only: NDArray[np.int64] | None = None,
        without: NDArray[np.int64] | None = None,
        deadline: float = inf,
    ) -> TopHits:
        """The ``k`` best documents for a query, exactly as if every stored impact had been added up.

        ``statistics`` decide the weights; without them, those of this snapshot do. ``only`` has the ascending numbers
        of the documents that may be found, ``without`` of those that may not. Beyond the ``deadline`` (by
        ``time.perf_counter``) matches are no longer counted.
        """
        admission = admission_of(query.filters, query.excluded, only, without)
        return retrieve(self, query, Asked(k, prior_weight, order, statistics, admission, deadline))

    @property
    def statistics(self) -> Statistics:
        """Those of this snapshot itself."""
        return OwnStatistics(self)

    def matches(self, query: IndexQuery, number: int) -> bool:
        """Whether a query finds one document."""
        self._located(number)
        return self.top(query, 0, only=np.array([number], np.int64)).total.value > 0

    @cached_property
    def _whole(self) -> Table:
        """All segments as they are, for queries without filters and lists of their own."""
        table = Table([view.row for view in self.views])
        for row in range(len(self.views)):
            table.put(row, HOST_NUMBERS, [self._translations[name][row] for name in ("host", "language")])
        return table

    @property
    def table(self) -> Table:
        """All segments, for kernels of other rooms; addresses are good for as long as the snapshot is held."""
        return self._whole

    @cached_property
    def norms(self) -> Norms:
        return norms_of(self.manifest.epoch)

    def table_for(self, admission: Admission) -> Table:
        """All segments, with what may be found there."""
        if admission is EVERYTHING:
            return self._whole
        table = self._whole.copy()
        for row, view in enumerate(self.views):
            table.put(row, ADMITTED, [view.admitted(admission)])
        return table

    def give(self, terms: Sequence[KnownTerm]) -> None:
        """Have the lists of terms be quick to search."""
        self._terms.give(self._whole, terms)

    # Terms

    def frequency(self, term: str) -> int:
        """Live documents with a term."""
        return self.known(term).frequency

    def prefix_frequency(self, prefix: str, field: int = -1) -> int:
        """Live documents with any word that begins with ``prefix``."""
        return sum(view.prefix_live(prefix, field) for view in self.views)

    def prefix(self, text: str, limit: int) -> list[tuple[str, int]]:
        """Words that begin with ``text``, with their document frequency, most frequent first."""
        return words_with_prefix(self.views, text, limit)

    def words(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent words of all, as ``prefix("", limit)`` gives them; quick also for very many."""
        return frequent_words(self.views, limit)

    def known(self, term: str) -> KnownTerm:
        """What this generation knows of a term, in all segments."""
        return self.known_all([term])[0]

    def known_all(self, terms: Sequence[str]) -> list[KnownTerm]:
        """What this generation knows of some terms; new ones are looked up together. All are of one memory."""
        kept = self._terms
        try:
            return [kept.known[term] for term in terms]
        except KeyError:
            new = [term for term in dict.fromkeys(terms) if term not in kept.known]
        if not kept.takes(len(new)):
            kept = self._terms = Terms()
            new = list(dict.fromkeys(terms))
        for term, found in zip(new, looked_up_all(self._whole, new, kept.memory), strict=True):
            kept.add(term, found)
        return [kept.known[term] for term in terms]

    def lists_of(self, terms: Sequence[str]) -> HeldLists:
        """For each term the live documents that have it here and the address of its lists, for kernels.

        Addresses are good while the result is held. A term has one address in it, however often it is asked for.
        """
        known = self.known_all(terms)
        return HeldLists([(term.frequency, term.address) for term in known], known)

    def _number_in(self, view: SegmentView, term: str) -> int:
        return self.known(term).numbers[view.ordinal]

    # Documents

    def find(self, key: int) -> int | None:
        """The number of the document with an address key."""
        for view in self.views:
            local = int(view.segment.columns.find(np.array([key], np.int64))[0])
            if local >= 0 and (view.alive is None or view.alive[local]):
                return view.first_number + local
        return None

    def find_all(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the documents with these address keys, as far as there are any, ascending."""
        parts = [np.empty(0, np.int64)]
        for view in self.views:
            local = np.sort(view.segment.columns.find(keys))
            local = local[local >= 0]
            parts.append(view.first_number + (local if view.alive is None else local[view.alive[local] > 0]))
        return np.concatenate(parts)

    def numbers(self) -> NDArray[np.int64]:
        """All live documents, in address order within each segment."""
        parts = [view.first_number + np.flatnonzero(view.live_mask()) for view in self.views]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)

    def stored(self, number: int) -> StoredDocument:
        view, local = self._located(number)
        return view.segment.texts.document(local)

    def stored_many(self, numbers: Sequence[int]) -> list[StoredDocument]:
        """What is stored of many documents, in the order asked for."""
        return [view.segment.texts.document(local) for view, local in map(self._located, numbers)]

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The ids of many documents, without reading their texts."""
        found: dict[int, str] = {}
        for view in self.views:
            here = numbers[numbers >> NUMBER_BITS == view.ordinal]
            found.update(zip(here.tolist(), view.segment.columns.ids(here & LOCAL), strict=True))
        return [found[number] for number in numbers.tolist()]

    def lengths(self, number: int) -> NDArray[np.int64]:
        """Words by field."""
        view, local = self._located(number)
        lengths: NDArray[np.int64] = view.segment.columns.lengths[local].astype(np.int64)
        return lengths

    @cached_property
    def average_lengths(self) -> NDArray[np.float64]:
        """Average words by field, over live documents."""
        return np.array([self.manifest.statistics.get(f"average_{field}", 0.0) for field in FIELDS])

    def frequencies(self, number: int, terms: Sequence[str]) -> NDArray[np.int64]:
        """How often each term occurs in each field: a row a term, a column a field."""
        view, local = self._located(number)
        numbers = np.array([self._number_in(view, term) for term in terms], np.int64)
        counted = np.full(len(terms), -1, np.int64)
        found = in_segment(view.segment, np.array([local]), numbers, counted, (), 0)
        counts: NDArray[np.int64] = found.counts[0].astype(np.int64)
        return counts

    def positions(self, number: int, term: str, field: str = "body") -> NDArray[np.int64]:
        """Where a term stands in a field, counted in words from the field's start."""
        view, local = self._located(number)
        numbers, label = np.array([self._number_in(view, term)], np.int64), np.zeros(1, np.int64)
        most = view.segment.positions.longest
        found = in_segment(view.segment, np.array([local]), numbers, label, [FIELDS.index(field)], most)
        return found.positions.astype(np.int64)

    def occurrences(
        self,
        numbers: NDArray[np.int64],
        terms: Sequence[str],
        labels: Sequence[int],
        fields: Sequence[str],
        most: int,
    ) -> Occurrences:
        """How often each term occurs in each of many documents, and where those with a label (≥ 0) stand.

        Places are kept of ``fields`` only, and at most ``most`` of one term in one field.
        """
        ordinals, local = numbers >> NUMBER_BITS, numbers & LOCAL
        kept, named = [FIELDS.index(field) for field in fields], np.asarray(labels, np.int64)
        parts = []
        for view in self.views:
            rows = np.flatnonzero(ordinals == view.ordinal)
            if len(rows) or len(self.views) == 1:
                known = np.array([self._number_in(view, term) for term in terms], np.int64)
                parts.append((rows, in_segment(view.segment, local[rows], known, named, kept, most)))
        return joined(parts, len(numbers), len(terms))

    def lengths_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Words by field, a row a document."""
        ordinals, local = numbers >> NUMBER_BITS, numbers & LOCAL
        result = np.zeros((len(numbers), len(FIELDS)), np.int64)
        for view in self.views:
            rows = ordinals == view.ordinal
            result[rows] = view.segment.columns.lengths[local[rows]]
        return result

    # Columns

    def column(self, name: str, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """A property of many documents: key, page_key, host, site, language, type (numbers of names), published,
        fetched, fingerprint, marks, title (``title_prints``), words, title_length, max_frequency or prior."""
        return self.columns([name], numbers)[0]

    def columns(self, names: Sequence[str], numbers: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Several properties of many documents, in the order of their names."""
        numbers = np.asarray(numbers, np.int64)
        kinds = [COLUMN_TYPES.get(name, np.int64) for name in names]
        ordinals, local = numbers >> NUMBER_BITS, numbers & LOCAL
        if len(self.views) == 1:
            only = self.views[0]
            return [np.asarray(self._cells(only, name, local), kind) for name, kind in zip(names, kinds, strict=True)]
        results: list[NDArray[Any]] = [np.zeros(len(numbers), kind) for kind in kinds]
        for view in self.views:
            rows = np.flatnonzero(ordinals == view.ordinal)
            if len(rows):
                own = local[rows]
                for name, result in zip(names, results, strict=True):
                    result[rows] = self._cells(view, name, own)
        return results

    def facts(self, number: int, tab: str) -> dict[str, str]:
        """What a document says of itself, if it belongs to a tab (``marks.TABS``)."""
        view, local = self._located(number)
        return facts_of(view.segment.columns.texts("facts", np.array([local]))[0], tab)

    def live_counts(self, name: str) -> dict[str, int]:
        """Live documents by the names of a column (host, site, language, type), in the order of the names."""
        return named_counts(self.views, name)

    @cached_property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection (``marks.TABS``) that there are live documents of."""
        marks = marks_there(self.views)
        return tuple(name for name, mark in TABS.items() if marks & mark)

    def titled_pages(self) -> Iterator[TitledPage]:
        """What the documents with the highest prior are called."""
        return titled_pages(self.views)

    def host_names(self) -> list[str]:
        return self._names["host"]

    def site_names(self) -> list[str]:
        return self._names["site"]

    def language_names(self) -> list[str]:
        return self._names["language"]

    def type_names(self) -> list[str]:
        return self._names["type"]

    def _cells(self, view: SegmentView, name: str, local: NDArray[np.int64]) -> Any:
        columns = view.segment.columns
        if name in NAMED:
            return self._translations[name][view.ordinal][columns.array(name)[local]]
        if name in PLAIN and name != "largest":
            return columns.array(name)[local]
        if name == "prior":
            return view.prior[local] / LARGEST_PRIOR if len(view.prior) else np.zeros(len(local))
        if name in LENGTH_COLUMNS:
            return columns.lengths[local, FIELDS.index(LENGTH_COLUMNS[name])]
        if name == "max_frequency":
            return columns.array("largest")[local]
        raise NotFound(f"no column {name!r} in the index")

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        return {
            name: sorted({entry for view in self.views for entry in view.segment.columns.names[name]}) for name in NAMED
        }

    @cached_property
    def _translations(self) -> dict[str, list[NDArray[np.int64]]]:
        """For each named column and segment: its numbers → numbers of the snapshot."""
        translations: dict[str, list[NDArray[np.int64]]] = {}
        for name in NAMED:
            numbers = {entry: number for number, entry in enumerate(self._names[name])}
            translations[name] = [
                np.array([numbers[entry] for entry in view.segment.columns.names[name]], np.int64)
                for view in self.views
            ]
        return translations

    def _located(self, number: int) -> tuple[SegmentView, int]:
        ordinal, local = number >> NUMBER_BITS, number & LOCAL
        if 0 <= ordinal < len(self.views) and local < self.views[ordinal].segment.documents:
            view = self.views[ordinal]
            if view.alive is None or view.alive[local]:
                return view, local
        raise NotFound(f"no document {number} in generation {self.generation}")


class OwnStatistics:
    """Statistics of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.documents = snapshot.live

    @property
    def average_lengths(self) -> Sequence[float]:
        averages: list[float] = self._snapshot.average_lengths.tolist()
        return averages

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        return [term.frequency for term in self._snapshot.known_all(terms)]
