"""Putting an answer together: the results of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus.search.requests import MAX_SIZE
from periplus.search.results import results
from periplus.search.terms import Terms

if TYPE_CHECKING:
    from periplus.records import SearchRequest, SearchResult
    from periplus.search.execution import Listing
    from periplus.search.generations import Generation
    from periplus.search.reading import Understood

_NO_COUNTS = np.zeros(3 * MAX_SIZE, np.int64)


class Page:
    """One page of results of a listing."""

    def __init__(
        self,
        generation: Generation,
        request: SearchRequest,
        first: int,  # of the listing's results
        understood: Understood,
        listing: Listing,
        before: int = 0,  # results of another list, which this one goes on
    ) -> None:
        self.snapshot = generation.snapshot
        self.request = request
        self.first, self.before = first, before
        self.listing = listing
        self._terms = listing.terms or Terms(generation.lexicon, understood.plan.words)

    def results(self) -> tuple[SearchResult, ...]:
        first, last = self.first, self.first + self.request.size
        listing = self.listing
        numbers, scores = listing.numbers[first:last], listing.scores[first:last]
        if not len(numbers):
            return ()
        counts = _NO_COUNTS[: 3 * len(numbers)] if listing.counts is None else listing.counts[3 * first : 3 * last]
        made = results(self.snapshot, numbers, self._terms.highlights, self.before + first + 1, scores, counts)
        if self.request.explain:
            made = [
                structs.replace(result, explain=listing.explain(number, result.score))
                for number, result in zip(numbers.tolist(), made, strict=True)
            ]
        return tuple(made)
