"""Gathering what a formula reads of candidates, within a time budget.

Candidates are read in chunks, each by one kernel. When the deadline passes, the candidates seen so far are what gets
re-ranked; the rest keep the order of the first pass.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from periplus.index import FIELDS, STRONG_SHARE, sameness
from periplus.index.format.fields import PIECE_GAP
from periplus.index.retrieval.view import NUMBER_BITS
from periplus.ranking import Evidence, FormEvidence, WordPlaces
from periplus.ranking.evidence import ADDRESS
from periplus.search.shards.exchange import Numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index import Snapshot
    from periplus.index.retrieval.occurrences import Occurrences
    from periplus.ranking import Profile
    from periplus.search.query.lexicon import KnownWord
    from periplus.search.shards.exchange import ShardQuery
    from periplus.search.shards.languages import Languages
    from periplus.search.shards.ranks import Ranks

MAX_SIGHTINGS = 200  # of one word in one field
DAY = 86_400.0
CHUNK = 256  # candidates between two looks at the clock

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
CountArray = np.ndarray[Any, np.dtype[np.uint32]]


class CandidateEvidence(Struct, frozen=True):
    """What is known of some candidates: of all that were asked for, unless the deadline passed."""

    numbers: Numbers
    evidence: Evidence


def gathered(
    snapshot: Snapshot, asked: ShardQuery, ranks: Ranks, languages: Languages, numbers: Numbers, named: Numbers
) -> CandidateEvidence:
    """The evidence of the first candidates, in the order of the index, chunk by chunk."""
    profile, terms = asked.profile, QueryTerms(asked.words)
    own = ranks.of(profile.name)
    counts, places, done = _occurrences(snapshot, terms, numbers, profile, asked.deadline)
    lengths = snapshot.lengths_of(done).astype(np.float64)
    now = asked.now or time.time()
    evidence = Evidence(
        words=tuple(word.text for word in asked.words),
        weights=np.array([word.weight for word in asked.words], dtype=np.float64),
        forms=_form_evidence(terms, counts.astype(np.float64)),
        documents=max(asked.statistics.documents, 1),
        lengths=lengths,
        average_lengths=np.asarray(asked.statistics.average_lengths, dtype=np.float64),
        max_frequencies=_largest(snapshot, done, profile),
        prior=np.asarray(snapshot.column("prior", done), dtype=np.float64),
        page_rank=own.pages(snapshot, done) if profile.reads_ranks else np.ones(len(done)),
        host_rank=own.hosts(snapshot, done) if profile.reads_ranks else np.ones(len(done)),
        depth=np.maximum(lengths[:, ADDRESS] - 1.0, 0.0),
        host_words=np.full(len(done), float(PIECE_GAP)),
        age=_ages(snapshot, done, now),
        language=languages.worth(asked.language, snapshot.column("language", done)),
        places=places,
        wants_fresh=asked.now > 0.0,
        navigational=np.isin(done, named).astype(np.float64),
        title_same=sameness(asked.title, snapshot.column("title", done)),
    )
    return CandidateEvidence(done, evidence)


def _ages(snapshot: Snapshot, numbers: Numbers, now: float) -> FloatArray:
    """In days; infinite for a page that does not say when it was published."""
    published = np.asarray(snapshot.column("published", numbers), dtype=np.float64)
    return np.where(published > 0.0, (now - published) / DAY, np.inf)


def joined(parts: Sequence[CandidateEvidence]) -> CandidateEvidence:
    """What several shards know of their candidates, one after the other."""
    if len(parts) == 1:
        return parts[0]
    several = [part.evidence for part in parts]
    by_candidate = ("lengths", "max_frequencies", "prior", "page_rank", "host_rank", "depth", "host_words", "age")
    whole = {
        name: np.concatenate([getattr(one, name) for one in several])
        for name in (*by_candidate, "language", "navigational", "title_same")
    }
    forms = tuple(
        structs.replace(first, frequencies=np.concatenate([one.forms[place].frequencies for one in several]))
        for place, first in enumerate(several[0].forms)
    )
    places = _joined([one.places for one in several])
    evidence = structs.replace(several[0], forms=forms, places=places, **whole)
    return CandidateEvidence(np.concatenate([part.numbers for part in parts]), evidence)


class QueryTerms:
    """The forms of a query's words as one list of terms."""

    def __init__(self, words: tuple[KnownWord, ...]) -> None:
        self.words = words

    @cached_property
    def place(self) -> dict[str, int]:
        """Of each term among all of them."""
        return {term: place for place, term in enumerate(self.frequencies)}

    @cached_property
    def frequencies(self) -> dict[str, int]:
        return {
            form.term: documents
            for word in self.words
            for form, documents in zip(word.forms, word.frequencies, strict=True)
        }

    @cached_property
    def labels(self) -> list[int]:
        """Of each term the first word that it is a strong form of; -1 when there is none."""
        found: dict[str, int] = {}
        for place, word in enumerate(self.words):
            for form in word.forms:
                if form.share >= STRONG_SHARE:
                    found.setdefault(form.term, place)
        return [found.get(term, -1) for term in self.place]


def _occurrences(
    snapshot: Snapshot, terms: QueryTerms, numbers: Numbers, profile: Profile, deadline: float
) -> tuple[CountArray, WordPlaces, Numbers]:
    """D x T x F counts and places of words, of as many candidates as there is time for; and which these are."""
    fields = [FIELDS[field] for field in profile.fields]
    labels = terms.labels if fields else [-1] * len(terms.place)
    parts: list[Occurrences] = []
    done: list[IntArray] = []
    for first in range(0, max(len(numbers), 1), CHUNK):
        if first and time.perf_counter() > deadline:
            break
        for some in _by_segment(numbers[first : first + CHUNK]):
            done.append(some)
            parts.append(snapshot.occurrences(some, list(terms.place), labels, fields, MAX_SIGHTINGS))
    counts = parts[0].counts if len(parts) == 1 else np.concatenate([part.counts for part in parts])
    places = _joined([WordPlaces(part.ends, part.positions, part.labels) for part in parts])
    return counts, places, done[0] if len(done) == 1 else np.concatenate(done)


def _by_segment(numbers: Numbers) -> list[IntArray]:
    """The numbers of each segment, so that what is found of each segment has only to be joined."""
    ascending = np.sort(numbers)
    segments = ascending >> NUMBER_BITS
    if not len(ascending) or segments[0] == segments[-1]:
        return [ascending]
    return np.split(ascending, np.flatnonzero(segments[1:] != segments[:-1]) + 1)


def _joined(parts: Sequence[WordPlaces]) -> WordPlaces:
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.positions) for part in parts)])
    return WordPlaces(
        np.concatenate([part.ends + shift for part, shift in zip(parts, before.tolist(), strict=False)]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.words for part in parts]),
    )


def _largest(snapshot: Snapshot, numbers: Numbers, profile: Profile) -> FloatArray:
    if not profile.reads_largest:
        return np.ones(len(numbers))
    return np.asarray(snapshot.column("max_frequency", numbers), dtype=np.float64)


def _form_evidence(terms: QueryTerms, frequencies: FloatArray) -> tuple[FormEvidence, ...]:
    """The i-th form of every word, for every i; words with fewer forms have zeros."""
    most = max((len(word.forms) for word in terms.words), default=0)
    return tuple(_one_form(terms, frequencies, i) for i in range(most))


def _one_form(terms: QueryTerms, frequencies: FloatArray, place: int) -> FormEvidence:
    count = len(terms.words)
    shares, known = np.zeros(count), np.zeros(count)
    table = np.zeros((len(frequencies), count, len(FIELDS)))
    for at, word in enumerate(terms.words):
        if place < len(word.forms):
            form = word.forms[place]
            shares[at], known[at] = form.share, word.frequencies[place]
            table[:, at, :] = frequencies[:, terms.place[form.term], :]
    return FormEvidence(shares, known, table)
