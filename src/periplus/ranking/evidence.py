"""What a profile is told about a query and its candidates: numbers only, arrays over the candidates.

``search/`` gathers it from a snapshot of the index; profiles read it and nothing else. Axes are named
D (candidates), W (words of the query, in order), F (``index.FIELDS``). A word's several forms (exact, stemmed)
are told apart by ``forms``: the widest strong form gives the frequencies of the reference formulas, which knew one
form only, and the best form, with its share, gives ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from periplus.index import FIELDS, STRONG_SHARE
from periplus.ranking.word_places import Sightings, WordPlaces

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

TITLE, HEADINGS, BODY = (FIELDS.index(name) for name in ("title", "headings", "body"))
ANCHORS, ADDRESS = (FIELDS.index(name) for name in ("anchors", "address"))


class FormEvidence(Struct, frozen=True):
    """One form of every word: how much it counts, how many documents have it, how often each candidate does."""

    shares: FloatArray  # W; zero for words without this form
    document_frequencies: FloatArray  # W
    frequencies: FloatArray  # D x W x F


class Evidence(Struct, frozen=True):
    words: tuple[str, ...]
    weights: FloatArray  # W: how often the word stands in the query, or a smaller weight
    forms: tuple[FormEvidence, ...]  # the exact form first; words with fewer forms have a share of zero in the others
    documents: int  # live documents in the collection
    lengths: FloatArray  # D x F, in words
    average_lengths: FloatArray  # F
    max_frequencies: FloatArray  # D: of the most frequent word
    prior: FloatArray  # D: link prior, 0..1
    page_rank: FloatArray  # D: classic scale, mean 1; all ones where there are no ranks
    host_rank: FloatArray  # D: 0..1, the best host is 1; all ones where there are no ranks
    depth: FloatArray  # D: segments in the path of the address
    host_words: FloatArray  # D: how many words of the address field belong to the host name
    age: FloatArray  # D: days since published; infinite for a page without a date
    language: FloatArray  # D: 1 when in the query's language, 0 when not, 0.5 when unknown
    places: WordPlaces  # where the words stand; only in the fields that a profile needs
    wants_fresh: bool = False
    navigational: FloatArray = np.zeros(0)  # D: 1 for the page or site that the query names by its address

    title_same: FloatArray = np.zeros(0)  # D: 1 where the query is the title, less where one says more behind a dash

    @property
    def count(self) -> int:
        return len(self.prior)

    def frequencies(self) -> FloatArray:
        """D x W x F of each word's widest strong form."""
        result = np.zeros_like(self.forms[0].frequencies) if self.forms else np.zeros((self.count, 0, len(FIELDS)))
        for form in self.forms:
            result = np.maximum(result, form.frequencies * (form.shares >= STRONG_SHARE)[:, None])
        return result

    def text_frequencies(self) -> FloatArray:
        """D x W: how often the word stands in the text of the page (title and body)."""
        both = self.frequencies()
        return np.asarray(both[:, :, TITLE] + both[:, :, BODY])

    def text_lengths(self) -> FloatArray:
        return np.asarray(self.lengths[:, TITLE] + self.lengths[:, BODY])

    def average_text_length(self) -> float:
        return float(self.average_lengths[TITLE] + self.average_lengths[BODY])

    def document_frequencies(self) -> FloatArray:
        """W: in how many documents the widest strong form occurs."""
        result = np.zeros(len(self.words))
        for form in self.forms:
            result = np.maximum(result, form.document_frequencies * (form.shares >= STRONG_SHARE))
        return result

    def seen(self, field: int) -> tuple[Sightings, ...]:
        return self.places.seen(field)
