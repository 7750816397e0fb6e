"""Putting an answer together: the results of one page with titles, snippets, dates and links."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.index.weights import idf
from periplus.records import SearchResult
from periplus.search import snippets
from periplus.search.evidence import Terms
from periplus.search.requests import MAX_RESULTS, page_link
from periplus.search.text import clean

if TYPE_CHECKING:
    from periplus.index.snapshot import Snapshot
    from periplus.index.stored import StoredDocument
    from periplus.records import SearchRequest
    from periplus.search.execution import Listing
    from periplus.search.generations import Generation
    from periplus.search.reading import Understood
    from periplus.search.requests import Checked


ADDRESSES_KEPT = 10_000  # as people read them
DAYS_KEPT = 4_096
DAY = 86_400
_EPOCH = datetime.date(1970, 1, 1)


def moment(seconds: float) -> str:
    """A time as ISO 8601 in UTC; empty for never or for what no calendar holds."""
    if seconds == 0:
        return ""
    try:
        days, rest = divmod(int(seconds), DAY)
        minutes, second = divmod(rest, 60)
        return f"{_date(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}Z"
    except (ValueError, OverflowError):
        return ""


@lru_cache(maxsize=DAYS_KEPT)
def _date(days: int) -> str:
    return (_EPOCH + datetime.timedelta(days)).isoformat()


def wanted_words(snapshot: Snapshot, terms: Terms) -> snippets.Wanted:
    live = max(snapshot.live, 1)
    sought = [(forms, word.prefix) for word, forms in zip(terms.words, terms.forms, strict=True)]
    return snippets.sought(sought, [idf(live, widest) for widest in terms.widest])


class Page:
    """One page of results of a listing."""

    def __init__(
        self, generation: Generation, request: SearchRequest, checked: Checked, understood: Understood, listing: Listing
    ) -> None:
        self.snapshot = generation.snapshot
        self.request = request
        self.checked = checked
        self.listing = listing
        self._terms = listing.terms or Terms(self.snapshot, understood.plan.words)

    def results(self) -> tuple[SearchResult, ...]:
        first, last = self.checked.first, self.checked.last
        numbers = self.listing.numbers[first:last].tolist()
        if not numbers:
            return ()
        scores = self.listing.scores[first:last].tolist()
        documents = [self.snapshot.stored(number) for number in numbers]
        shown = snippets.snippets(documents, wanted_words(self.snapshot, self._terms))
        return tuple(
            self._result(first + place + 1, numbers[place], scores[place], documents[place], shown[place])
            for place in range(len(numbers))
        )

    def _result(
        self, rank: int, number: int, score: float, document: StoredDocument, snippet: snippets.Snippet
    ) -> SearchResult:
        listing = self.listing
        shown = display(document)
        return SearchResult(
            rank,
            document.id,
            document.url,
            shown,
            document.site,
            snippets.title(document, shown),
            snippet.text,
            snippet.highlights,
            document.language,
            moment(document.published) or None,
            moment(document.fetched),
            document.content_type,
            score,
            listing.more.get(number, 0),
            listing.explain(number, score) if self.request.explain else None,
            listing.duplicates.get(number, 0),
            number in listing.pinned,
        )

    def next(self) -> str | None:
        following = (self.request.page + 1) * self.request.size
        more = len(self.listing.numbers) > self.checked.last
        return page_link(self.request, self.request.page + 1) if more and following <= MAX_RESULTS else None


def display(document: StoredDocument) -> str:
    """The address as people read it; the id of a document that has none."""
    return _displayed(document.url) if document.host else clean(document.id)


@lru_cache(maxsize=ADDRESSES_KEPT)
def _displayed(url: str) -> str:
    return addresses.display(url)
