"""Words that mean nearly the same, by static vectors that an operator brings: a folder with two files.

    words.txt      a word a line, lower case, the most frequent first
    vectors.npy    an array of numbers (float32, float16 or int8), a row for each of these words

The setting ``search.vectors`` names the folder, relative to the collection; without it nothing here happens. A word of
a query is then also found by its nearest words that occur in the collection, at a share below that of all its own
forms. Bounds: ``MAX_WORDS`` and ``MAX_COLUMNS`` of a folder, ``MAX_KNOWN`` words of a generation in ``COLUMNS`` numbers
each (8 MB), ``MOST_RELATED`` words for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from periplus.errors import SettingError
from periplus.search.query.vocabulary import is_stop_word
from periplus.text import TermForm, stem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from periplus.search.query.lexicon import Lexicon
    from periplus.search.query.plan import QueryPlan, QueryWord

MAX_WORDS = 400_000
MAX_COLUMNS = 1_024
MAX_KNOWN = 30_000
COLUMNS = 64
LEAST_DOCUMENTS = 2  # of a word that may stand for another
LEAST_LETTERS = 3
MOST_RELATED = 5
LEAST_COSINE = 0.5
RELATED_SHARE = 0.3  # of the weight of what was typed, at a cosine of one
WORDS_KEPT = 10_000

Vectors = np.ndarray[Any, np.dtype[np.float32]]


class WordVectors:
    """The folder: words, and a row of numbers for each."""

    def __init__(self, words: Sequence[str], rows: np.ndarray[Any, Any]) -> None:
        self._words = words
        self._rows = rows
        self._places = {word: place for place, word in enumerate(words)}

    @classmethod
    def open(cls, folder: Path, name: str) -> WordVectors | None:
        """The vectors in the folder called ``name``; none when that is empty."""
        if not name:
            return None
        path = folder / name
        try:
            words = (path / "words.txt").read_text(encoding="utf-8").splitlines()
            rows = np.load(path / "vectors.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            advice = "correct the setting or the files"
            raise SettingError(f"search.vectors: {path} cannot be read: {error}; {advice}") from error
        _check(path, words, rows)
        return cls(words, rows)

    def of(self, word: str) -> Vectors | None:
        """The vector of a word, if there is one."""
        place = self._places.get(word)
        return None if place is None else np.asarray(self._rows[place : place + 1], np.float32)

    def over(self, lexicon: Lexicon) -> RelatedWords:
        """Those of them that occur in a generation, the first ones that do."""
        documents = lexicon.vocabulary.frequencies(self._words)
        known = [
            place
            for place, (word, count) in enumerate(zip(self._words, documents, strict=True))
            if count >= LEAST_DOCUMENTS and len(word) >= LEAST_LETTERS and word.isalpha() and not is_stop_word(word)
        ][:MAX_KNOWN]
        return RelatedWords(self, [self._words[place] for place in known], np.asarray(self._rows[known], np.float32))


class RelatedWords:
    """The words of a generation that are nearest to a word. May be asked by many threads at once."""

    def __init__(self, model: WordVectors, words: list[str], rows: Vectors) -> None:
        self._model = model
        self._words = words
        unit = _unit(rows)
        self._middle = unit.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)
        self._axes = _axes(unit - self._middle)
        self._vectors = self._shortened(rows)
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}

    def near(self, word: str) -> tuple[tuple[str, float], ...]:
        """Other words that are nearest to one, with their cosines; none with its stem."""
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= WORDS_KEPT:
                self._known = {}
            found = self._known[word] = self._near(word)
        return found

    def _near(self, word: str) -> tuple[tuple[str, float], ...]:
        row = self._model.of(word)
        if row is None:
            return ()
        # Not by BLAS: its threads wait for one another, which takes ten times as long where the cores are busy.
        cosines = np.einsum("ij,j->i", self._vectors, self._shortened(row)[0])
        places = np.flatnonzero(cosines >= LEAST_COSINE)
        found: list[tuple[str, float]] = []
        for place in places[np.lexsort((places, -cosines[places]))].tolist():
            other = self._words[place]
            if len(found) < MOST_RELATED and stem(other, "en") != stem(word, "en"):
                found.append((other, round(float(cosines[place]), 3)))
        return tuple(found)

    def _shortened(self, rows: Vectors) -> Vectors:
        return _unit((_unit(rows) - self._middle) @ self._axes)


def with_related(plan: QueryPlan, related: RelatedWords) -> QueryPlan:
    """``plan`` that also finds what its words nearly mean; words that are required, quoted or stop words have none."""
    if not plan.query.should:
        return plan
    wider: dict[tuple[TermForm, ...], tuple[TermForm, ...]] = {}
    for word in plan.words:
        near = () if word.prefix or is_stop_word(word.text) else related.near(word.text)
        if near:
            wider[word.forms] = _wider(word, near)
    if not wider:
        return plan
    words = tuple(structs.replace(word, forms=wider.get(word.forms, word.forms)) for word in plan.words)
    should = tuple(structs.replace(group, forms=wider.get(group.forms, group.forms)) for group in plan.query.should)
    return structs.replace(plan, words=words, query=structs.replace(plan.query, should=should))


def _wider(word: QueryWord, near: tuple[tuple[str, float], ...]) -> tuple[TermForm, ...]:
    own = {form.term for form in word.forms}
    more = [TermForm(other, RELATED_SHARE * cosine) for other, cosine in near if other not in own]
    return (*word.forms, *more)


def _check(path: Path, words: list[str], rows: np.ndarray[Any, Any]) -> None:
    kinds = ("float32", "float16", "int8")
    if rows.ndim != 2 or rows.dtype.name not in kinds or not 2 <= rows.shape[1] <= MAX_COLUMNS:
        raise SettingError(
            f"search.vectors: {path / 'vectors.npy'} is {rows.dtype.name} {rows.shape}; "
            f"it must be a table of {', '.join(kinds)} with 2 to {MAX_COLUMNS} columns"
        )
    if len(words) != len(rows) or not 0 < len(words) <= MAX_WORDS:
        raise SettingError(
            f"search.vectors: {path} has {len(words):,} words and {len(rows):,} rows; "
            f"it must have as many of both, 1 to {MAX_WORDS:,}"
        )


def _axes(rows: Vectors) -> Vectors:
    """The directions in which words differ most, ``COLUMNS`` at most."""
    _, axes = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
    return np.asarray(axes[:, -COLUMNS:], np.float32)


def _unit(rows: Vectors) -> Vectors:
    lengths: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)
