"""What a broker asks of a shard, and what a shard answers.

A *broker* knows the words and statistics of the whole collection, a *shard* the postings and texts of its documents.
All that passes between them is here, as plain records. Scores do not depend on how documents are spread over shards:
number of documents, document frequencies and average lengths are those of the whole collection, and come with the
question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from periplus.index import IndexQuery, Statistics
from periplus.ranking import Profile
from periplus.records import Total
from periplus.search.query.lexicon import KnownWord

if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Scores = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

NOBODY: Numbers = np.zeros(0, np.int64)


class Visibility(Struct, frozen=True):
    """Which documents may be found at all, whatever they say."""

    safe: bool = False  # only those that are fit for all ages
    blocked: frozenset[str] = frozenset()  # hosts and addresses that nobody is shown
    tab: str = ""  # only those of a part of the collection, such as its news
    only: Numbers | None = None  # keys of the only ones, ascending


EVERYBODY = Visibility()


class ShardQuery(Struct, frozen=True):
    """Everything that decides what a shard finds and how it scores it."""

    query: IndexQuery
    words: tuple[KnownWord, ...]  # that score
    statistics: Statistics  # of the whole collection
    profile: Profile
    order: str = "score"
    language: str = ""
    now: float = 0.0  # in seconds; 0: age does not matter
    deadline: float = float("inf")
    visibility: Visibility = EVERYBODY
    title: int = 0  # what the title of a page that is called so has in its column


class Order(Struct, frozen=True):
    """By what hits are put in order: the largest first, and of equal ones the smallest key."""

    by: Scores
    keys: Numbers


class Hits(Struct, frozen=True):
    """The best documents of a shard, or of all of them, by the first pass; best first."""

    numbers: Numbers
    firsts: Scores  # their scores in the first pass
    scores: Scores  # of the re-ranking, as far as they were scored; NaN: not yet
    hosts: Numbers  # keys of their hosts; 0: no host
    prints: Numbers  # fingerprints of their texts; 0: none
    fits: Scores  # how well their language fits the reader, 0..1: of copies the best one is shown
    total: Total
    whole: bool  # there are no others
    order: Order | None = None  # of these among the hits of other shards, where there are some


class Excerpt(Struct, frozen=True):
    """What is shown of a document."""

    id: str
    url: str
    display_url: str
    site: str
    title: str
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    language: str
    published: str | None
    fetched: str
    content_type: str


class Ask(NamedTuple):
    """One call of a method of ``Shard``."""

    place: int  # of the shard among all
    method: str
    arguments: tuple[Any, ...]


class Unanswered:
    """Stands for the answer of a shard that gave none."""


MISSING = Unanswered()


class Shards(Protocol):
    """All shards of one generation, in this process or on other machines."""

    @property
    def documents(self) -> Sequence[int]:
        """How many each of them has."""

    def ask(self, asked: Sequence[Ask], deadline: float) -> list[Any]:
        """What shards answer, all asked at once; ``MISSING`` for one that has not answered by the deadline."""
