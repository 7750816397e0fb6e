"""Broker: asks all shards of a collection, and puts together what they answer.

A document is known by a number: the place of its shard above ``SHARD_BITS``, and below its number there. The list that
two shards give is the list that one gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from periplus.records import Total
from periplus.search.counting import summed
from periplus.search.evidence import joined
from periplus.search.exchange import NOBODY, Hits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index import IndexQuery, StoredDocument
    from periplus.records import FilterCounts
    from periplus.search.evidence import CandidateEvidence
    from periplus.search.exchange import Excerpt, Mask, Numbers, Scores, ShardQuery, Visibility
    from periplus.search.lexicon import KnownWord
    from periplus.search.shard import Shard

SHARD_BITS = 48
LOCAL = (1 << SHARD_BITS) - 1
SPARE = 16  # candidates that a shard scores beyond one and a half times its share


class Broker:
    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)

    # Finding

    def top(self, asked: ShardQuery, k: int, scored: int) -> Hits:
        """The ``k`` best of all documents by the first pass, the first ``scored`` of them with their scores."""
        share = _share(scored, len(self.shards))
        hits = self._merged(asked, [shard.top(asked, k, share) for shard in self.shards], k)
        missing = np.flatnonzero(np.isnan(hits.scores[:scored]))
        if len(missing):
            hits.scores[missing] = self.scores(asked, hits.numbers[missing])
        return hits

    def _merged(self, asked: ShardQuery, parts: list[Hits], k: int) -> Hits:
        """The ``k`` best of all shards, as one index would order them."""
        if len(parts) == 1:
            return parts[0]
        orders = [shard.ordered(asked, part) for shard, part in zip(self.shards, parts, strict=True)]
        by, keys = np.concatenate([one.by for one in orders]), np.concatenate([one.keys for one in orders])
        best = np.lexsort((keys, -by))[:k]
        return _hits(parts, best, whole=all(part.whole for part in parts) and len(by) <= k)

    def hits_of(self, numbers: Numbers, worth: float) -> Hits:
        """Some documents as if the first pass had found them."""
        parts = [shard.hits_of(_own(place, numbers), worth) for place, shard in enumerate(self.shards)]
        return parts[0] if len(parts) == 1 else _hits(parts, np.arange(len(numbers)), whole=True)

    def scores(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> Scores:
        """Scores of some documents."""
        found: Scores = self._spread(
            np.float64, numbers, lambda place, own: self.shards[place].score(asked, own, _own(place, named))
        )
        return found

    def evidence(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> CandidateEvidence:
        """What a formula reads of some documents; of those that there was time for."""
        parts = []
        for place, shard in enumerate(self.shards):
            own = _own(place, numbers)
            if len(own) or len(self.shards) == 1:
                part = shard.evidence(asked, own, _own(place, named))
                parts.append(structs.replace(part, numbers=part.numbers | (place << SHARD_BITS)))
        return joined(parts or [self.shards[0].evidence(asked, NOBODY, NOBODY)])

    def matching(self, asked: ShardQuery, numbers: Numbers) -> Mask:
        """Which of some documents the query finds."""
        found: Mask = self._spread(np.bool_, numbers, lambda place, own: self.shards[place].matching(asked, own))
        return found

    def visible(self, visibility: Visibility, numbers: Numbers) -> Mask:
        """Which of some documents may be found at all."""
        found: Mask = self._spread(np.bool_, numbers, lambda place, own: self.shards[place].visible(visibility, own))
        return found

    def count(self, query: IndexQuery) -> int:
        """Documents that a query finds."""
        return sum(shard.count(query) for shard in self.shards)

    def counted(self, asked: ShardQuery) -> FilterCounts:
        """The matches by what filters tell apart."""
        return summed([shard.counted(asked) for shard in self.shards])

    # Documents

    def find(self, key: int) -> int | None:
        """The number of the document with an address key."""
        for place, shard in enumerate(self.shards):
            number = shard.find(key)
            if number is not None:
                return number | (place << SHARD_BITS)
        return None

    @property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that there are documents of."""
        return tuple(dict.fromkeys([tab for shard in self.shards for tab in shard.tabs]))

    def facts(self, number: int, tab: str) -> dict[str, str]:
        """What a document says of itself, if it belongs to a tab."""
        return self.shards[number >> SHARD_BITS].facts(number & LOCAL, tab)

    def stored(self, number: int) -> StoredDocument:
        return self.shards[number >> SHARD_BITS].stored(number & LOCAL)

    def ids(self, numbers: Numbers) -> list[str]:
        """The ids of many documents."""
        found: list[str] = self._spread(object, numbers, lambda place, own: self.shards[place].ids(own)).tolist()
        return found

    def show(self, numbers: Numbers, words: tuple[KnownWord, ...]) -> list[Excerpt]:
        """What people see of some documents."""
        if len(self.shards) == 1:
            return self.shards[0].show(numbers.tolist(), words)
        shown: list[Any] = [None] * len(numbers)
        for place, shard in enumerate(self.shards):
            rows = np.flatnonzero(numbers >> SHARD_BITS == place)
            for row, excerpt in zip(rows, shard.show((numbers[rows] & LOCAL).tolist(), words), strict=True):
                shown[row] = excerpt
        return shown

    def _spread(self, kind: Any, numbers: Numbers, ask: Callable[[int, Numbers], Any]) -> Any:
        """What each shard says of its own among some documents, in their order."""
        if len(self.shards) == 1:
            return np.asarray(ask(0, numbers), kind)
        result = np.empty(len(numbers), kind)
        for place in range(len(self.shards)):
            rows = np.flatnonzero(numbers >> SHARD_BITS == place)
            if len(rows):
                result[rows] = ask(place, numbers[rows] & LOCAL)
        return result


def _share(scored: int, shards: int) -> int:
    """Candidates that each shard scores: mostly enough, so that few are left to be scored by another question."""
    return scored if shards == 1 else min(scored, 3 * scored // (2 * shards) + SPARE if scored else 0)


def _own(place: int, numbers: Numbers) -> Numbers:
    """Those of one shard, by its own numbers."""
    own: Numbers = numbers[numbers >> SHARD_BITS == place] & LOCAL
    return own


def _hits(parts: list[Hits], best: Numbers, *, whole: bool) -> Hits:
    """Some hits of all shards, by the numbers of the collection."""
    shards = np.repeat(np.arange(len(parts)), [len(part.numbers) for part in parts])
    numbers = _column(parts, "numbers") | (shards << SHARD_BITS)
    return Hits(
        numbers[best],
        _column(parts, "firsts")[best],
        _column(parts, "scores")[best],
        _column(parts, "hosts")[best],
        _column(parts, "prints")[best],
        total_of([part.total for part in parts]),
        whole,
    )


def _column(parts: list[Hits], name: str) -> Any:
    return np.concatenate([getattr(part, name) for part in parts])


def total_of(parts: Sequence[Total]) -> Total:
    """The matches of all shards."""
    return Total(sum(part.value for part in parts), "eq" if all(part.relation == "eq" for part in parts) else "gte")
