"""Results as they are shown, made of stored documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.records import SearchResult
from periplus.search import snippets
from periplus.search.display import displayed, moment
from periplus.search.text import clean

if TYPE_CHECKING:
    from periplus.index.snapshot import Snapshot
    from periplus.index.stored import StoredDocument
    from periplus.search.highlighter import Highlights

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def results(
    snapshot: Snapshot, numbers: IntArray, query: Highlights, rank: int, scores: FloatArray, counts: IntArray
) -> list[SearchResult]:
    """The results of documents that a search has found, the first of which has a rank.

    ``counts`` are three of each: how many more of its site there are, how many duplicates, whether it is pinned.
    """
    documents = snapshot.stored_many(numbers.tolist())
    shown = snippets.snippets(documents, query)
    every = zip(documents, shown, scores.tolist(), counts.reshape(-1, 3).tolist(), strict=True)
    return [_result(rank + place, *one) for place, one in enumerate(every)]


def _result(
    rank: int, document: StoredDocument, snippet: snippets.Snippet, score: float, numbers: list[int]
) -> SearchResult:
    address = displayed(document.url, document.host) if document.host else clean(document.id)
    more, duplicates, pinned = numbers
    return SearchResult(
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
        more,
        None,
        duplicates,
        bool(pinned),
    )
