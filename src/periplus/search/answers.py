"""Putting an answer together: the results of one page with titles, snippets, dates and links."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.ranking import formulas
from periplus.records import SearchResult
from periplus.search import snippets
from periplus.search.evidence import Terms
from periplus.search.execution import more_of_host
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


def moment(seconds: float) -> str:
    """A time as ISO 8601 in UTC; empty for never or for what no calendar holds."""
    if seconds == 0:
        return ""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def wanted_words(snapshot: Snapshot, understood: Understood) -> snippets.Wanted:
    terms = Terms(snapshot, understood.plan.words)
    weights = [
        float(formulas.bm25_idf(max(snapshot.live, 1), terms.document_frequency(word)))
        for word in range(len(terms.words))
    ]
    words = [
        type(word)(word.text, forms, word.weight, word.prefix)
        for word, forms in zip(terms.words, terms.forms, strict=True)
    ]
    return snippets.wanted(words, weights)


class Page:
    """One page of results of a listing."""

    def __init__(
        self, generation: Generation, request: SearchRequest, checked: Checked, understood: Understood, listing: Listing
    ) -> None:
        self.snapshot = generation.snapshot
        self.request = request
        self.checked = checked
        self.understood = understood
        self.listing = listing
        self.wanted = wanted_words(self.snapshot, understood)

    def results(self, per_host: int) -> tuple[SearchResult, ...]:
        numbers = self.listing.numbers[self.checked.first : self.checked.last].tolist()
        scores = self.listing.scores[self.checked.first : self.checked.last].tolist()
        return tuple(
            self._result(self.checked.first + place + 1, number, score, per_host)
            for place, (number, score) in enumerate(zip(numbers, scores, strict=True))
        )

    def _result(self, rank: int, number: int, score: float, per_host: int) -> SearchResult:
        document = self.snapshot.stored(number)
        shown = display(document)
        snippet = snippets.snippet(document, self.wanted)
        full = number in self.listing.full_hosts
        return SearchResult(
            rank=rank,
            id=document.id,
            url=document.url,
            display_url=shown,
            site=document.site,
            title=snippets.title(document, shown),
            snippet=snippet.text,
            highlights=snippet.highlights,
            language=document.language,
            published=moment(document.published) or None,
            fetched=moment(document.fetched),
            type=document.content_type,
            score=score,
            more_from_site=more_of_host(self.snapshot, self.understood.plan, document.host, per_host) if full else 0,
            explain=self.listing.explain(number, score) if self.request.explain else None,
            duplicates=self.listing.duplicates.get(number, 0),
            pinned=number in self.listing.pinned,
        )

    def next(self) -> str | None:
        following = (self.request.page + 1) * self.request.size
        more = len(self.listing.numbers) > self.checked.last
        return page_link(self.request, self.request.page + 1) if more and following <= MAX_RESULTS else None


def display(document: StoredDocument) -> str:
    """The address as people read it; the id of a document that has none."""
    return addresses.display(document.url) if document.host else clean(document.id)
