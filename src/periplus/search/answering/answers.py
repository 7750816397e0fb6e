"""Putting an answer together: the results of one page."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from periplus.records import SearchResult

if TYPE_CHECKING:
    from periplus.records import SearchRequest
    from periplus.search.ordering.listing import Listing
    from periplus.search.query.lexicon import KnownWord
    from periplus.search.shards.broker import Broker
    from periplus.search.shards.exchange import Excerpt


class ResultPage:
    """One page of results of a listing."""

    def __init__(
        self,
        shards: Broker,
        request: SearchRequest,
        first: int,  # of the listing's results
        words: tuple[KnownWord, ...],  # that are highlighted
        listing: Listing,
        deadline: float = inf,  # by ``time.perf_counter``
    ) -> None:
        """After the ``deadline`` texts are shown without a search for the words, and scores are no longer explained."""
        self._shards = shards
        self._request = request
        self._first = first
        self._words = words
        self._listing = listing
        self._deadline = deadline
        self.is_cut = False  # something was left out because it was too late

    def results(self) -> tuple[SearchResult, ...]:
        listing, first, last = self._listing, self._first, self._first + self._request.size
        numbers = listing.numbers[first:last]
        if not len(numbers):
            return ()
        told = listing.shown
        columns = (listing.numbers, listing.scores, told.duplicates, told.pinned)
        rows = zip(*[column[first:last].tolist() for column in columns], self._more(first, last), strict=True)
        words = () if self._is_late() else self._words
        shown = zip(self._shards.show(numbers, words), rows, strict=True)
        return tuple([self._result(place, excerpt, *row) for place, (excerpt, row) in enumerate(shown, first + 1)])

    def _is_late(self) -> bool:
        self.is_cut = self.is_cut or time.perf_counter() >= self._deadline
        return self.is_cut

    def _more(self, first: int, last: int) -> list[int]:
        """At the last result of a host on this page, how many follow on others, once it has had its results in full."""
        told, in_full = self._listing.shown, self._listing.in_full
        more: list[int] = told.more[first:last].tolist()
        hosts: list[int] = told.hosts[:last].tolist()
        for place in range(first, len(hosts)):
            host = hosts[place]
            if more[place - first] and (host in hosts[place + 1 :] or hosts.count(host) < in_full):
                more[place - first] = 0
        return more

    def _result(
        self, rank: int, shown: Excerpt, number: int, score: float, duplicates: int, pinned: int, more: int
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
            self._listing.explain(number, score) if self._request.explain and not self._is_late() else None,
            duplicates,
            bool(pinned),
        )
