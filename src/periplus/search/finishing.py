"""Results from stored documents as they are packed: what is shown of them is found, cut and written by kernels.

No object is made of a document whose title, address, times and snippet can be shown as they stand; of all others the
result is put together here, by the rules for titles, addresses and snippets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from periplus.index.texts import unpack
from periplus.records import SearchResult
from periplus.search import snippets
from periplus.search.display import displayed, moment
from periplus.search.hits import Texts
from periplus.search.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.index.stored import StoredDocument

decode: Any = msgspec.msgpack.Decoder(list[SearchResult | None]).decode  # nothing for what no kernel could write

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def results(
    snapshot: Snapshot, numbers: IntArray, query: snippets.Wanted, rank: int, scores: FloatArray, counts: IntArray
) -> list[SearchResult]:
    """The results of documents that a search has found, the first of which has a rank.

    ``counts`` are three of each: how many more of its site there are, how many duplicates, whether it is pinned.
    """
    rows = (numbers.tobytes(), np.asarray(scores, np.float64).tobytes(), counts.tobytes())
    texts = Texts.stored(snapshot.frames, len(numbers), rows, query)
    if texts is None:
        return finished(snapshot.packed_many(numbers.tolist()), query, rank, scores, counts)
    return written(texts, rank)


def finished(
    packed: Sequence[bytes | memoryview], query: snippets.Wanted, rank: int, scores: FloatArray, counts: IntArray
) -> list[SearchResult]:
    """The same of packed documents."""
    texts = Texts.packed(packed, (bytes(8 * len(packed)), scores.tobytes(), counts.tobytes()), query)
    if texts is not None:
        return written(texts, rank)
    documents = [unpack(one) for one in packed]  # packed by another version
    shown = snippets.snippets(documents, query)
    every = zip(documents, shown, scores.tolist(), counts.reshape(-1, 3).tolist(), strict=True)
    return [_result(rank + place, *one) for place, one in enumerate(every)]


def written(texts: Texts, rank: int) -> list[SearchResult]:
    """The results of stored documents that were looked through."""
    return decoded(texts, rank, texts.show(rank))


def decoded(texts: Texts, rank: int, special: int) -> list[SearchResult]:
    """The same once they are written; of ``special`` ones nothing is."""
    made: list[SearchResult] = decode(texts.results)
    if special:
        scores, counts = texts.scores, texts.counts
        documents = {place: unpack(texts.document(place)) for place, result in enumerate(made) if result is None}
        shown = snippets.assembled(documents, texts.pages, texts.query)
        for (place, document), snippet in zip(documents.items(), shown, strict=True):
            made[place] = _result(rank + place, document, snippet, scores[place], counts[place])
    return made


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
