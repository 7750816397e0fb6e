"""Snapshot: one generation, open for searching; immutable, and safe to use from many threads at once.

A document number is ``segment ordinal << 32 | number in the segment`` and means nothing in another snapshot.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.errors import NotFound, UsageError
from periplus.index.analysis import STEM_MARK
from periplus.index.columns import NAMED
from periplus.index.lookups import looked_up, looked_up_all
from periplus.index.occurrences import in_segment, joined
from periplus.index.overlays import LARGEST_PRIOR
from periplus.index.phrases import norms_of, only_phrase, search_phrase, stand_side_by_side
from periplus.index.plain import (
    ALL_ADMITTED,
    ALL_REQUIRED,
    MAX_LISTS,
    MOST,
    plain_query,
    search_in_place,
    search_lists,
    search_plain,
)
from periplus.index.plan import KnownTerm, make_plan
from periplus.index.postings import BEST_RANKS
from periplus.index.query import FIELDS, Filters, IndexQuery, terms_of
from periplus.index.rooms import HitsAt, TopHits, found_at, free_room, without_answer
from periplus.index.tables import ADMITTED, HOST_NUMBERS, MADE, Table
from periplus.index.terms import Terms
from periplus.index.view import NUMBER_BITS, Best
from periplus.index.weights import UNIT, fixed, idf
from periplus.index.wordlist import frequent_words
from periplus.records import Total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.generations import Hold
    from periplus.index.lookups import Found
    from periplus.index.manifest import Manifest
    from periplus.index.occurrences import Occurrences
    from periplus.index.opening import Losses
    from periplus.index.phrases import Norms, PhraseQuery
    from periplus.index.plan import Plan
    from periplus.index.stored import StoredDocument
    from periplus.index.view import SegmentView

COUNT_LIMIT = 1_000  # up to so many postings every match is counted; above, the total is a lower bound
ORDERS = ("score", "date")
COMPLETIONS_LOOKED_AT = 64
LOCAL = (1 << NUMBER_BITS) - 1
_pair = Layout("2q").pack
_STARTS = [Layout(f"{groups + 1}q").pack for groups in range(16)]  # a layout takes longer to make than to use
COLUMN_TYPES = {"published": np.float64, "fetched": np.float64, "prior": np.float64}  # all others are whole numbers
_NO_FILTERS = IndexQuery().filters
LENGTH_COLUMNS = {"words": "body", "title_length": "title"}


class Snapshot:
    def __init__(self, manifest: Manifest, views: Sequence[SegmentView], hold: Hold, losses: Losses) -> None:
        self.manifest = manifest
        self.generation = manifest.generation
        self.live = manifest.documents
        self.losses = losses  # what answers do without
        self._views = tuple(views)
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

    def top(self, query: IndexQuery, k: int, *, prior_weight: float = 1.0, order: str = "score") -> TopHits:
        """The ``k`` best documents for a query, exactly as if every stored impact had been added up."""
        terms, text = self._terms, query.text
        if text and order == "score":
            rooms = terms.rooms
            try:
                room = rooms.pop()
            except IndexError:
                room = free_room()
            result = terms.ask(terms.address, room, prior_weight, k, text)
            if result >= 0:
                return found_at(room, result, k)
            without_answer(room, result)
        return self._other_top(query, k, prior_weight, order)

    def _other_top(self, query: IndexQuery, k: int, prior_weight: float, order: str) -> TopHits:
        """The same for whatever is more than words that were asked for before."""
        self.look_up(terms_of(query))
        if order == "score":
            hits = self._quick_top(query, k, prior_weight) if 0 < k <= MOST else None
            if hits is not None:
                return hits
        elif order not in ORDERS:
            raise UsageError(f"cannot order by {order!r}; choose one of {', '.join(ORDERS)}")
        plan = make_plan(query, self, prior_weight)
        if order == "date":
            return self._newest(query.filters, k, plan)
        best = Best(k)
        prune = k > 0 and plan.reach > COUNT_LIMIT
        rank = self._floor_rank(query.filters, k) if prune and plan.is_plain else -1
        best.search(self._table(query.filters, plan), plan, rank, prune=prune)
        numbers, scores = best.ranked()
        return TopHits(numbers, scores / UNIT, self._total(query, plan, best))

    def top_of_lists(self, lists: bytes, sizes: Sequence[int], k: int, prior_weight: float) -> HitsAt | None:
        """``top`` for any of some words, given as their terms' packed lists and how many each word has.

        Whoever calls holds on to the terms. Nothing for what this way does not take.
        """
        groups, count = len(sizes), sum(sizes)
        if count > MAX_LISTS or not 0 < k <= MOST:
            return None
        if count != groups:
            packed = _STARTS[groups] if groups < len(_STARTS) else Layout(f"{groups + 1}q").pack
            lists += packed(*accumulate(sizes, initial=0))
        prior = fixed(prior_weight) if prior_weight > 0 else 0
        return search_in_place(self._whole, lists, count, groups, prior, k, COUNT_LIMIT)

    def _quick_top(self, query: IndexQuery, k: int, prior_weight: float) -> TopHits | None:
        """The same for plain queries and single phrases, which have kernels of their own; None for all others."""
        prior = fixed(prior_weight) if prior_weight > 0 else 0
        filters = query.filters
        everything = filters is _NO_FILTERS or filters == _NO_FILTERS
        names = query.terms
        if names and everything:
            terms = self._terms  # must live for as long as its addresses are used
            if not terms.packed.keys() >= set(names):
                terms = self._terms_for(len(names))
            lists = terms.pack(names, self._looked_up)
            count, flags = len(names), ALL_ADMITTED if query.should else ALL_ADMITTED | ALL_REQUIRED
            return search_lists(self._whole, lists, count, count, flags, prior, k, COUNT_LIMIT)
        plain = plain_query(query, self.known)
        if plain is not None:
            table, flags = (self._whole, ALL_ADMITTED) if everything else (self._filtered(filters), 0)
            return search_plain(table, plain, flags, prior, k, COUNT_LIMIT)
        phrase = only_phrase(query, self.known, prior_weight)
        return None if phrase is None else self._phrase_top(phrase, k, filters)

    def _phrase_top(self, phrase: PhraseQuery, k: int, filters: Filters) -> TopHits:
        """The same for one phrase alone."""
        if not phrase.reach:
            return TopHits(np.empty(0, np.int64), np.empty(0), Total(0))
        everything = filters is _NO_FILTERS or filters == _NO_FILTERS
        table, prune = self._whole if everything else self._filtered(filters), phrase.reach > COUNT_LIMIT
        return search_phrase(table, phrase, self.norms, k, prune=prune)

    def side_by_side(self, words: Sequence[bytes]) -> bool:
        """Whether some document has words in a row, of which each is given by a weight and the address of its lists."""
        return stand_side_by_side(self._whole, words, self.norms)

    def matches(self, query: IndexQuery, number: int) -> bool:
        """Whether a query finds one document."""
        view, local = self._located(number)
        mask = np.zeros(view.segment.documents, np.uint8)
        admitted = view.admitted(query.filters)
        mask[local] = 1 if not len(admitted) else admitted[local]
        best, plan = Best(0), make_plan(query, self, 0.0)
        best.search(self._row(view, mask, plan), plan, -1, prune=False)
        return best.matching > 0

    def _newest(self, filters: Filters, k: int, plan: Plan) -> TopHits:
        """All matches, newest first; equal dates by key."""
        columns: list[list[NDArray[Any]]] = [[], [], [], []]
        for view in self._views:
            best = Best(0, collect=view.segment.documents)
            best.search(self._row(view, view.admitted(filters), plan), plan, -1, prune=False)
            local = best.documents[: best.matching]
            parts = (view.dates[local], view.segment.columns.key[local], view.first_number + local.astype(np.int64))
            for column, part in zip(columns, (*parts, best.all_scores[: best.matching]), strict=True):
                column.append(part)
        if not self._views:
            return TopHits(np.empty(0, np.int64), np.empty(0), Total(0))
        dates, keys, numbers, scores = (np.concatenate(column) for column in columns)
        chosen = np.lexsort((keys, -dates))[:k]
        return TopHits(numbers[chosen], scores[chosen] / UNIT, Total(len(numbers)))

    @cached_property
    def _whole(self) -> Table:
        """All segments as they are, for queries without filters and lists of their own."""
        table = Table([view.row for view in self._views])
        for row in range(len(self._views)):
            table.put(row, HOST_NUMBERS, [self._translations[name][row] for name in ("host", "language")])
        return table

    @property
    def table(self) -> Table:
        """The same, for kernels of other rooms; its addresses are good for as long as the snapshot is held."""
        return self._whole

    @cached_property
    def norms(self) -> Norms:
        return norms_of(self.manifest.epoch)

    def _table(self, filters: Filters, plan: Plan) -> Table:
        if filters == _NO_FILTERS and not plan.made:
            return self._whole
        table = self._whole.copy() if filters == _NO_FILTERS else self._filtered(filters)
        for row, view in enumerate(self._views):
            table.put(row, MADE, view.made_row(plan.made, self.known))
        return table

    def _filtered(self, filters: Filters) -> Table:
        """All segments, with what the filters admit."""
        table = self._whole.copy()
        for row, view in enumerate(self._views):
            table.put(row, ADMITTED, [view.admitted(filters)])
        return table

    def _row(self, view: SegmentView, admitted: NDArray[np.uint8], plan: Plan) -> Table:
        """One segment alone."""
        table = Table([view.row], view.ordinal)
        table.put(0, ADMITTED, [admitted])
        table.put(0, MADE, view.made_row(plan.made, self.known))
        return table

    @staticmethod
    def _floor_rank(filters: Filters, k: int) -> int:
        """Which stored best impact at least ``k`` documents reach; -1: nothing is known, as of filtered queries."""
        rank = next((place for place, count in enumerate(BEST_RANKS) if count >= k), -1)
        return rank if filters == _NO_FILTERS else -1

    def _total(self, query: IndexQuery, plan: Plan, best: Best) -> Total:
        if best.is_complete:
            return Total(best.matching)
        value = best.matching
        if plan.is_plain and not plan.made and query.filters == _NO_FILTERS:
            if len(plan.sizes) == 1 == len(plan.group_clauses):
                return Total(plan.sizes[0])
            value = max(value, *plan.sizes, 0)
        return Total(value, "gte")

    # Terms

    def frequency(self, term: str) -> int:
        """Live documents with a term."""
        return self.known(term).frequency

    def prefix_frequency(self, prefix: str, field: int = -1) -> int:
        """Live documents with any word that begins with ``prefix``."""
        return sum(view.prefix_live(prefix, field) for view in self._views)

    def prefix(self, text: str, limit: int) -> list[tuple[str, int]]:
        """Words that begin with ``text``, with their document frequency, most frequent first."""
        wanted = max(COMPLETIONS_LOOKED_AT, 8 * limit)
        found = {term for view in self._views for term in self._completions(view, text, wanted)}
        counted = [(term, self.frequency(term)) for term in found]
        return sorted((pair for pair in counted if pair[1]), key=lambda pair: (-pair[1], pair[0]))[:limit]

    @staticmethod
    def _completions(view: SegmentView, text: str, limit: int) -> list[str]:
        dictionary = view.segment.dictionary
        low, high = dictionary.prefix_range(text.encode())
        frequencies = view.frequencies(low, high)
        best = np.argsort(-frequencies, kind="stable")
        terms = (dictionary.term(low + int(place)).decode() for place in best[: 2 * limit])
        return [term for term in terms if not term.startswith(STEM_MARK)][:limit]

    def words(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent words of all, as ``prefix("", limit)`` gives them; quick also for very many."""
        return frequent_words(self._views, limit)

    def known(self, term: str) -> KnownTerm:
        """What this generation knows of a term, in all segments."""
        known = self._terms.known.get(term)
        return self._terms_for(1).found(term, self._looked_up) if known is None else known

    def look_up(self, terms: Sequence[str]) -> None:
        """Find out what is known of some terms, all at once."""
        known = self._terms.known
        new = [term for term in dict.fromkeys(terms) if term not in known]
        if not new:
            return
        kept = self._terms_for(len(new))
        for term, found in zip(new, looked_up_all(self._whole, new, kept.memory), strict=True):
            kept.add(term, self._as_known(found, kept))

    def _terms_for(self, count: int) -> Terms:
        """Where so many more terms may be kept."""
        terms = self._terms
        if not terms.takes(count) or not terms.is_open:
            terms = self._terms = Terms(self._whole, COUNT_LIMIT)
        return terms

    def _looked_up(self, term: str, terms: Terms) -> KnownTerm:
        return self._as_known(looked_up(self._whole, term, terms.memory), terms)

    def _as_known(self, found: Found, terms: Terms) -> KnownTerm:
        live, numbers, lists, address, size = found
        worth = idf(self.live, live)
        weight = fixed(worth)
        packed = _pair(weight, address)
        return KnownTerm(live, worth, tuple(numbers), lists, address, weight, packed, size, terms.chunks)

    def _number_in(self, view: SegmentView, term: str) -> int:
        return self.known(term).numbers[view.ordinal]

    # Documents

    def find(self, key: int) -> int | None:
        """The number of the document with an address key."""
        for view in self._views:
            local = int(view.segment.columns.find(np.array([key], np.int64))[0])
            if local >= 0 and (view.alive is None or view.alive[local]):
                return view.first_number + local
        return None

    def numbers(self) -> NDArray[np.int64]:
        """All live documents, in address order within each segment."""
        parts = [view.first_number + np.flatnonzero(view.live_mask()) for view in self._views]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)

    def stored(self, number: int) -> StoredDocument:
        view, local = self._located(number)
        return view.segment.texts.document(local)

    def stored_many(self, numbers: Sequence[int]) -> list[StoredDocument]:
        """The same of many documents, in the order asked for."""
        return [view.segment.texts.document(local) for view, local in map(self._located, numbers)]

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The ids of many documents, without reading their texts."""
        found: dict[int, str] = {}
        for view in self._views:
            here = numbers[numbers >> NUMBER_BITS == view.ordinal]
            found.update(zip(here.tolist(), view.segment.columns.ids(here & LOCAL), strict=True))
        return [found[number] for number in numbers.tolist()]

    def lengths(self, number: int) -> NDArray[np.int64]:
        """Words by field."""
        view, local = self._located(number)
        lengths: NDArray[np.int64] = view.segment.columns.lengths[local].astype(np.int64)
        return lengths

    def max_frequency(self, number: int) -> int:
        """The largest frequency of one word in the document, all fields together."""
        view, local = self._located(number)
        return int(view.segment.columns.array("largest")[local])

    @cached_property
    def average_lengths(self) -> NDArray[np.float64]:
        """Average words by field, over live documents."""
        return np.array([self.manifest.statistics.get(f"average_{field}", 0.0) for field in FIELDS])

    def frequencies(self, number: int, terms: Sequence[str]) -> NDArray[np.int64]:
        """How often each term occurs in each field: a row a term, a column a field."""
        from periplus.index.kernels.occurrences import frequencies

        view, local = self._located(number)
        numbers = np.array([self._number_in(view, term) for term in terms], np.int64)
        table = np.zeros(len(terms) * len(FIELDS), np.int64)
        segment = view.segment
        tables = (*segment.postings.tables, *segment.positions.tables)
        frequencies(*tables, segment.columns.starts, numbers, local, table)
        return table.reshape(len(terms), len(FIELDS))

    def positions(self, number: int, term: str, field: str = "body") -> NDArray[np.int64]:
        """Where a term stands in a field, counted in words from the field's start."""
        from periplus.index.kernels.occurrences import positions

        view, local = self._located(number)
        found_in = self._number_in(view, term)
        if found_in < 0:
            return np.empty(0, np.int64)
        segment = view.segment
        found = np.empty(segment.positions.longest + 1, np.int64)
        count = positions(*segment.postings.tables, *segment.positions.tables, found_in, local, found)
        row = local * (len(FIELDS) + 1) + FIELDS.index(field)
        begin, end = int(segment.columns.starts[row]), int(segment.columns.starts[row + 1])
        places = found[:count]
        return places[(places >= begin) & (places < end)] - begin

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
        for view in self._views:
            rows = np.flatnonzero(ordinals == view.ordinal)
            if len(rows) or len(self._views) == 1:
                known = np.array([self._number_in(view, term) for term in terms], np.int64)
                parts.append((rows, in_segment(view.segment, local[rows], known, named, kept, most)))
        return joined(parts, len(numbers), len(terms))

    def lengths_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Words by field, a row a document."""
        ordinals, local = numbers >> NUMBER_BITS, numbers & LOCAL
        result = np.zeros((len(numbers), len(FIELDS)), np.int64)
        for view in self._views:
            rows = ordinals == view.ordinal
            result[rows] = view.segment.columns.lengths[local[rows]]
        return result

    # Columns

    def column(self, name: str, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """A property of many documents: key, page_key, host, site, language, type (numbers of names), published,
        fetched, words, title_length, max_frequency or prior."""
        numbers = np.asarray(numbers, np.int64)
        ordinals, local = numbers >> NUMBER_BITS, numbers & LOCAL
        result: NDArray[Any] = np.zeros(len(numbers), COLUMN_TYPES.get(name, np.int64))
        for view in self._views:
            rows = ordinals == view.ordinal
            result[rows] = self._cells(view, name, local[rows])
        return result

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
        if name in ("key", "page_key", "published", "fetched"):
            return columns.array(name)[local]
        if name == "prior":
            return view.prior[local] / LARGEST_PRIOR if len(view.prior) else 0.0
        if name in LENGTH_COLUMNS:
            return columns.lengths[local, FIELDS.index(LENGTH_COLUMNS[name])]
        if name == "max_frequency":
            return columns.array("largest")[local]
        raise NotFound(f"no column {name!r} in the index")

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        return {
            name: sorted({entry for view in self._views for entry in view.segment.columns.names[name]})
            for name in NAMED
        }

    @cached_property
    def _translations(self) -> dict[str, list[NDArray[np.int64]]]:
        """For each named column and segment: its numbers → numbers of the snapshot."""
        translations: dict[str, list[NDArray[np.int64]]] = {}
        for name in NAMED:
            numbers = {entry: number for number, entry in enumerate(self._names[name])}
            translations[name] = [
                np.array([numbers[entry] for entry in view.segment.columns.names[name]], np.int64)
                for view in self._views
            ]
        return translations

    def _located(self, number: int) -> tuple[SegmentView, int]:
        ordinal, local = number >> NUMBER_BITS, number & LOCAL
        if 0 <= ordinal < len(self._views) and local < self._views[ordinal].segment.documents:
            view = self._views[ordinal]
            if view.alive is None or view.alive[local]:
                return view, local
        raise NotFound(f"no document {number} in generation {self.generation}")
