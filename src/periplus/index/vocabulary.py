"""Vocabulary: numbers for words and terms while a segment is built in memory.

A *word* is a spelling as it stands in a text of one language; a *term* is what it is indexed under. A document
is kept as a stream of word numbers, and the forms of each word are expanded later by a kernel, so that Python
does one dictionary lookup a word and no more.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from periplus.index.analysis import STEM_MARK, forms_of_key, word_keys
from periplus.index.analysis.stemming import base_language

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from periplus.index.query import TermForm

    WordKey = str | tuple[TermForm, ...]


class Vocabulary:
    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._forms = array("I")
        self._form_start = array("q", [0])
        self._languages: dict[str, _Words] = {}

    def numbers(self, text: str, language: str) -> list[int]:
        """The words of a text as numbers, by position."""
        language = base_language(language)
        known = self._languages.get(language)
        if known is None:
            known = self._languages[language] = _Words(self, language)
        return list(map(known.__getitem__, word_keys(text)))

    def add(self, forms: tuple[TermForm, ...]) -> int:
        terms = self._terms
        self._forms.extend([terms.setdefault(form.term, len(terms)) for form in forms])
        self._form_start.append(len(self._forms))
        return len(self._form_start) - 2

    def sorted(self) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.uint32]]:
        """Terms in byte order; where the forms of each word begin; and these forms as numbers of that order."""
        terms = [term.encode("utf-8", "surrogatepass") for term in self._terms]
        order = sorted(range(len(terms)), key=terms.__getitem__)
        rank = np.empty(len(terms), np.uint32)
        rank[order] = np.arange(len(terms), dtype=np.uint32)
        forms = rank[np.frombuffer(self._forms, np.uint32)] if self._forms else np.empty(0, np.uint32)
        return [terms[number] for number in order], np.array(self._form_start, np.int64), forms

    @property
    def size(self) -> int:
        """Entries, for the memory bound of the builder."""
        return len(self._terms) + len(self._form_start)


class _Words(dict["WordKey", int]):
    """Word → number for one language; unknown words are analysed when they are first met."""

    def __init__(self, vocabulary: Vocabulary, language: str) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._language = language

    def __missing__(self, key: WordKey) -> int:
        number = self[key] = self._vocabulary.add(forms_of_key(key, self._language))
        return number


def counts_as_word(terms: list[bytes]) -> NDArray[np.uint8]:
    """Which terms are words as written (stems are not): they decide a document's largest frequency."""
    mark = STEM_MARK.encode()
    return np.array([not term.startswith(mark) for term in terms], np.uint8)
