"""Scores of the re-ranking by a kernel that reads the index itself, for profiles whose formula it has."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING

import numpy as np

from periplus.index import STRONG_SHARE
from periplus.index.format.fields import PIECE_GAP
from periplus.search.shards.evidence import MAX_SIGHTINGS
from periplus.search.shards.exchange import NOBODY

if TYPE_CHECKING:
    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Numbers, Scores, ShardQuery
    from periplus.search.shards.languages import Languages

_word = Layout("qd").pack  # forms, how often the word was asked for
_form = Layout("2q2d").pack  # address of its lists, whether it is strong, its share, in how many documents it is
_head = Layout("2q").pack  # words, the query as the print of a title


class Scorers:
    """Those of one snapshot, by profile."""

    def __init__(self, snapshot: Snapshot, languages: Languages) -> None:
        self._snapshot = snapshot
        self._languages = languages
        self._made: dict[str, Scorer] = {}

    def of(self, asked: ShardQuery) -> Scorer:
        made = self._made.get(asked.profile.name)
        if made is None or made.given != given_with(asked):
            made = self._made[asked.profile.name] = Scorer(self._snapshot, self._languages, asked)
        return made


class Scorer:
    """Over one snapshot, by one profile and the statistics of one collection."""

    def __init__(self, snapshot: Snapshot, languages: Languages, asked: ShardQuery) -> None:
        assert asked.profile.formula is not None
        self.given = given_with(asked)
        self._snapshot = snapshot
        documents = max(asked.statistics.documents, 1)
        averages = np.array(asked.statistics.average_lengths)
        self._formula = asked.profile.formula(
            averages, asked.profile.fields, documents, float(PIECE_GAP), MAX_SIGHTINGS
        )
        self._languages = languages

    def scores(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> Scores:
        """One a document."""
        table, result = self._snapshot.table, np.empty(len(numbers))
        terms, query = self._laid_out(asked)
        self._formula.score(
            table.address,
            table.segments,
            self._formula.constants,
            np.ascontiguousarray(numbers),
            query,
            self._languages.by_number(asked.language),
            asked.now,
            named,
            result,
        )
        del terms  # whose addresses were used
        return result

    def _laid_out(self, asked: ShardQuery) -> tuple[object, Numbers]:
        """A query as the kernel takes it, and what must live for as long."""
        words = asked.words
        terms = self._snapshot.lists_of([form.term for word in words for form in word.forms])
        addresses = iter([address for _, address in terms.lists])
        parts = [_head(len(words), asked.title), *[_word(len(word.forms), word.weight) for word in words]]
        for word in words:
            for form, documents in zip(word.forms, word.frequencies, strict=True):
                parts.append(_form(next(addresses), form.share >= STRONG_SHARE, form.share, documents))
        return terms, np.frombuffer(bytearray().join(parts), np.int64)


def given_with(asked: ShardQuery) -> tuple[int, tuple[float, ...]]:
    """What the constants of a formula depend on: the statistics that came with a question."""
    return asked.statistics.documents, tuple(asked.statistics.average_lengths)
