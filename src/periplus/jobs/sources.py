"""Where documents and anchor texts are stored, in a form that can be sent to another process and read there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.graph import RankStore
from periplus.index.building.sources import INDEXED_FIELDS, DocumentSource
from periplus.jobs.stand_ins import found_all_the_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from periplus.documents.batches import BatchFiles
    from periplus.records import Anchor, Document
    from periplus.storage import GivenCatalog


class StoredBatch(DocumentSource):
    """One batch of the log of a collection; ``shown``: keys of pages that stand in for the address they name."""

    def __init__(self, batches: BatchFiles, number: int, shown: frozenset[int] = frozenset()) -> None:
        self._batches = batches.only(number)
        self._number = number
        self._shown = shown

    def __iter__(self) -> Iterator[Document]:
        documents = self._batches.stream(self._number, INDEXED_FIELDS)
        return (found_all_the_same(document, self._shown) for document in documents) if self._shown else documents

    @property
    def size(self) -> int:
        return self._batches.size(self._number)

    @property
    def name(self) -> str:
        return f"{self._batches.names_of(self._number).documents} {sorted(self._shown)}"


class StoredAnchors:
    """The published anchor texts of a collection; opened where they are first asked for.

    With a ``catalog``, which says what is published, they are had from other machines where this one lacks them.
    """

    def __init__(self, folder: Path, catalog: GivenCatalog | None = None) -> None:
        self._folder = folder
        self._catalog = catalog
        self._table: Callable[[int], Sequence[Anchor]] | None = None

    def __call__(self, page_key: int) -> Sequence[Anchor]:
        if self._table is None:
            table = RankStore(self._folder / "ranks", self._catalog).whole()
            self._table = table.anchors.__call__ if table else _none
        return self._table(page_key)

    @property
    def name(self) -> str:
        """Says which anchor texts these are."""
        meta = RankStore(self._folder / "ranks", self._catalog).meta()
        return f"ranks {meta.generation}" if meta else ""

    def __reduce__(self) -> tuple[type[StoredAnchors], tuple[Path, GivenCatalog | None]]:
        return StoredAnchors, (self._folder, self._catalog)


def _none(_: int) -> Sequence[Anchor]:
    return ()
