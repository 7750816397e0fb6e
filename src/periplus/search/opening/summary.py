"""Summary: what a search must know of the whole collection, wherever its documents are.

A collection that is open as one snapshot is asked itself. Where the documents are in shards elsewhere, the files that
were published with the generation say the same (``index.GenerationFiles``). Nothing here depends on how documents
lie in segments or shards.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from periplus.search.query.lexicon import vocabulary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from periplus.index import GenerationFiles, IndexStore, Snapshot, TitledPage
    from periplus.index.reading.opening import Losses
    from periplus.search.query.lexicon import CollectionVocabulary


class CollectionSummary(Protocol):
    """One generation of a collection as a whole."""

    @property
    def number(self) -> int:
        """Of the generation."""

    @property
    def live(self) -> int:
        """Documents."""

    @property
    def losses(self) -> Losses:
        """What answers do without."""

    @property
    def vocabulary(self) -> CollectionVocabulary:
        """Statistics and words."""

    @property
    def languages(self) -> Mapping[str, int]:
        """Documents by language; empty stands for those of unknown language."""

    @property
    def hosts(self) -> Sequence[str]:
        """Names of all hosts that have documents, in order; empty stands for documents without an address."""

    @property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that there are documents of."""

    def words(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent words with their documents, by frequency, then by the word."""

    def titled_pages(self) -> Iterable[TitledPage]:
        """What the best pages are called."""

    def close(self) -> None:
        """Let go of the generation."""


class SnapshotSummary:
    """Of a collection that is open as one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.number, self.live, self.losses = snapshot.generation, snapshot.live, snapshot.losses
        self.vocabulary = vocabulary_of(snapshot)

    @property
    def tabs(self) -> tuple[str, ...]:
        return self.snapshot.tabs

    @cached_property
    def languages(self) -> Mapping[str, int]:
        return self.snapshot.live_counts("language")

    @cached_property
    def hosts(self) -> Sequence[str]:
        return list(self.snapshot.live_counts("host"))

    def words(self, limit: int) -> list[tuple[str, int]]:
        return self.snapshot.words(limit)

    def titled_pages(self) -> Iterable[TitledPage]:
        return self.snapshot.titled_pages()

    def close(self) -> None:
        self.snapshot.close()


class FileSummary:
    """Of a generation whose documents are in shards elsewhere: from the files that were published with it."""

    def __init__(self, files: GenerationFiles) -> None:
        self.number, self.live, self.losses = files.generation, files.live, files.losses
        self.vocabulary: CollectionVocabulary = files
        self._files = files

    @property
    def languages(self) -> Mapping[str, int]:
        return self._files.languages

    @property
    def hosts(self) -> Sequence[str]:
        return self._files.hosts

    @property
    def tabs(self) -> tuple[str, ...]:
        return self._files.tabs

    def words(self, limit: int) -> list[tuple[str, int]]:
        return self._files.words(limit)

    def titled_pages(self) -> Iterable[TitledPage]:
        return self._files.titled_pages()

    def close(self) -> None:
        self._files.close()


def open_summary(store: IndexStore) -> CollectionSummary:
    """Of the published generation; ``NotReady`` when there is none yet. A collection in one shard is opened whole."""
    manifest = store.manifest()
    if manifest is None or manifest.shards == 1:
        return SnapshotSummary(store.open())
    return FileSummary(store.open_files())
