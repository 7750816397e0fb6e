"""The words of several dictionaries as if they were one: how many live documents have each, the most frequent first.

A word may be rare in every segment and still frequent in all of them together, so nothing is left out by what one
segment says. Terms are decoded in long runs, which all dictionaries are cut into at the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from periplus.index.format.aligned import aligned_ranges
from periplus.text import STEM_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.index.format.dictionary import Dictionary

RUN = 1 << 16  # terms decoded at once
LEAST_NAMED = 64  # by each dictionary that is asked for the words that begin so


class CountedTerms(Protocol):
    """A dictionary with the live documents of its terms."""

    @property
    def dictionary(self) -> Dictionary: ...

    def frequencies(self, low: int, high: int) -> NDArray[np.int64]:
        """Of the terms [low, high)."""


def counted_terms(sources: Sequence[CountedTerms]) -> Iterator[tuple[list[bytes], NDArray[np.int64]]]:
    """All terms that live documents have, in byte order, with how many have them; a run at a time."""
    for ranges in aligned_ranges([_Ascending(source.dictionary) for source in sources], RUN):
        found: dict[bytes, int] = {}
        for source, (low, high) in zip(sources, ranges, strict=True):
            terms = source.dictionary.terms(low, high)
            counts = source.frequencies(low, high).tolist()
            if not found:
                found = dict(zip(terms, counts, strict=True))
                continue
            for term, count in zip(terms, counts, strict=True):
                found[term] = found.get(term, 0) + count
        live = [term for term, count in found.items() if count]
        if len(sources) > 1:
            live.sort()
        if live:
            yield live, np.array([found[term] for term in live], np.int64)


def frequent_words(sources: Sequence[CountedTerms], limit: int) -> list[tuple[str, int]]:
    """Words (no stems) with the number of live documents that have them, most frequent first."""
    if len(sources) == 1:
        return _spelt(_most_frequent(sources[0], b"", limit)[0])
    kept: list[tuple[bytes, int]] = []
    least = 0
    for terms, counts in counted_terms(sources):
        pairs = zip(terms, counts.tolist(), strict=True)
        kept += [(term, count) for term, count in pairs if count > least and not term.startswith(_STEM)]
        if len(kept) > 2 * limit:
            kept = _best(kept, limit)
            least = kept[-1][1] if kept else least  # those that follow come behind in the order of words, too
    return _spelt(_best(kept, limit))


def words_with_prefix(sources: Sequence[CountedTerms], prefix: str, limit: int) -> list[tuple[str, int]]:
    """Words (no stems) that begin so, with their live documents, by frequency and then by the word.

    Each dictionary names its most frequent ones. More are asked for until no word that nobody named can be among the
    first ``limit`` of all.
    """
    start, wanted = prefix.encode(), max(LEAST_NAMED, 8 * limit)
    if len(sources) == 1:
        return _spelt(_most_frequent(sources[0], start, limit)[0])
    while True:
        named = [_most_frequent(source, start, wanted) for source in sources]
        terms = sorted({term for some, _ in named for term, _ in some})
        counts = np.zeros(len(terms), np.int64)
        for source in sources if terms else ():
            counts += _frequencies_of(source, terms)
        best = _best([pair for pair in zip(terms, counts.tolist(), strict=True) if pair[1]], limit)
        most_unnamed = sum(rest for _, rest in named)
        if not most_unnamed or (len(best) == limit and (not limit or best[-1][1] > most_unnamed)):
            return _spelt(best)
        wanted *= 4


def _frequencies_of(source: CountedTerms, terms: Sequence[bytes]) -> NDArray[np.int64]:
    if not len(source.dictionary):
        return np.zeros(len(terms), np.int64)
    numbers = source.dictionary.find(terms)
    there = np.flatnonzero(numbers >= 0)
    counts = np.zeros(len(terms), np.int64)
    if len(there):
        low, high = int(numbers[there].min()), int(numbers[there].max()) + 1
        counts[there] = source.frequencies(low, high)[numbers[there] - low]
    return counts


def _most_frequent(source: CountedTerms, prefix: bytes, limit: int) -> tuple[list[tuple[bytes, int]], int]:
    """The most frequent words of one dictionary in their order, and the documents of the next one, if there is one."""
    dictionary = source.dictionary
    first, last = dictionary.prefix_range(prefix)
    frequencies = source.frequencies(first, last).copy()
    low, high = dictionary.prefix_range(_STEM)
    frequencies[max(low - first, 0) : max(high - first, 0)] = 0
    wanted = np.flatnonzero(frequencies)
    rest = 0
    if len(wanted) > limit:
        least = -int(np.partition(-frequencies[wanted], limit)[limit])
        rest = least
        wanted = wanted[frequencies[wanted] >= max(least, 1)]
    wanted = wanted[np.argsort(-frequencies[wanted], kind="stable")[:limit]]
    in_order = np.sort(wanted)
    terms = dict(zip(in_order.tolist(), _decoded(dictionary, first + in_order), strict=True))
    return [(terms[place], int(frequencies[place])) for place in wanted.tolist()], rest


def _decoded(dictionary: Dictionary, numbers: NDArray[np.int64]) -> Iterator[bytes]:
    """The terms with these ascending numbers."""
    at = 0
    while at < len(numbers):
        low = int(numbers[at])
        end = int(np.searchsorted(numbers, low + RUN))
        run = dictionary.terms(low, int(numbers[end - 1]) + 1)
        yield from (run[number - low] for number in numbers[at:end].tolist())
        at = end


def _best(pairs: list[tuple[bytes, int]], limit: int) -> list[tuple[bytes, int]]:
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _spelt(pairs: Sequence[tuple[bytes, int]]) -> list[tuple[str, int]]:
    return [(term.decode("utf-8", "replace"), count) for term, count in pairs]


class _Ascending:
    """A dictionary as ``aligned_ranges`` takes it."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self.weight = len(dictionary)

    def __len__(self) -> int:
        return self.weight

    def at(self, place: int) -> bytes:
        return self._dictionary.term(place)

    def before(self, value: bytes) -> int:
        return self._dictionary.lower_bound(value)

    def reach(self, low: int, share: int) -> int:
        return min(low + share, self.weight)


_STEM = STEM_MARK.encode()
