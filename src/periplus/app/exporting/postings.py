"""The words of the index for other programs: which documents have a term, and how often in which field.

Terms are those that the text of a document gives (``text.analyze``); how often each occurs is read from the index.
Words that stand only in links to a page, in its address or in its margins are not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.index import FIELDS, STRONG_SHARE
from periplus.text import analyze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.app.collection import Collection
    from periplus.index import Occurrences, Snapshot, StoredDocument

TITLE, HEADINGS, BODY = (FIELDS.index(name) for name in ("title", "headings", "body"))
ALL = 1 << 30  # places of one term in one field


class TermPlaces(NamedTuple):
    """Where terms stand in title, headings and body; those of field f end at ``ends[f]``."""

    ends: NDArray[np.int64]
    positions: NDArray[np.uint32]  # in words from the start of the field
    terms: NDArray[np.int64]  # as places of the document's terms

    def of(self, field: int) -> tuple[list[int], list[int]]:
        """Positions in a field, and for each the place of its term."""
        part = slice(int(self.ends[field - 1]) if field else 0, int(self.ends[field]))
        return self.positions[part].tolist(), self.terms[part].tolist()


class IndexedDocument(NamedTuple):
    """A document with its terms; ``counts`` has a row a term and a column a field."""

    number: int  # from 0 on, in the order of the index
    stored: StoredDocument
    length: int  # words of title and body
    terms: list[str]
    counts: Any
    places: TermPlaces

    def text_counts(self) -> Any:
        """How often each term occurs in title and body."""
        return self.counts[:, TITLE] + self.counts[:, BODY]


class IndexedPart:
    """Some documents of a snapshot, the first of which has the number ``first``."""

    def __init__(self, snapshot: Snapshot, numbers: NDArray[np.int64], first: int = 0) -> None:
        self._snapshot, self._numbers, self._first = snapshot, numbers, first

    def __iter__(self) -> Iterator[IndexedDocument]:
        lengths = self._snapshot.lengths_of(self._numbers)
        for place, number in enumerate(self._numbers.tolist()):
            stored = self._snapshot.stored(number)
            terms = sorted(terms_of(stored))
            found = self._occurrences(number, terms)
            there = np.flatnonzero(found.counts[0].sum(axis=1))
            length = int(lengths[place, TITLE] + lengths[place, BODY])
            names = [terms[row] for row in there.tolist()]
            places = TermPlaces(found.ends[0], found.positions, np.searchsorted(there, found.labels))
            yield IndexedDocument(self._first + place, stored, length, names, found.counts[0][there], places)

    def _occurrences(self, number: int, terms: Sequence[str]) -> Occurrences:
        numbers, labels = np.array([number], np.int64), range(len(terms))
        return self._snapshot.occurrences(numbers, terms, labels, ("title", "headings", "body"), ALL)


class IndexedCollection:
    """An open generation, document by document."""

    def __init__(self, collection: Collection) -> None:
        self._snapshot: Snapshot = collection.stores.index.open()
        averages = self._snapshot.average_lengths
        self.documents = int(self._snapshot.live)
        self.generation = self._snapshot.generation
        self.manifest = self._snapshot.manifest
        self.numbers = self._snapshot.numbers()
        self.average_length = float(averages[TITLE] + averages[BODY])

    def __enter__(self) -> IndexedCollection:
        return self

    def __exit__(self, *_: object) -> None:
        self._snapshot.close()

    def __iter__(self) -> Iterator[IndexedDocument]:
        return iter(IndexedPart(self._snapshot, self.numbers))

    def lengths(self) -> NDArray[np.int64]:
        """Words of every document."""
        words: NDArray[np.int64] = self._snapshot.lengths_of(self.numbers).sum(axis=1)
        return words


def terms_of(stored: StoredDocument) -> set[str]:
    """All terms that title, headings and text give."""
    texts = [stored.title, stored.text, *(heading.text for heading in stored.headings)]
    return {form.term for text in texts for token in analyze(text, stored.language) for form in token.forms}


def widest_terms(query: str, language: str = "") -> list[str]:
    """For each word of a query the form that plain BM25 counts: its stem where it has one."""
    found = []
    for token in analyze(query, language):
        strong = [form.term for form in token.forms if form.share >= STRONG_SHARE]
        found.append(strong[-1])
    return found
