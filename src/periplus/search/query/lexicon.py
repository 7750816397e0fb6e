"""Lexicon: what the whole collection knows of the words of queries.

A word scores by its forms that occur anywhere in the collection, whatever part of it is searched. What was found out of
a word or a term is kept for the queries to come, and all of it is forgotten together when there is too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from periplus.index import STRONG_SHARE, Statistics
from periplus.index.retrieval.weights import idf
from periplus.text import TermForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from periplus.index import Snapshot
    from periplus.search.query.plan import QueryWord

MAX_FORMS = 24  # of a word
MAX_BEGINNING = 1_000  # words that a prefix stands for
BEGINNINGS_KEPT = 500
TERMS_KEPT = 200_000  # terms and words of queries; some 40 MB
STOP_SHARE = 0.1  # of the documents: a stop word of another language that is rarer than this means something here

Forms = tuple[TermForm, ...]


class CollectionVocabulary(Statistics, Protocol):
    """The statistics and the words of a collection."""

    def prefix(self, text: str, limit: int) -> list[tuple[str, int]]:
        """The most frequent words that begin so."""


class KnownWord(Struct, frozen=True):
    """A word of a query that occurs in the collection, with the forms that do."""

    text: str
    weight: float  # how often it was asked for
    forms: Forms
    frequencies: tuple[int, ...]  # documents with each form
    idf: float  # of its most frequent strong form
    prefix: str = ""


class _Known(Struct, frozen=True):
    """What there is to know of the forms of a word."""

    forms: Forms
    frequencies: tuple[int, ...]
    idf: float


class Lexicon:
    """The statistics of a collection, as shards are given them, and its words. May be asked by many threads at once."""

    def __init__(self, vocabulary: CollectionVocabulary) -> None:
        self.vocabulary = vocabulary
        self.prefix = vocabulary.prefix
        self.documents = vocabulary.documents
        self.average_lengths = vocabulary.average_lengths
        self._frequencies: dict[str, int] = {}
        self._words: dict[Forms, _Known] = {}
        self._beginnings: dict[str, Forms] = {}

    def frequency(self, term: str) -> int:
        """Documents with a term."""
        return self.frequencies((term,))[0]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """Documents with each of some terms; what is new is looked up together."""
        known = self._frequencies
        try:
            return [known[term] for term in terms]
        except KeyError:
            new = [term for term in dict.fromkeys(terms) if term not in known]
        if len(known) + len(new) > TERMS_KEPT:
            known = self._frequencies = {term: known[term] for term in terms if term in known}
        known.update(zip(new, self.vocabulary.frequencies(new), strict=True))
        return [known[term] for term in terms]

    def is_frequent(self, term: str) -> bool:
        """Whether a stop word is one here, too."""
        return self.frequency(term) >= STOP_SHARE * self.documents

    def known(self, words: Iterable[QueryWord]) -> tuple[KnownWord, ...]:
        """Those of some words that occur."""
        several = list(words)
        self.frequencies([form.term for word in several for form in word.forms])  # what is new, all at once
        found = [(word, self._word(word)) for word in several]
        return tuple(
            [
                KnownWord(word.text, word.weight, one.forms, one.frequencies, one.idf, word.prefix)
                for word, one in found
                if one.forms
            ]
        )

    def _word(self, word: QueryWord) -> _Known:
        forms = self.beginning(word.prefix) if word.prefix else word.forms
        known = self._words.get(forms)
        if known is None:
            if len(self._words) >= TERMS_KEPT:
                self._words = {}
            known = self._words[forms] = self._learnt(forms[:MAX_FORMS])
        return known

    def beginning(self, prefix: str) -> Forms:
        """The words that begin so, the most frequent first."""
        forms = self._beginnings.get(prefix)
        if forms is None:
            if len(self._beginnings) >= BEGINNINGS_KEPT:
                self._beginnings = {}
            forms = tuple([TermForm(term) for term, _ in self.vocabulary.prefix(prefix, MAX_BEGINNING)])
            self._beginnings[prefix] = forms
        return forms

    def _learnt(self, forms: Forms) -> _Known:
        frequencies = self.frequencies([form.term for form in forms])
        there = [(form, documents) for form, documents in zip(forms, frequencies, strict=True) if documents]
        widest = max((documents for form, documents in there if form.share >= STRONG_SHARE), default=0)
        return _Known(
            tuple([form for form, _ in there]),
            tuple([documents for _, documents in there]),
            idf(max(self.documents, 1), widest),
        )


class _SnapshotVocabulary:
    def __init__(self, snapshot: Snapshot) -> None:
        self._statistics = snapshot.statistics
        self.documents, self.average_lengths = self._statistics.documents, self._statistics.average_lengths
        self.frequencies, self.prefix = self._statistics.frequencies, snapshot.prefix


def vocabulary_of(snapshot: Snapshot) -> CollectionVocabulary:
    """That of a collection which is open as one snapshot."""
    return _SnapshotVocabulary(snapshot)


def lexicon_of(snapshot: Snapshot) -> Lexicon:
    return Lexicon(vocabulary_of(snapshot))
