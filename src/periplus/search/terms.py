"""The words of a query as one generation knows them: which forms occur, in how many documents, where their lists are.

What is known of a word is kept for the next query (``Lexicon``): to find it out takes longer than many a search.
"""

from __future__ import annotations

from functools import cached_property
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.plan import KnownTerm, form_weights
from periplus.index.query import STRONG_SHARE, TermForm
from periplus.index.weights import idf
from periplus.search.hits import Begins, begins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.search.plan import QueryWord

MAX_FORMS = 24  # of one word; prefixes have many
WORDS_KEPT = 20_000  # of queries

_listed = Layout("3q").pack
_formed = Layout("2q2d").pack
_HEADS = [Layout("q" + "qd" * words).pack for words in range(16)]

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
    packed: bytes  # its lists as a first pass takes them: weight, address, documents
    forms_packed: bytes  # as the re-ranking takes them: address, whether it is strong, share, documents


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
            return self._kept(word.forms)

    def known_all(self, words: Sequence[QueryWord]) -> list[Known | None]:
        """The same of some words; their terms are looked up together."""
        self.snapshot.look_up([form.term for word in words if word.forms not in self._words for form in word.forms])
        return [self.known(word) for word in words]

    def _kept(self, forms: tuple[TermForm, ...]) -> Known | None:
        if len(self._words) >= WORDS_KEPT:
            self._words = {}
        found = self._words[forms] = self._found(forms)
        return found

    def _found(self, forms: tuple[TermForm, ...], prefix: str = "") -> Known | None:
        forms = forms[:MAX_FORMS]
        every = [self.snapshot.known(form.term) for form in forms]
        weights = form_weights(forms, every)
        found = [one for one in zip(forms, every, weights, strict=True) if one[1].frequency]
        if not found:
            return None
        known = tuple([form for form, _, _ in found])
        lists = tuple([term for _, term, _ in found])
        strong = tuple([form.share >= STRONG_SHARE for form in known])
        told = list(zip(known, lists, strong, strict=True))
        widest = max([term.frequency for _, term, counts in told if counts], default=0)
        return Known(
            known,
            tuple([form.term for form in known]),
            lists,
            tuple([term.address for term in lists]),
            tuple([form.share for form in known]),
            tuple([term.frequency for term in lists]),
            strong,
            widest,
            idf(max(self.snapshot.live, 1), widest),
            begins(known, prefix),
            b"".join([_listed(weight, term.address, term.frequency) for _, term, weight in found]),
            b"".join([_formed(term.address, counts, form.share, term.frequency) for form, term, counts in told]),
        )


class Terms:
    """The words of a query that the collection knows, with all their forms in one list."""

    def __init__(self, lexicon: Lexicon, words: Sequence[QueryWord]) -> None:
        pairs = [(word, known) for word in words if (known := lexicon.known(word)) is not None]
        self.words: Sequence[QueryWord] = [word for word, _ in pairs]
        self.known: Sequence[Known] = [known for _, known in pairs]

    @classmethod
    def of(cls, words: Sequence[QueryWord], known: Sequence[Known]) -> Terms:
        """Of words that are known already."""
        terms = cls.__new__(cls)
        terms.words, terms.known = words, known
        return terms

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
    def sought(self) -> bytes:
        """As the kernel takes it that reads the index itself: words; of each its forms and its weight; all forms."""
        known = self.known
        heads: list[float] = []
        for word, one in zip(self.words, known, strict=True):
            heads += (len(one.terms), word.weight)
        head = _HEADS[len(known)] if len(known) < len(_HEADS) else Layout("q" + "qd" * len(known)).pack
        return head(len(known), *heads) + b"".join([one.forms_packed for one in known])

    @property
    def lists(self) -> tuple[bytes, list[int]]:
        """All lists as a first pass takes them, and how many each word has."""
        return b"".join([one.packed for one in self.known]), [len(one.terms) for one in self.known]
