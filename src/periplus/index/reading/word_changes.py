"""What one generation changes in the words of the one before, and the list of words with these changes.

Segments do not change. So the documents with a word change only by segments that came or went, and by documents that
were deleted: an update of few documents changes few words, however many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.index.format.dictionary import JoinedTerms
from periplus.index.reading.wordlist import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.index.format.dictionary import Dictionary
    from periplus.index.format.manifest import SegmentEntry
    from periplus.index.reading.wordlist import CountedTerms
    from periplus.index.retrieval.view import SegmentView

MOST_CHANGES = 1_000_000  # terms; beyond it, all words are counted anew
ROWS = 1 << 16  # terms of a segment that are compared at once
FEW = 32  # one term in so many of these: fewer are decoded one by one

Segments = dict[str, "SegmentEntry"]


def changed_entries(before: Sequence[SegmentEntry], after: Sequence[SegmentEntry]) -> tuple[Segments, Segments]:
    """Segments of either side, by their names, that have not the same live documents on the other."""
    old, new = ({(entry.name, entry.live_file): entry for entry in entries} for entries in (before, after))
    gone = {name: entry for (name, live), entry in old.items() if (name, live) not in new}
    come = {name: entry for (name, live), entry in new.items() if (name, live) not in old}
    return gone, come


def word_changes(before: Sequence[SegmentView], after: Sequence[SegmentView]) -> dict[bytes, int] | None:
    """How many documents more, or fewer, have each term; ``None`` when that is too much to be kept in memory."""
    old, new = ({view.segment.name: view for view in views} for views in (before, after))
    whole = [view for name, view in (*old.items(), *new.items()) if not (name in old and name in new)]
    if sum(len(view.dictionary) for view in whole) > MOST_CHANGES:
        return None
    found: dict[bytes, int] = {}
    for name in dict.fromkeys([*old, *new]):
        _add(found, old.get(name), new.get(name))
        if len(found) > MOST_CHANGES:  # many documents were deleted
            return None
    return {term: change for term, change in found.items() if change}


def _add(found: dict[bytes, int], old: SegmentView | None, new: SegmentView | None) -> None:
    """What changed in one segment, which came, went, or has other live documents."""
    view = new or old
    for first in range(0, len(view.dictionary) if view else 0, ROWS):
        last = first + ROWS
        changes = _frequencies(new, first, last) - _frequencies(old, first, last)
        numbers = np.flatnonzero(changes)
        terms = _terms(view.dictionary, first, last, numbers) if view else ()
        for term, change in zip(terms, changes[numbers].tolist(), strict=True):
            found[term] = found.get(term, 0) + change


def _frequencies(view: SegmentView | None, first: int, last: int) -> NDArray[np.int64]:
    return np.zeros(1, np.int64) if view is None else view.frequencies(first, min(last, len(view.dictionary)))


def _terms(dictionary: Dictionary, first: int, last: int, numbers: NDArray[np.int64]) -> Iterable[bytes]:
    """Of a range, those at these places in it."""
    if FEW * len(numbers) < min(last, len(dictionary)) - first:
        return [dictionary.term(first + number) for number in numbers.tolist()]
    run = dictionary.terms(first, last)
    return [run[number] for number in numbers.tolist()]


def patched_terms(words: CountedTerms, changes: Mapping[bytes, int]) -> Iterator[tuple[JoinedTerms, NDArray[np.int64]]]:
    """All terms of a list in byte order with these changes, a run at a time, without those that nobody has any more."""
    terms = sorted(changes)
    dictionary = words.dictionary
    places = dictionary.find(terms) if terms and len(dictionary) else np.full(len(terms), -1, np.int64)
    known = np.flatnonzero(places >= 0)
    numbers, amounts = places[known], np.array([changes[terms[row]] for row in known.tolist()], np.int64)
    new = [term for term, place in zip(terms, places.tolist(), strict=True) if place < 0]
    before = np.array([dictionary.lower_bound(term) for term in new], np.int64)
    for first in range(0, max(len(dictionary), 1), RUN):
        last = min(first + RUN, len(dictionary))
        counts = words.frequencies(first, last)
        low, high = np.searchsorted(numbers, (first, last)).tolist()
        counts[numbers[low:high] - first] += amounts[low:high]
        low, high = np.searchsorted(before, (first, last if last < len(dictionary) else last + 1)).tolist()
        inserted = new[low:high]
        at = before[low:high] - first
        amount = np.array([changes[term] for term in inserted], np.int64)
        yield _without_zeros(_with(dictionary.joined(first, last), inserted, at), np.insert(counts, at, amount))


def _with(joined: JoinedTerms, terms: Sequence[bytes], places: NDArray[np.int64]) -> JoinedTerms:
    """Terms with others before those at these ascending places."""
    if not terms:
        return joined
    text, bounds = joined.text.tobytes(), np.concatenate([[0], joined.ends])
    parts, at = [], 0
    for term, cut in zip(terms, bounds[places].tolist(), strict=True):
        parts += [text[at:cut], term]
        at = cut
    parts.append(text[at:])
    sizes = np.insert(np.diff(bounds), places, [len(term) for term in terms])
    return JoinedTerms(np.frombuffer(b"".join(parts), np.uint8), np.cumsum(sizes))


def _without_zeros(joined: JoinedTerms, counts: NDArray[np.int64]) -> tuple[JoinedTerms, NDArray[np.int64]]:
    there = counts > 0
    if there.all():
        return joined, counts
    sizes = np.diff(joined.ends, prepend=0)
    return JoinedTerms(joined.text[np.repeat(there, sizes)], np.cumsum(sizes[there])), counts[there]
