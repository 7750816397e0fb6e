"""Broker: asks all shards of a collection at once, and puts together what they answer.

A document is known by a number: the place of its shard above ``SHARD_BITS``, and below its number there. The list that
two shards give is the list that one gives.

Each search has a broker of its own (``until``), which knows when its time is over and which shards did not answer. One
that was missing once is not asked again, so that an answer is that of the same shards as a whole.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from periplus.errors import PeriplusError, ShardsMissing
from periplus.records import Total
from periplus.search.shards.counting import summed
from periplus.search.shards.evidence import joined
from periplus.search.shards.exchange import MISSING, NOBODY, Ask, Hits
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from periplus.index import IndexQuery, StoredDocument
    from periplus.records import FilterCounts
    from periplus.search.query.lexicon import KnownWord
    from periplus.search.shards.evidence import CandidateEvidence
    from periplus.search.shards.exchange import Excerpt, Mask, Numbers, Scores, ShardQuery, Shards, Visibility
    from periplus.search.shards.shard import Shard

SHARD_BITS = 48
LOCAL = (1 << SHARD_BITS) - 1
DEVIATIONS = 4  # of the number of best documents that chance gives a shard, which its first answer allows for
FOREVER = float("inf")
NOWHERE = -1  # the number of a document that a shard does not have


class ShardLost(PeriplusError):
    """A shard that found documents does not answer any more: the search begins again without it."""

    code = "shard-lost"


class GenerationGone(PeriplusError):
    """The servers that are left of a shard have only the generation before; ``place`` is that of the shard."""

    code = "generation-gone"

    def __init__(self, place: int) -> None:
        super().__init__(f"shard {place} has only the generation before; ask again")
        self.place = place


class LocalShards:
    """Shards in this process: asked by a call."""

    def __init__(self, shards: Iterable[Shard]) -> None:
        self._shards = tuple(shards)

    @property
    def documents(self) -> Sequence[int]:
        return [shard.snapshot.live for shard in self._shards]

    def ask(self, asked: Sequence[Ask], deadline: float) -> list[Any]:
        shards = self._shards
        return [getattr(shards[place], method)(*arguments) for place, method, arguments in asked]


class Broker:
    def __init__(self, shards: Shards, deadline: float = FOREVER, missing: Iterable[int] = ()) -> None:
        self._shards = shards
        self._count = len(shards.documents)
        self.deadline = deadline  # by ``time.perf_counter``
        self.missing = set(missing)  # places of shards that did not answer

    def until(self, deadline: float) -> Broker:
        """The broker of one search."""
        return Broker(self._shards, deadline)

    def again(self) -> Broker:
        """One that begins anew with the shards that are left."""
        return Broker(self._shards, self.deadline, self.missing)

    def without(self, place: int) -> Broker:
        """One that begins anew without a shard."""
        self._lose([place])
        return self.again()

    @property
    def degraded(self) -> tuple[str, ...]:
        """The shards whose documents were not searched."""
        return tuple(f"shard:{place}" for place in sorted(self.missing)) if self.missing else ()

    @property
    def coverage(self) -> float:
        """The share of all documents that were searched."""
        if not self.missing:
            return 1.0
        documents = self._shards.documents
        lost = sum(documents[place] for place in self.missing)
        return 1.0 - lost / max(sum(documents), 1)

    # Asking

    def _ask(self, asked: list[Ask]) -> list[Any]:
        """All at once; the answers in their order, without those of shards that are missing."""
        if self.missing:
            asked = [ask for ask in asked if ask.place not in self.missing]
        answers = self._shards.ask(asked, self.deadline)
        lost = [ask.place for ask, answer in zip(asked, answers, strict=True) if answer is MISSING]
        if not lost:
            return answers
        self._lose(lost)
        return [answer for answer in answers if answer is not MISSING]

    def _lose(self, places: list[int]) -> None:
        self.missing.update(places)
        if len(self.missing) == self._count:
            raise ShardsMissing(f"none of the {self._count} shards answered in time; see that periplus shard runs")

    def _all(self, method: str, *arguments: Any) -> list[Any]:
        """What every shard answers to the same question."""
        return self._ask([Ask(place, method, arguments) for place in range(self._count)])

    def _some(self, asked: list[Ask]) -> list[Any]:
        """Of shards whose documents were found: all of them answer, or the search begins again."""
        answers = self._ask(asked)
        if len(answers) < len(asked):
            raise ShardLost("a shard went away during a search; ask again")
        return answers

    def _one(self, number: int, method: str, *arguments: Any) -> Any:
        """Of the shard that has a document."""
        return self._some([Ask(number >> SHARD_BITS, method, (number & LOCAL, *arguments))])[0]

    def _spread(self, kind: Any, numbers: Numbers, method: str, before: tuple[Any, ...], after: Any = None) -> Any:
        """What each shard says of its own among some documents, in their order.

        It is asked with ``before``, then its documents, then its own among those of ``after``.
        """
        if self._count == 1:
            more = () if after is None else (after,)
            return np.asarray(self._some([Ask(0, method, (*before, numbers, *more))])[0], kind)
        rows = {place: own for place in range(self._count) if len(own := _rows(numbers, place))}
        asked = []
        for place, own in rows.items():
            more = () if after is None else (_own(place, after),)
            asked.append(Ask(place, method, (*before, numbers[own] & LOCAL, *more)))
        answers = self._some(asked)
        result = np.empty(len(numbers), kind)
        for own, answer in zip(rows.values(), answers, strict=True):
            result[own] = answer
        return result

    # Finding

    @traced("search.rank")
    def top(self, asked: ShardQuery, k: int, scored: int) -> Hits:
        """The ``k`` best of all documents by the first pass, the first ``scored`` of them with their scores."""
        if self._count == 1:
            return self._tops(asked, k, scored)[0]
        hits = self._best(asked, k, scored)
        missing = np.flatnonzero(np.isnan(hits.scores[:scored]))
        if len(missing):
            hits.scores[missing] = self.scores(asked, hits.numbers[missing])
        return hits

    def _best(self, asked: ShardQuery, k: int, scored: int) -> Hits:
        """The ``k`` best of several shards, as one index would order them.

        The best documents are spread by chance, so each shard is asked for its part of them and a little more. Where
        all that a shard gave is among the best, more of it may be: that one is asked for as many as all together.
        """
        share = _share(k, self._count)
        parts = self._tops(asked, share, min(share, scored))
        hits, exhausted = _merged(parts, k)
        if not exhausted:
            return hits
        arguments = self._top_arguments(asked, k, min(share, scored))
        again = self._some([Ask(place, "top", arguments) for place in exhausted])
        return _merged(parts | dict(zip(exhausted, again, strict=True)), k)[0]

    def _tops(self, asked: ShardQuery, k: int, scored: int) -> dict[int, Hits]:
        """The hits of every shard that answers, by its place."""
        parts = self._all("top", *self._top_arguments(asked, k, scored))
        return dict(zip([place for place in range(self._count) if place not in self.missing], parts, strict=True))

    def _top_arguments(self, asked: ShardQuery, k: int, scored: int) -> tuple[ShardQuery, int, int, bool]:
        """Hits tell their order among those of other shards where there are any."""
        return asked, k, scored, self._count > 1

    def hits_of(self, asked: ShardQuery, numbers: Numbers, worth: float) -> Hits:
        """Some documents as if the first pass had found them; those of the first shard first."""
        places = [place for place in range(self._count) if len(_rows(numbers, place))]
        parts = self._some([Ask(place, "hits_of", (asked, _own(place, numbers), worth)) for place in places])
        return _hits(dict(zip(places, parts, strict=True)), np.arange(len(numbers)), whole=True)

    def scores(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> Scores:
        """Scores of some documents."""
        found: Scores = self._spread(np.float64, numbers, "score", (asked,), named)
        return found

    def evidence(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> CandidateEvidence:
        """What a formula reads of some documents; of those that there was time for."""
        places = [place for place in range(self._count) if len(_rows(numbers, place))] or [self._first()]
        parts = self._some(
            [Ask(place, "evidence", (asked, _own(place, numbers), _own(place, named))) for place in places]
        )
        return joined(
            [
                structs.replace(part, numbers=part.numbers | (place << SHARD_BITS))
                for place, part in zip(places, parts, strict=True)
            ]
        )

    def _first(self) -> int:
        return min(set(range(self._count)) - self.missing)

    def matching(self, asked: ShardQuery, numbers: Numbers) -> Mask:
        """Which of some documents the query finds."""
        found: Mask = self._spread(np.bool_, numbers, "matching", (asked,))
        return found

    def visible(self, visibility: Visibility, numbers: Numbers) -> Mask:
        """Which of some documents may be found at all."""
        found: Mask = self._spread(np.bool_, numbers, "visible", (visibility,))
        return found

    def count(self, query: IndexQuery) -> int:
        """Documents that a query finds."""
        return sum(self._all("count", query))

    def counted(self, asked: ShardQuery) -> FilterCounts:
        """The matches by what filters tell apart."""
        return summed(self._all("counted", asked))

    # Documents

    def find(self, keys: Sequence[int]) -> list[int | None]:
        """The numbers of the documents with some address keys; None for one that there is not."""
        found: list[int | None] = [None] * len(keys)
        if not keys:
            return found
        parts = self._all("find", list(keys))
        places = [place for place in range(self._count) if place not in self.missing]
        for place, part in zip(places, parts, strict=True):
            for row, number in enumerate(part):
                if number != NOWHERE:
                    found[row] = number | (place << SHARD_BITS)
        return found

    def facts(self, numbers: Numbers, tab: str) -> list[dict[str, str]]:
        """What documents say of themselves, if they belong to a tab."""
        found: list[dict[str, str]] = self._listed(numbers, "facts", tab)
        return found

    def titles(self, numbers: Numbers) -> list[tuple[str, str]]:
        """Addresses and titles of documents."""
        found: list[tuple[str, str]] = self._listed(numbers, "titles")
        return found

    def stored(self, number: int) -> StoredDocument:
        document: StoredDocument = self._one(number, "stored")
        return document

    def ids(self, numbers: Numbers) -> list[str]:
        """The ids of many documents."""
        found: list[str] = self._spread(object, numbers, "ids", ()).tolist()
        return found

    @traced("search.show")
    def show(self, numbers: Numbers, words: tuple[KnownWord, ...]) -> list[Excerpt]:
        """What people see of some documents."""
        found: list[Excerpt] = self._listed(numbers, "show", words)
        return found

    def _listed(self, numbers: Numbers, method: str, *arguments: Any) -> list[Any]:
        """What the shards say of their documents, one each, in the order of the documents."""
        if self._count == 1:
            found: list[Any] = self._some([Ask(0, method, (numbers.tolist(), *arguments))])[0]
            return found
        rows = {place: own for place in range(self._count) if len(own := _rows(numbers, place))}
        asked = [Ask(place, method, ((numbers[own] & LOCAL).tolist(), *arguments)) for place, own in rows.items()]
        listed: list[Any] = [None] * len(numbers)
        for own, part in zip(rows.values(), self._some(asked), strict=True):
            for row, one in zip(own.tolist(), part, strict=True):
                listed[row] = one
        return listed


def _share(k: int, shards: int) -> int:
    """Of the ``k`` best documents of all shards, as many as one of them hardly ever has more of."""
    return min(k, ceil(k / shards + DEVIATIONS * sqrt(k / shards)))


def _rows(numbers: Numbers, place: int) -> Numbers:
    """Where documents of one shard stand among all."""
    rows: Numbers = np.flatnonzero(numbers >> SHARD_BITS == place)
    return rows


def _own(place: int, numbers: Numbers) -> Numbers:
    """Those of one shard, by its own numbers."""
    own: Numbers = numbers[numbers >> SHARD_BITS == place] & LOCAL
    return own


def _merged(parts: dict[int, Hits], k: int) -> tuple[Hits, list[int]]:
    """The ``k`` best of all shards, and the places of those shards that may have further ones of them."""
    orders = [part.order for part in parts.values() if part.order is not None]
    by, keys = np.concatenate([one.by for one in orders]), np.concatenate([one.keys for one in orders])
    best = np.lexsort((keys, -by))[:k]
    chosen = np.zeros(len(by) + 1, np.bool_)  # one more for the end of a part without hits, which may be -1
    chosen[best] = True
    last_is_best = chosen[np.cumsum([len(one.keys) for one in orders]) - 1].tolist()
    exhausted = [
        place for (place, part), last in zip(parts.items(), last_is_best, strict=True) if last and not part.whole
    ]
    return _hits(parts, best, whole=all(part.whole for part in parts.values()) and len(by) <= k), exhausted


def _hits(parts: dict[int, Hits], best: Numbers, *, whole: bool) -> Hits:
    """Some hits of all shards, by the numbers of the collection."""
    several = list(parts.values())
    shards = np.repeat(list(parts), [len(part.numbers) for part in several])
    numbers = _column(several, "numbers") | (shards << SHARD_BITS)
    return Hits(
        numbers[best],
        _column(several, "firsts")[best],
        _column(several, "scores")[best],
        _column(several, "hosts")[best],
        _column(several, "prints")[best],
        _column(several, "fits")[best],
        total_of([part.total for part in several]),
        whole,
    )


def _column(parts: list[Hits], name: str) -> Any:
    return np.concatenate([getattr(part, name) for part in parts])


def total_of(parts: Sequence[Total]) -> Total:
    """The matches of all shards."""
    return Total(sum(part.value for part in parts), "eq" if all(part.relation == "eq" for part in parts) else "gte")
