"""Shard: a part of the collection, or all of it, open for the questions of a broker.

Here is what needs postings, columns and stored texts. Numbers of documents are those of the shard's own snapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from periplus import addresses
from periplus.records import Total
from periplus.search.query.text import clean
from periplus.search.shards import snippets
from periplus.search.shards.columns import dates
from periplus.search.shards.counting import Counted, counted
from periplus.search.shards.display import displayed, moment
from periplus.search.shards.evidence import gathered
from periplus.search.shards.exchange import NOBODY, Excerpt, Hits, Mask, Numbers, Order, Scores, ShardQuery, Visibility
from periplus.search.shards.highlighter import Highlights, sought_word
from periplus.search.shards.languages import Languages
from periplus.search.shards.scoring import Scorers
from periplus.search.shards.visibility import VisibleDocuments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index import IndexQuery, Snapshot, StoredDocument
    from periplus.search.query.lexicon import KnownWord
    from periplus.search.shards.evidence import CandidateEvidence
    from periplus.search.shards.ranks import Ranks


class Shard:
    """May be asked by many threads at once."""

    def __init__(self, snapshot: Snapshot, ranks: Ranks) -> None:
        self.snapshot = snapshot
        self._ranks = ranks
        self._visible = VisibleDocuments(snapshot)
        self._languages = Languages(snapshot)
        self._scorers = Scorers(snapshot, self._languages)
        self._host_keys = _host_keys(snapshot.host_names())

    # Finding

    def top(self, asked: ShardQuery, k: int, scored: int, ordered: bool = False) -> Hits:
        """The ``k`` best documents by the first pass, the first ``scored`` of them with their scores.

        ``ordered`` tells their order among the hits of other shards, too.
        """
        found = self._first_pass(asked, k)
        numbers = found.numbers
        scores = np.full(len(numbers), np.nan)
        if scored:
            scores[:scored] = self.score(asked, numbers[:scored])
        firsts = self._firsts(asked, found)
        order = self._order(asked, numbers, firsts) if ordered else None
        return Hits(numbers, firsts, scores, *self._sorts(asked, numbers), found.total, len(numbers) < k, order)

    def _order(self, asked: ShardQuery, numbers: Numbers, firsts: Scores) -> Order:
        """By what hits of several shards are merged."""
        by = dates(self.snapshot, numbers) if asked.order == "date" else firsts
        return Order(by, self._column("key", numbers))

    def hits_of(self, asked: ShardQuery, numbers: Numbers, worth: float) -> Hits:
        """Some documents as if the first pass had found them."""
        count = len(numbers)
        unscored = np.full(count, np.nan)
        return Hits(numbers, np.full(count, worth), unscored, *self._sorts(asked, numbers), Total(count), whole=True)

    def _sorts(self, asked: ShardQuery, numbers: Numbers) -> tuple[Numbers, Numbers, Scores]:
        """What diversity asks of documents: their hosts, fingerprints, and how well their language fits."""
        hosts, languages, prints = self.snapshot.columns(("host", "language", "fingerprint"), numbers)
        return self._host_keys[hosts], prints, self._languages.worth(asked.language, languages)

    def _first_pass(self, asked: ShardQuery, k: int) -> Any:
        return self.snapshot.top(
            asked.query,
            k,
            prior_weight=_prior_weight(asked),
            order=asked.order,
            statistics=asked.statistics,
            deadline=asked.deadline,
            **self._visible.masks(asked.visibility),
        )

    def _firsts(self, asked: ShardQuery, found: Any) -> Scores:
        """Scores of the first pass; where there are only filters, the link prior."""
        return self._column("prior", found.numbers) if browses(asked.query) else np.asarray(found.scores)

    def score(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> Scores:
        """Scores of some documents; those that the query names by their address gain by it."""
        return self._scorers.of(asked).scores(asked, numbers, named)

    def evidence(self, asked: ShardQuery, numbers: Numbers, named: Numbers = NOBODY) -> CandidateEvidence:
        """What a formula reads of some documents, as far as there is time."""
        return gathered(self.snapshot, asked, self._ranks, self._languages, numbers, named)

    def matching(self, asked: ShardQuery, numbers: Numbers) -> Mask:
        """Which of some documents the query finds."""
        snapshot, query = self.snapshot, asked.query
        fit = self._visible.mask(asked.visibility, numbers)
        found = [fits and snapshot.matches(query, number) for number, fits in zip(numbers.tolist(), fit, strict=True)]
        return np.array(found, np.bool_)

    def visible(self, visibility: Visibility, numbers: Numbers) -> Mask:
        """Which of some documents may be found at all."""
        return self._visible.mask(visibility, numbers)

    def count(self, query: IndexQuery) -> int:
        """Documents that a query finds."""
        return self.snapshot.top(query, 1).total.value

    def counted(self, asked: ShardQuery) -> Counted:
        """The matches by what filters tell apart."""
        return counted(self.snapshot, self._first_pass, asked)

    # Documents

    def find(self, keys: Sequence[int]) -> list[int]:
        """The numbers of the documents with some address keys; -1 for one that is not here."""
        found = map(self.snapshot.find, keys)
        return [-1 if number is None else number for number in found]

    def facts(self, numbers: Sequence[int], tab: str) -> list[dict[str, str]]:
        """What documents say of themselves, if they belong to a tab."""
        return [self.snapshot.facts(number, tab) for number in numbers]

    def titles(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Addresses and titles of documents."""
        return [(document.url, document.title) for document in self.snapshot.stored_many(numbers)]

    def stored(self, number: int) -> StoredDocument:
        return self.snapshot.stored(number)

    def ids(self, numbers: Numbers) -> list[str]:
        return self.snapshot.ids(numbers)

    def show(self, numbers: Sequence[int], words: tuple[KnownWord, ...]) -> list[Excerpt]:
        """What people see of some documents."""
        return excerpts(self.snapshot, numbers, words)

    def _column(self, name: str, numbers: Numbers) -> Any:
        return self.snapshot.column(name, numbers)


def browses(query: IndexQuery) -> bool:
    """Only filters: every document that they admit is found."""
    return not (query.should or query.must or query.any_of)


def _prior_weight(asked: ShardQuery) -> float:
    return 1.0 if browses(asked.query) else asked.profile.prior_weight


def _host_keys(names: Sequence[str]) -> Numbers:
    """Of every host of the snapshot; 0 of documents without an address."""
    return np.array([addresses.host_key(name) if name else 0 for name in names], np.int64)


class StoredTexts(Protocol):
    """Where documents are kept."""

    def stored_many(self, numbers: Sequence[int]) -> list[StoredDocument]: ...


def excerpts(stored: StoredTexts, numbers: Sequence[int], words: tuple[KnownWord, ...]) -> list[Excerpt]:
    """What people see of some documents, with the words of a query highlighted."""
    documents = stored.stored_many(numbers)
    query = Highlights.of([sought_word(word.forms, word.prefix) for word in words], [word.idf for word in words])
    return [_excerpt(*one) for one in zip(documents, snippets.snippets(documents, query), strict=True)]


def _excerpt(document: StoredDocument, snippet: snippets.Snippet) -> Excerpt:
    address = displayed(document.url, document.host) if document.host else clean(document.id)
    return Excerpt(
        document.id,
        document.url,
        address,
        document.site,
        snippets.title(document, address),
        snippet.text,
        snippet.highlights,
        document.language,
        moment(document.published) or None,
        moment(document.fetched),
        document.content_type,
    )
