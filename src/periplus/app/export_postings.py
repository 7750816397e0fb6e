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
    from collections.abc import Iterator

    from periplus.app.collection import Collection
    from periplus.index import Snapshot, StoredDocument

TITLE, HEADINGS, BODY = (FIELDS.index(name) for name in ("title", "headings", "body"))


class IndexedDocument(NamedTuple):
    """A document with its terms; ``counts`` has a row a term and a column a field."""

    number: int  # from 0 on, in the order of the index
    stored: StoredDocument
    length: int  # words of title and body
    terms: list[str]
    counts: Any

    def text_counts(self) -> Any:
        """How often each term occurs in title and body."""
        return self.counts[:, TITLE] + self.counts[:, BODY]


class IndexedCollection:
    """An open generation, document by document."""

    def __init__(self, collection: Collection) -> None:
        self._snapshot: Snapshot = collection.stores.index.open()
        averages = self._snapshot.average_lengths
        self.documents = int(self._snapshot.live)
        self.generation = self._snapshot.generation
        self.average_length = float(averages[TITLE] + averages[BODY])

    def __enter__(self) -> IndexedCollection:
        return self

    def __exit__(self, *_: object) -> None:
        self._snapshot.close()

    def __iter__(self) -> Iterator[IndexedDocument]:
        numbers = self._snapshot.numbers()
        lengths = self._snapshot.lengths_of(numbers)
        for place, number in enumerate(numbers.tolist()):
            stored = self._snapshot.stored(number)
            terms = sorted(terms_of(stored))
            counts = self._snapshot.frequencies(number, terms) if terms else np.zeros((0, len(FIELDS)), np.int64)
            there = np.flatnonzero(counts.sum(axis=1))
            length = int(lengths[place, TITLE] + lengths[place, BODY])
            yield IndexedDocument(place, stored, length, [terms[row] for row in there.tolist()], counts[there])

    def frequency(self, term: str) -> int:
        """Documents that have a term, in whatever field."""
        return self._snapshot.frequency(term)


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
