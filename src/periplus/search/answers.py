"""Putting an answer together: the results of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.records import SearchResult

if TYPE_CHECKING:
    from periplus.records import SearchRequest
    from periplus.search.broker import Broker
    from periplus.search.exchange import Excerpt
    from periplus.search.lexicon import KnownWord
    from periplus.search.listing import Listing


class ResultPage:
    """One page of results of a listing."""

    def __init__(
        self,
        shards: Broker,
        request: SearchRequest,
        first: int,  # of the listing's results
        words: tuple[KnownWord, ...],  # that are highlighted
        listing: Listing,
        before: int = 0,  # results of another list, which this one goes on
    ) -> None:
        self._shards = shards
        self._request = request
        self._first, self._before = first, before
        self._words = words
        self._listing = listing

    def results(self) -> tuple[SearchResult, ...]:
        listing, first, last = self._listing, self._first, self._first + self._request.size
        numbers = listing.numbers[first:last]
        if not len(numbers):
            return ()
        told, rank = listing.shown, self._before + first + 1
        columns = (listing.numbers, listing.scores, told.more, told.duplicates, told.pinned)
        rows = zip(*[column[first:last].tolist() for column in columns], strict=True)
        shown = zip(self._shards.show(numbers, self._words), rows, strict=True)
        return tuple([self._result(place, excerpt, *row) for place, (excerpt, row) in enumerate(shown, rank)])

    def _result(
        self, rank: int, shown: Excerpt, number: int, score: float, more: int, duplicates: int, pinned: int
    ) -> SearchResult:
        return SearchResult(
            rank,
            shown.id,
            shown.url,
            shown.display_url,
            shown.site,
            shown.title,
            shown.snippet,
            shown.highlights,
            shown.language,
            shown.published,
            shown.fetched,
            shown.content_type,
            score,
            more,
            self._listing.explain(number, score) if self._request.explain else None,
            duplicates,
            bool(pinned),
        )
