"""Gathering what a profile wants to know of the candidates, within a time budget.

Candidates are read in chunks, each by one kernel. When the deadline passes, the candidates seen so far are what gets
re-ranked; the rest keep the order of the first pass.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.fields import PIECE_GAP
from periplus.index.query import FIELDS
from periplus.index.view import NUMBER_BITS
from periplus.ranking import Candidates, Evidence, FormEvidence, Places
from periplus.ranking.evidence import ADDRESS
from periplus.search.columns import dates
from periplus.search.ranks import Ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.occurrences import Occurrences
    from periplus.index.snapshot import Snapshot
    from periplus.ranking import Profile
    from periplus.search.columns import Numbers
    from periplus.search.terms import Terms

MAX_SIGHTINGS = 200  # of one word in one field
DAY = 86_400.0
CHUNK = 256  # candidates between two looks at the clock

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
CountArray = np.ndarray[Any, np.dtype[np.uint32]]

NOTHING = np.zeros(0)
_NO_ROWS = np.zeros(0, np.int64)
NEITHER = np.full(1, 0.5)  # of a query whose language is not known


class Asked(Struct, frozen=True):
    """What the evidence depends on besides the words."""

    ranks: Ranks
    deadline: float
    language: str = ""
    wants_fresh: bool = False
    named: frozenset[int] = frozenset()


class Gathered:
    """What is known of the first of some candidates: of all of them unless the deadline passed.

    They are kept in the order of the index, chunk by chunk; ``before`` says at which place each of ``numbers`` came.
    """

    def __init__(self, snapshot: Snapshot, profile: Profile, terms: Terms, numbers: Numbers, query: Asked) -> None:
        self.before, found, places = _occurrences(snapshot, terms, numbers, profile, query.deadline)
        self.numbers = numbers[self.before]
        self.terms = terms
        self._snapshot = snapshot
        self._profile = profile
        self._query = query
        self._counts = found
        self._places = places

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def _lengths(self) -> IntArray:
        return self._snapshot.lengths_of(self.numbers)

    @cached_property
    def _prior(self) -> FloatArray:
        return np.asarray(self._snapshot.column("prior", self.numbers), dtype=np.float64)

    def _age(self) -> FloatArray:
        return np.asarray((time.time() - dates(self._snapshot, self.numbers)) / DAY)

    @property
    def candidates(self) -> Candidates:
        """As kernels take it."""
        terms, query = self.terms, self._query
        forms = [(word, form) for word, forms in enumerate(terms.forms) for form in forms]
        named = np.flatnonzero(np.isin(self.numbers, list(query.named))) if query.named else _NO_ROWS
        return Candidates(
            np.array([word.weight for word in terms.words], np.float64),
            np.array([word for word, _ in forms], np.int64),
            np.array([terms.place[form.term] for _, form in forms], np.int64),
            np.array([form.share for _, form in forms], np.float64),
            np.array([terms.frequencies[form.term] for _, form in forms], np.float64),
            max(self._snapshot.live, 1),
            self._counts,
            self._places,
            self._lengths,
            self._snapshot.average_lengths,
            self._prior,
            _language_match(self._snapshot, self.numbers, query.language) if query.language else NEITHER,
            float(PIECE_GAP),
            self._age() if query.wants_fresh else NOTHING,
            named,
        )

    @cached_property
    def evidence(self) -> Evidence:
        """As the formulas with explanations take it."""
        snapshot, profile, query, done = self._snapshot, self._profile, self._query, self.numbers
        lengths = self._lengths.astype(np.float64)
        return Evidence(
            words=tuple(word.text for word in self.terms.words),
            weights=np.array([word.weight for word in self.terms.words], dtype=np.float64),
            forms=_form_evidence(self.terms, self._counts.astype(np.float64)),
            documents=max(snapshot.live, 1),
            lengths=lengths,
            average_lengths=np.asarray(snapshot.average_lengths, dtype=np.float64),
            max_frequencies=_largest(snapshot, done, profile),
            prior=self._prior,
            page_rank=query.ranks.pages(snapshot, done) if profile.reads_ranks else np.ones(len(done)),
            host_rank=query.ranks.hosts(snapshot, done) if profile.reads_ranks else np.ones(len(done)),
            depth=np.maximum(lengths[:, ADDRESS] - 1.0, 0.0),
            host_words=np.full(len(done), float(PIECE_GAP)),
            age=self._age(),
            language=_language_match(snapshot, done, query.language),
            places=self._places,
            wants_fresh=query.wants_fresh,
            navigational=np.array([float(int(number) in query.named) for number in done], dtype=np.float64),
        )


def _occurrences(
    snapshot: Snapshot, terms: Terms, numbers: Numbers, profile: Profile, deadline: float
) -> tuple[IntArray, CountArray, Places]:
    """Places among ``numbers``, D x T x F counts and places of words, of as many candidates as there is time for."""
    fields = [FIELDS[field] for field in profile.fields]
    labels = terms.labels if fields else [-1] * len(terms.place)
    parts: list[Occurrences] = []
    places: list[IntArray] = []
    for first in range(0, max(len(numbers), 1), CHUNK):
        if first and time.perf_counter() > deadline:
            break
        for rows in _by_segment(numbers[first : first + CHUNK]):
            places.append(rows + first if first else rows)
            parts.append(snapshot.occurrences(numbers[places[-1]], terms.terms, labels, fields, MAX_SIGHTINGS))
    counts = parts[0].counts if len(parts) == 1 else np.concatenate([part.counts for part in parts])
    return places[0] if len(places) == 1 else np.concatenate(places), counts, _joined(parts)


def _by_segment(numbers: Numbers) -> list[IntArray]:
    """The places of the numbers of each segment, so that what is found of each segment has only to be joined."""
    order = numbers.argsort(kind="stable")
    segments = numbers[order] >> NUMBER_BITS
    if not len(order) or segments[0] == segments[-1]:
        return [order]
    return np.split(order, np.flatnonzero(segments[1:] != segments[:-1]) + 1)


def _joined(parts: Sequence[Occurrences]) -> Places:
    if len(parts) == 1:
        return Places(parts[0].ends, parts[0].positions, parts[0].labels)
    before = np.cumsum([0, *(len(part.positions) for part in parts)])
    return Places(
        np.concatenate([part.ends + shift for part, shift in zip(parts, before.tolist(), strict=False)]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.labels for part in parts]),
    )


def _largest(snapshot: Snapshot, numbers: Numbers, profile: Profile) -> FloatArray:
    if not profile.reads_largest:
        return np.ones(len(numbers))
    return np.asarray(snapshot.column("max_frequency", numbers), dtype=np.float64)


def _form_evidence(terms: Terms, frequencies: FloatArray) -> tuple[FormEvidence, ...]:
    """The i-th form of every word, for every i; words with fewer forms have zeros."""
    most = max((len(forms) for forms in terms.forms), default=0)
    return tuple(_one_form(terms, frequencies, i) for i in range(most))


def _one_form(terms: Terms, frequencies: FloatArray, place: int) -> FormEvidence:
    count = len(terms.words)
    shares, known = np.zeros(count), np.zeros(count)
    table = np.zeros((len(frequencies), count, len(FIELDS)))
    for word, forms in enumerate(terms.forms):
        if place < len(forms):
            form = forms[place]
            shares[word], known[word] = form.share, terms.frequencies[form.term]
            table[:, word, :] = frequencies[:, terms.place[form.term], :]
    return FormEvidence(shares, known, table)


def _language_match(snapshot: Snapshot, numbers: Numbers, language: str) -> FloatArray:
    if not language:
        return np.full(len(numbers), 0.5)
    return language_worth(snapshot, language)[np.asarray(snapshot.column("language", numbers), dtype=np.int64)]


def language_worth(snapshot: Snapshot, language: str) -> FloatArray:
    """What a page in each of the collection's languages gets for a query in ``language``."""
    names = snapshot.language_names()
    return np.array([1.0 if name == language else 0.5 if not name else 0.0 for name in names], dtype=np.float64)
