"""Results from stored documents as they are packed: what is shown of them is found, cut and written by kernels.

No object is made of a document whose title, address, times and snippet can be shown as they stand; of all others the
result is put together here, by the rules for titles, addresses and snippets.
"""

from __future__ import annotations

from functools import cache
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
    from collections.abc import Callable, Sequence

    from periplus.index.stored import StoredDocument

_RECORD, _SPAN = 28, 4  # numbers of a document and of a text, as kernels have them
_ROOM = 6_144  # bytes of a result, beyond what is copied from its document
_DECODER: Any = msgspec.msgpack.Decoder(list[SearchResult | None])

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def finished(
    packed: Sequence[bytes | memoryview], query: snippets.Wanted, rank: int, scores: FloatArray, numbers: IntArray
) -> list[SearchResult]:
    """The results of documents, the first of which has a rank.

    ``numbers`` are three of each: how many more of its site there are, how many duplicates, whether it is pinned.
    """
    joined, count = b"".join(packed), len(packed)
    fields, spans = np.empty(_RECORD * count, np.int64), np.empty(_SPAN * count, np.int64)
    data = np.frombuffer(joined, np.uint8)
    cut, finish = _kernels()
    if not cut(data, fields, spans):  # packed by another version
        documents = [unpack(one) for one in packed]
        shown = snippets.snippets(documents, query)
        every = zip(documents, shown, scores.tolist(), numbers.reshape(-1, 3).tolist(), strict=True)
        return [_result(rank + place, *one) for place, one in enumerate(every)]
    texts = Texts(joined, spans, query)
    pages = snippets.chosen(texts, query)
    out = np.empty(len(joined) + _ROOM * count, np.uint8)
    both = finish(data, fields, texts.points, texts.ends, pages, rank, scores.view(np.int64), numbers, out)
    results: list[SearchResult] = _DECODER.decode(out[: both & 0xFFFF_FFFF])
    if both >> 32:
        special = {place: unpack(packed[place]) for place, made in enumerate(results) if made is None}
        shown = snippets.assembled(special, pages, query)
        for (place, document), snippet in zip(special.items(), shown, strict=True):
            own = numbers[3 * place : 3 * place + 3].tolist()
            results[place] = _result(rank + place, document, snippet, float(scores[place]), own)
    return results


@cache
def _kernels() -> tuple[Callable[..., int], Callable[..., int]]:
    from periplus.search.kernels.records import cut
    from periplus.search.kernels.results import finish

    return cut.entry, finish.entry


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
