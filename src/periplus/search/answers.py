"""Putting an answer together: the results of one page with titles, snippets, dates and links."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.addresses.display import MAX_LENGTH, SEPARATOR
from periplus.records import SearchResult
from periplus.search import snippets
from periplus.search.requests import MAX_RESULTS, page_link
from periplus.search.terms import Terms
from periplus.search.text import clean

if TYPE_CHECKING:
    from periplus.records import SearchRequest
    from periplus.search.execution import Listing
    from periplus.search.generations import Generation
    from periplus.search.reading import Understood
    from periplus.search.requests import Checked


ADDRESSES_KEPT = 10_000  # as people read them
DAYS_KEPT = 4_096
DAY = 86_400
_ODD = re.compile("[%#]|//|xn--")  # what has to be decoded or left out of an address
_SCHEMES = ("http", "https")
_EPOCH = datetime.date(1970, 1, 1)


@lru_cache(maxsize=DAYS_KEPT)
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


def wanted_words(terms: Terms) -> snippets.Wanted:
    return snippets.sought([known.begins for known in terms.known], [known.weight for known in terms.known])


class Page:
    """One page of results of a listing."""

    def __init__(
        self, generation: Generation, request: SearchRequest, checked: Checked, understood: Understood, listing: Listing
    ) -> None:
        self.snapshot = generation.snapshot
        self.request = request
        self.checked = checked
        self.listing = listing
        self._terms = listing.terms or Terms(generation.lexicon, understood.plan.words)

    def results(self) -> tuple[SearchResult, ...]:
        first, last = self.checked.first, self.checked.last
        listing = self.listing
        numbers = listing.numbers[first:last].tolist()
        if not numbers:
            return ()
        scores = listing.scores[first:last].tolist()
        documents = self.snapshot.stored_many(numbers)
        shown = snippets.snippets(documents, wanted_words(self._terms))
        more, folded, pinned, explains = listing.more, listing.duplicates, listing.pinned, self.request.explain
        results = []
        rank = first
        for number, score, document, snippet in zip(numbers, scores, documents, shown, strict=True):
            rank += 1
            address = displayed(document.url, document.host) if document.host else clean(document.id)
            results.append(
                SearchResult(
                    rank,
                    document.id,
                    document.url,
                    address,
                    document.site,
                    snippets.title(document, address),
                    snippet.text,
                    snippet.highlights,
                    document.language,
                    moment(document.published) or None,
                    moment(document.fetched),
                    document.content_type,
                    score,
                    more.get(number, 0),
                    listing.explain(number, score) if explains else None,
                    folded.get(number, 0),
                    number in pinned,
                )
            )
        return tuple(results)

    def next(self) -> str | None:
        following = (self.request.page + 1) * self.request.size
        more = len(self.listing.numbers) > self.checked.last
        return page_link(self.request, self.request.page + 1) if more and following <= MAX_RESULTS else None


def displayed(url: str, host: str) -> str:
    """``addresses.display``, at once for an address in which nothing is to be decoded or left out."""
    scheme, _, rest = url.partition("://")
    if _ODD.search(rest) or not rest.isascii() or scheme not in _SCHEMES or not rest.startswith(f"{host}/"):
        return _displayed(url)
    path, _, query = rest.partition("?")
    shown = path.rstrip("/").replace("/", SEPARATOR)
    if query:
        shown = f"{shown}{SEPARATOR}?{query}"
    return shown if len(shown) <= MAX_LENGTH and ":" not in host else _displayed(url)


@lru_cache(maxsize=ADDRESSES_KEPT)
def _displayed(url: str) -> str:
    return addresses.display(url)
