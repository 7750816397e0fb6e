"""The steps from batches to a published generation: rank the links, index the documents."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.documents import BatchLog
from periplus.graph import LinkGraph, RankStore, TopRank, anchors, pagerank
from periplus.index import IndexStore, Manifest
from periplus.storage import LocalFiles, folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.graph import Csr, PageRank, RankTable
    from periplus.records import Document
    from periplus.settings import Settings
    from periplus.storage import Database

SHOWN_HOSTS = 5
LOCK_FILE = "building.lock"


class Due(Struct, frozen=True):
    """What is behind: batches that the index has not seen, and whether the ranks are older than the links."""

    batches: int
    ranks: bool


class RankSummary(Struct, frozen=True):
    generation: int
    pages: int
    hosts: int
    links: int
    iterations: int
    difference: float
    seconds: float
    top: tuple[TopRank, ...]


class Pipeline:
    """The batch steps of one collection. One process at a time runs them; a second gets ``StorageBusy``."""

    def __init__(self, folder: Path, database: Database, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._log = BatchLog(LocalFiles(folder), database)
        self._store = IndexStore(folder / "index")
        self._ranks = RankStore(folder / "ranks")

    def due(self) -> Due:
        manifest, table = self._store.manifest(), self._ranks.current()
        numbers = self._log.numbers()
        last = numbers[-1] if numbers else 0
        seen = manifest.last_batch if manifest else 0
        return Due(sum(number > seen for number in numbers), last > (table.last_batch if table else 0))

    def index(self, *, rebuild: bool = False, progress: Callable[[int], None] | None = None) -> Manifest:
        """Bring the index up to the newest batch, with the ranks and anchor texts that are published."""
        with self._alone():
            table = self._ranks.current()
            texts = anchors(self._log) if table else {}
            build = self._store.rebuild if rebuild else self._store.update
            manifest = self._store.manifest()
            after = 0 if rebuild or manifest is None else manifest.last_batch
            return build(
                self._batches(after),
                anchors=lambda page_key: texts.get(page_key, ()),
                prior=table.prior if table else None,
                progress=progress,
            )

    def rank(self, *, progress: Callable[[int, float], None] | None = None) -> RankSummary:
        """Compute ranks over all links, publish them, and let a published index use them."""
        started = time.perf_counter()
        with self._alone():
            graph = LinkGraph.build(self._log)
            pages = self._pagerank(graph.pages, progress)
            hosts = self._pagerank(graph.hosts, None)
            top_hosts = _top(hosts.ranks, list(graph.host_names))
            table = self._ranks.publish(
                graph.page_keys,
                pages.ranks,
                graph.host_keys,
                hosts.ranks,
                last_batch=graph.last_batch,
                links=graph.pages.edges,
                host_links=graph.hosts.edges,
                page_history=pages.history,
                host_history=hosts.history,
                top_pages=_top(pages.ranks, [graph.urls.get(int(key), "") for key in graph.page_keys]),
                top_hosts=top_hosts,
            )
            self._hand_over(table)
        return RankSummary(
            table.generation,
            table.pages,
            table.hosts,
            graph.pages.edges,
            pages.iterations,
            pages.difference,
            time.perf_counter() - started,
            top_hosts[:SHOWN_HOSTS],
        )

    def _pagerank(self, graph: Csr, progress: Callable[[int, float], None] | None) -> PageRank:
        rank = self._settings.rank
        return pagerank(
            graph,
            damping=rank.damping,
            tolerance=rank.tolerance,
            max_iterations=rank.max_iterations,
            progress=progress,
        )

    def _hand_over(self, table: RankTable) -> None:
        """New ranks become a column of the published index; nothing is indexed again."""
        if self._store.manifest() is not None:
            self._store.refresh_prior(table.prior)

    def _batches(self, after: int) -> Iterator[tuple[int, Iterable[Document]]]:
        for number in self._log.numbers(after):
            yield number, self._log.documents(number)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with folder_lock(self._folder / LOCK_FILE, "indexing or ranking"):
            yield


def _top(ranks: NDArray[np.float64], names: list[str], count: int = 100) -> tuple[TopRank, ...]:
    best = np.argsort(-ranks, kind="stable")[:count]
    return tuple(TopRank(names[place], float(ranks[place])) for place in best.tolist() if names[place])
