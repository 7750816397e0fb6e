"""The words of a query as one generation knows them: which forms occur, in how many documents, where their lists are.

What is known of a word is kept for the next query (``Lexicon``): to find it out takes longer than many a search.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.plan import KnownTerm
from periplus.index.query import STRONG_SHARE, TermForm
from periplus.index.weights import idf
from periplus.ranking.quick import Sought
from periplus.search.hits import Begins, begins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.search.plan import QueryWord

MAX_FORMS = 24  # of one word; prefixes have many
WORDS_KEPT = 20_000  # of queries

IntArray = np.ndarray[Any, np.dtype[np.int64]]


class Known(Struct, frozen=True):
    """A word that occurs, with the forms that do."""

    forms: tuple[TermForm, ...]
    terms: tuple[str, ...]
    lists: tuple[KnownTerm, ...]  # they live for as long as their addresses may be used
    addresses: tuple[int, ...]
    shares: tuple[float, ...]
    frequencies: tuple[int, ...]  # documents with each form
    strong: tuple[bool, ...]
    widest: int  # documents with the most frequent strong form
    weight: float  # their idf
    begins: Begins  # what its terms begin with, for snippets


class Lexicon:
    """What one generation knows of words, found once; forgotten all at once when there are too many."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._words: dict[tuple[TermForm, ...], Known | None] = {}

    def known(self, word: QueryWord) -> Known | None:
        """Nothing when no form of the word occurs."""
        if word.prefix:
            beginning = tuple(TermForm(term) for term, _ in self.snapshot.prefix(word.prefix, MAX_FORMS))
            return self._found(beginning, word.prefix)
        try:
            return self._words[word.forms]
        except KeyError:
            if len(self._words) >= WORDS_KEPT:
                self._words.clear()
            found = self._words[word.forms] = self._found(word.forms)
            return found

    def _found(self, forms: tuple[TermForm, ...], prefix: str = "") -> Known | None:
        pairs = [(form, self.snapshot.known(form.term)) for form in forms[:MAX_FORMS]]
        pairs = [(form, term) for form, term in pairs if term.frequency]
        if not pairs:
            return None
        known, terms = zip(*pairs, strict=True)
        frequencies = tuple(term.frequency for term in terms)
        strong = tuple(form.share >= STRONG_SHARE for form in known)
        widest = max((size for size, counts in zip(frequencies, strong, strict=True) if counts), default=0)
        return Known(
            known,
            tuple(form.term for form in known),
            terms,
            tuple(term.address for term in terms),
            tuple(form.share for form in known),
            frequencies,
            strong,
            widest,
            idf(max(self.snapshot.live, 1), widest),
            begins(known, prefix),
        )


class Terms:
    """The words of a query that the collection knows, with all their forms in one list."""

    def __init__(self, lexicon: Lexicon, words: Sequence[QueryWord]) -> None:
        pairs = [(word, known) for word in words if (known := lexicon.known(word)) is not None]
        self.words = [word for word, _ in pairs]
        self.known = [known for _, known in pairs]

    @property
    def forms(self) -> list[tuple[TermForm, ...]]:
        return [known.forms for known in self.known]

    @cached_property
    def place(self) -> dict[str, int]:
        """Of each term among all of them."""
        places: dict[str, int] = {}
        for known in self.known:
            for term in known.terms:
                places.setdefault(term, len(places))
        return places

    @property
    def terms(self) -> list[str]:
        return list(self.place)

    @cached_property
    def frequencies(self) -> dict[str, int]:
        return {term: size for known in self.known for term, size in zip(known.terms, known.frequencies, strict=True)}

    @cached_property
    def labels(self) -> list[int]:
        """Of each term the first word that it is a strong form of; -1 when there is none."""
        found: dict[str, int] = {}
        for word, known in enumerate(self.known):
            for term, strong in zip(known.terms, known.strong, strict=True):
                if strong:
                    found.setdefault(term, word)
        return [found.get(term, -1) for term in self.place]

    @property
    def sought(self) -> Sought:
        """As the kernel takes it that reads the index itself."""
        names: list[str] = []
        addresses: list[int] = []
        words: list[int] = []
        shares: list[float] = []
        frequencies: list[float] = []
        for word, known in enumerate(self.known):
            names += known.terms
            addresses += known.addresses
            words += (word,) * len(known.terms)
            shares += known.shares
            frequencies += known.frequencies
        terms: Sequence[int] = range(len(names))
        if len(set(names)) == len(names):
            labels = [word if strong else -1 for word, known in enumerate(self.known) for strong in known.strong]
        else:  # a form of two words
            terms = [self.place[name] for name in names]
            addresses = [addresses[names.index(name)] for name in self.place]
            labels = self.labels
        head = (len(addresses), len(self.known), len(words))
        weights = [word.weight for word in self.words]
        return Sought(
            np.array([*head, *addresses, *labels, *words, *terms], np.int64),
            np.array([*weights, *shares, *frequencies], np.float64),
        )
