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
        first, last = self._first, self._first + self._request.size
        numbers = self._listing.numbers[first:last]
        if not len(numbers):
            return ()
        excerpts = self._shards.show(numbers, self._words)
        return tuple([self._result(first + place, excerpt) for place, excerpt in enumerate(excerpts)])

    def _result(self, place: int, shown: Excerpt) -> SearchResult:
        listing, told = self._listing, self._listing.shown
        number, score = int(listing.numbers[place]), float(listing.scores[place])
        return SearchResult(
            self._before + place + 1,
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
            int(told.more[place]),
            listing.explain(number, score) if self._request.explain else None,
            int(told.duplicates[place]),
            bool(told.pinned[place]),
        )
