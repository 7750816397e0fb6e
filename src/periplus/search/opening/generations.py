"""The open generation and its successor: searches hold the one they began with, and the last to leave closes it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from periplus import addresses
from periplus.errors import NotReady
from periplus.graph import Stores
from periplus.search.opening.apart import gathered_completion, gathered_words
from periplus.search.opening.lazy import Lazy
from periplus.search.opening.links import InLinks
from periplus.search.opening.summary import SnapshotSummary
from periplus.search.query import conditions
from periplus.search.query.lexicon import Lexicon
from periplus.search.shards.broker import Broker, LocalShards
from periplus.search.shards.ranks import Ranks
from periplus.search.shards.shard import Shard
from periplus.search.suggesting.completion import Completion
from periplus.search.suggesting.dictionary import dictionary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.index.reading.opening import Losses
    from periplus.search.opening.summary import CollectionSummary
    from periplus.search.query.vectors import WordVectors
    from periplus.search.shards.exchange import Numbers
    from periplus.search.suggesting.dictionary import SpellingDictionary

    Completing = Callable[[frozenset[str]], Lazy[Completion]]
    Phrases = Callable[[frozenset[str]], tuple[dict[str, int], dict[str, int]]]

T = TypeVar("T")

MAIN_LANGUAGES = 3  # of the collection, whose stems a query of unknown language is given
LEAST_SHARE = 0.05  # of the documents, for a language to be one of them
SMALL = 3_000  # documents
NO_INDEX = "no index is published yet; run periplus index"
APART = 10_000  # documents from which on another process gathers words


class Apart(NamedTuple):
    """What another process gathers for this one; None when it could not."""

    words: Callable[[], SpellingDictionary | None]
    completion: Callable[[frozenset[str]], Completion | None]


class Opened(NamedTuple):
    """A generation as it was found: what is known of the whole collection, who is asked for documents, and ranks."""

    summary: CollectionSummary
    shards: Broker
    ranks: Ranks


class GenerationSource(Protocol):
    """Where generations come from: the files of this machine, or shards elsewhere."""

    keeps_before: bool  # whether servers elsewhere may lack the newest one for a while

    def newest(self) -> int:
        """The number of the published generation; 0 when there is none yet."""

    def open(self) -> Opened:
        """The published generation; ``NotReady`` when there is none yet."""

    def why_none(self) -> str:
        """What is missing as long as none can be opened, and what to do."""


class LocalSource:
    """A collection as one shard in this process."""

    keeps_before = False

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def newest(self) -> int:
        return self._stores.index.newest()

    def open(self) -> Opened:
        snapshot, ranks = self._stores.index.open(partial=True), Ranks.open(self._stores.ranks)
        return Opened(SnapshotSummary(snapshot), Broker(LocalShards([Shard(snapshot, ranks)])), ranks)

    def why_none(self) -> str:
        return NO_INDEX


class Generation:
    """One published generation, open, with what is derived from it on demand."""

    def __init__(
        self, opened: Opened, phrases: Phrases, apart: Apart | None = None, vectors: WordVectors | None = None
    ) -> None:
        """``phrases`` gives the texts of links and past queries, with their counts; ``apart`` what others gather.

        Both are told what is blocked. ``vectors`` say which words nearly mean the same.
        """
        self.summary = summary = opened.summary
        self.losses: Losses = summary.losses
        self.lexicon = Lexicon(summary.vocabulary)
        self.related = vectors.over(self.lexicon) if vectors is not None else None
        self.shards = opened.shards  # asked by a broker of each search (``Broker.until``)
        self.ranks = ranks = opened.ranks
        if ranks.damage:
            self.losses.add("ranks", ranks.damage)
        self.in_links = InLinks(ranks.backlinks)
        self.users = 0
        self.retired = False
        self.keeping_open: Callable[[Callable[[], object]], object] = _at_once
        self._apart = apart
        self._others = others = list[Apart]()  # who gathers words for us, if anybody does
        self._completing: Completing = lambda blocked: Lazy(lambda: _completion(summary, phrases, others, blocked))
        self._completions = (frozenset[str](), self._completing(frozenset()))
        self.lazy_dictionary = Lazy(lambda: _dictionary(summary, others))

    @property
    def number(self) -> int:
        return self.summary.number

    @property
    def blocked(self) -> frozenset[str]:
        """What completions leave out."""
        return self._completions[0]

    @property
    def lazy_completion(self) -> Lazy[Completion]:
        return self._completions[1]

    def hide(self, blocked: frozenset[str]) -> Lazy[Completion]:
        """Completions without what is ``blocked`` from now on; until they are made, there are none."""
        known, completion = self._completions
        if blocked != known:
            completion = self._completing(blocked)
            self._completions = (blocked, completion)
        return completion

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The main languages of the collection, most frequent first; empty stands for pages of unknown language."""
        counts = self.summary.languages
        best = sorted(counts, key=lambda name: (-counts[name], name))[:MAIN_LANGUAGES]
        return tuple(name for name in best if counts[name] >= LEAST_SHARE * self.summary.live)

    def language_of(self, reader: str) -> str:
        """The language that a reader's browser tells, if there are pages in it."""
        language = conditions.language(reader)
        return language if language in self.summary.languages else ""

    @cached_property
    def sites(self) -> int:
        """How many sites have documents, whatever their hosts."""
        return len({addresses.site(host) for host in self.summary.hosts if host})

    def hosts_of(self, sites: tuple[str, ...]) -> Numbers:
        """The keys of the hosts of some sites."""
        hosts = [host for host in self.summary.hosts if any(conditions.host_matches(host, site) for site in sites)]
        return np.array([addresses.host_key(host) for host in hosts], np.int64)

    @property
    def is_small(self) -> bool:
        """Small enough to build at once what searches need besides the index."""
        return self.summary.live <= SMALL

    @cached_property
    def hosts_by_name(self) -> dict[str, list[str]]:
        """The name that people call a site by (``example`` of www.example.org) to its hosts."""
        found: dict[str, list[str]] = {}
        for host in self.summary.hosts:
            if host:
                label = addresses.site(host).split(".")[0]
                found.setdefault(label, []).append(host)
        return found

    @property
    def tabs(self) -> tuple[str, ...]:
        """Names of the tabs that there are pages for."""
        return self.summary.tabs

    def warm(self) -> None:
        """Build everything that is otherwise built on demand; another process gathers words, and takes along what that
        needs of memory."""
        if self._apart is not None and not self.is_small:
            self._others.append(self._apart)
        self.lazy_dictionary.now()
        self.lazy_completion.now()

    def follow(self, before: Generation) -> None:
        """Be ready without delay: words and completions of the generation before serve until our own are made."""
        if self._apart is not None and self.summary.live > APART:
            self._others.append(self._apart)
        self.lazy_dictionary.follow(before.lazy_dictionary)
        self.lazy_completion.follow(before.lazy_completion)
        self.lazy_dictionary.soon(self.keeping_open)
        self.lazy_completion.soon(self.keeping_open)

    def close(self) -> None:
        self.keeping_open = _at_once  # leaves no circle behind, since a server's collector does not look for it
        self.summary.close()


def _dictionary(summary: CollectionSummary, others: list[Apart]) -> SpellingDictionary:
    gathered = [other.words() for other in others]
    return (gathered[0] if gathered else None) or dictionary_of(summary)


def _completion(
    summary: CollectionSummary, phrases: Phrases, others: list[Apart], blocked: frozenset[str]
) -> Completion:
    gathered = [other.completion(blocked) for other in others]
    if gathered and gathered[0] is not None:
        return gathered[0]
    return Completion.build(summary, *phrases(blocked), blocked)


def _at_once(build: Callable[[], object]) -> None:
    build()


class OpenGenerations:
    """Opens the newest generation of an index and hands it out; ``reload`` swaps without disturbing anyone."""

    def __init__(
        self,
        folder: Path,
        past_queries: Callable[[], dict[str, int]] = dict,
        source: GenerationSource | None = None,
        vectors: WordVectors | None = None,
    ) -> None:
        self._folder = folder
        self._vectors = vectors
        self._past_queries = past_queries
        self._source: GenerationSource = source or LocalSource(Stores(folder))
        self._lock = threading.Lock()
        self._reloading = threading.Lock()
        self._current: Generation | None = None
        self._before: Generation | None = None
        self._closed = False

    @property
    def number(self) -> int:
        current = self._current
        return current.number if current else 0

    @property
    def ready(self) -> bool:
        return self._current is not None

    @property
    def damage(self) -> tuple[str, ...]:
        """What was left out of the open generation because it is damaged."""
        current = self._current
        return current.losses.damage if current else ()

    def reload(self) -> bool:
        """Open a newer generation if one is published; true when it was swapped in."""
        with self._reloading:
            newest = self._source.newest()
            if self._closed or newest in (0, self.number):
                return False
            try:
                fresh = self._opened()
            except NotReady:
                return False
            fresh.keeping_open = lambda build: self._build(fresh, build)
            before = self._current  # goes on answering while the new one is made ready
            if before is not None:
                fresh.hide(before.blocked)
                if fresh.is_small:
                    fresh.warm()
                else:
                    fresh.follow(before)
            self._swap(fresh)
            return True

    def _opened(self) -> Generation:
        opened = self._source.open()
        ranks = opened.ranks
        return Generation(
            opened,
            lambda blocked: (ranks.link_texts(blocked), self._past_queries()),
            Apart(
                lambda: gathered_words(self._folder),
                lambda blocked: gathered_completion(self._folder, self._past_queries(), blocked),
            ),
            self._vectors,
        )

    def dictionary(self, generation: Generation) -> SpellingDictionary | None:
        """The words of a generation in use; nothing while those of a large one are being gathered."""
        return self._on_demand(generation, generation.lazy_dictionary)

    def completion(self, generation: Generation, blocked: frozenset[str]) -> Completion | None:
        return self._on_demand(generation, generation.hide(blocked))

    def _on_demand(self, generation: Generation, lazy: Lazy[T]) -> T | None:
        if generation.is_small:
            return lazy.now()
        return lazy.soon(generation.keeping_open)

    def _build(self, generation: Generation, build: Callable[[], object]) -> None:
        """In a thread of its own, which keeps the generation open for as long as it works."""
        with self._lock:
            if generation.retired:
                return
            generation.users += 1
        try:
            build()
        finally:
            self.leave(generation)

    @contextmanager
    def use(self) -> Iterator[Generation]:
        """The current generation, kept open until the caller is done; ``NotReady`` when there is none."""
        generation = self.enter()
        try:
            yield generation
        finally:
            self.leave(generation)

    def close(self) -> None:
        self._closed = True
        self._swap(None)

    def enter(self) -> Generation:
        """The current generation, open until the caller calls ``leave``; ``NotReady`` when there is none."""
        with self._lock:
            if self._current is not None:
                self._current.users += 1
                return self._current
        if self.reload():
            return self.enter()
        raise NotReady(self._source.why_none())

    def leave(self, generation: Generation) -> None:
        with self._lock:
            generation.users -= 1
            last = generation.retired and generation.users == 0
        if last:
            generation.close()

    def enter_before(self, number: int) -> Generation | None:
        """The generation before ``number``, kept open like ``enter``; nothing where it is not kept."""
        with self._lock:
            before = self._before
            if before is None or before.number >= number:
                return None
            before.users += 1
            return before

    def _swap(self, fresh: Generation | None) -> None:
        with self._lock:
            old, self._current = self._current, fresh
            if self._source.keeps_before and fresh is not None:
                old, self._before = self._before, old
            retired = [old] if fresh is not None else [old, self._before]
            idle = []
            for one in retired:
                if one is not None:
                    one.retired = True
                    if not one.users:
                        idle.append(one)
        for one in idle:
            one.close()
