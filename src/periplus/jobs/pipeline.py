"""The steps from batches to a published generation: rank the links, index the documents."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.crawl import TAKEDOWN_LOCK, Backlog, Retention, backlog_size, forget_missing
from periplus.documents import BatchLog
from periplus.documents.compaction import Compaction
from periplus.errors import Corrupt, Incompatible, NotFound, StorageBusy, StorageError, StorageFull
from periplus.graph import (
    Convergence,
    RankFile,
    RankOrigin,
    RankStore,
    TopRank,
    host_addresses,
    refresh_policy_ranks,
    refresh_ranks,
)
from periplus.index import IndexStore, Manifest, most_processes
from periplus.jobs.aliases import AliasTable
from periplus.jobs.anchor_updates import changed_pages, newest_versions
from periplus.jobs.damage import INDEX_JOB, RANK_JOB, WholeBatches, left_out
from periplus.jobs.recording import RecordingRunner
from periplus.jobs.runners import ProcessRunner, RetryingRunner
from periplus.jobs.sources import StoredAnchors, StoredBatch
from periplus.jobs.stand_ins import Chosen, LateStandIns, choose
from periplus.jobs.tasks import TaskTable
from periplus.storage import Catalogs, LocalFiles, SharedCopies, folder_lock, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from periplus.graph import RankMeta, RankTable
    from periplus.records import Document
    from periplus.settings import Settings
    from periplus.storage import Database, Depot, Runner

SHOWN_HOSTS = 5
THINNING_SECONDS = 5.0  # of an update, after which no further file of the archive is begun
LOCK_FILE = "building.lock"


class DueSteps(Struct, frozen=True):
    """What is behind: batches that the index has not seen, ranks older than the links, pages without documents."""

    batches: int
    ranks: bool
    backlog: bool = False


class RankSummary(Struct, frozen=True):
    generation: int
    pages: int
    hosts: int
    links: int
    iterations: int
    difference: float
    seconds: float
    top: tuple[TopRank, ...]
    origin: RankOrigin | None = None  # of ranks that were computed elsewhere


class Pipeline:
    """The batch steps of one collection. One process at a time runs them; a second gets ``StorageBusy``."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        depot: Depot | None = None,
        runner: Callable[[], AbstractContextManager[Runner] | None] | None = None,
    ) -> None:
        """``depot``: of a collection on many machines. What is published is then for all of them, and one process of
        all of them runs the steps. ``runner``, asked when a step begins, runs its tasks, else processes do here."""
        self.warnings: list[str] = []  # of the steps so far: what was damaged or is not as it should be
        self._folder = folder
        self._given_runner = runner
        self._catalogs = Catalogs(database, depot) if depot else None
        self._database = database
        self._settings = settings
        self._depot = depot
        self._log = BatchLog(LocalFiles(folder), database, depot)
        self._store = self._index_store()
        self._ranks = RankStore(folder / "ranks", self._catalogs.ranks if self._catalogs else None)

    def due(self) -> DueSteps:
        """What is behind; batches that a step left out because they are damaged are not."""
        manifest, ranks = self._store.manifest(), self._last_ranked()
        numbers = set(self._log.numbers())
        seen = manifest.last_batch if manifest and not self._other_format() else 0
        return DueSteps(
            sum(number > seen for number in numbers - left_out(self._database, INDEX_JOB)),
            any(number > ranks for number in numbers - left_out(self._database, RANK_JOB)),
            backlog_size(self._database) > 0,
        )

    def index(
        self,
        *,
        rebuild: bool = False,
        why: str = "",
        progress: Callable[[int], None] | None = None,
        merge: bool = True,
    ) -> Manifest:
        """Bring the index up to the newest batch, with the ranks and anchor texts that are published.

        Large updates are shared out to processes. Without ``merge``, merges are left to a call of ``merge``. An index
        of an earlier format is built anew from all batches, which an event tells; ``why`` is told of another rebuild.
        Batches whose files are damaged are made again from the archive, or left out and listed (``damage``).
        """
        with self._alone(), self._whole_batches(INDEX_JOB) as whole:
            why = why or (self._damage() if rebuild else self._other_format() or self._whole_again(whole.again))
            if why:
                self._tell(f"building the index from nothing: {why}", "warning")
                rebuild = True
            return whole.do(partial(self._index, rebuild=rebuild, progress=progress, merge=merge))

    def _index(self, *, rebuild: bool, progress: Callable[[int], None] | None, merge: bool) -> Manifest:
        self._read_backlog()
        table = self._known_ranks()
        manifest = self._known_manifest() if rebuild else self._store.manifest()
        after = 0 if rebuild or manifest is None else manifest.last_batch
        if rebuild:
            AliasTable(self._database, self._log).forget()
        with self._runner(self._most_processes(after)) as workers:
            runner = RecordingRunner(TaskTable(self._database), INDEX_JOB, workers)
            store = self._index_store(runner)
            build = store.rebuild if rebuild else store.update
            new = build(
                self._batches(after, store if after else None),
                anchors=self._anchors() if table else None,
                prior=table.prior if table else None,
                progress=progress,
                merge=merge,
            )
            runner.close()
        if manifest is None or new.generation != manifest.generation:
            self._tell(f"generation {new.generation} is published: {new.documents:,} documents")
        self._compact(new.last_batch)
        self._thin_archive()
        return new

    def _whole_again(self, numbers: set[int]) -> str:
        """Why the index has to be built anew, when it passed by batches that can be read again; else empty."""
        manifest = self._known_manifest()
        passed = sorted(number for number in numbers if manifest is not None and number <= manifest.last_batch)
        return f"it was built without batch {passed[0]}, which is whole again" if passed else ""

    def merge(self) -> None:
        """Do the merges of the index that are due; may run while another thread or process indexes."""
        self._store.merge()

    def reshard(self, shards: int, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """Spread the documents of the index over so many shards; may run while another process indexes and searches.

        ``progress`` is told how many documents are done, of how many.
        """
        before = self._store.manifest()
        new = self._store.reshard(shards, progress)
        if before is None or new.generation != before.generation:
            self._tell(f"generation {new.generation} is published: {new.documents:,} documents in {shards} shards")
        return new

    def rank(
        self,
        *,
        given: Path | None = None,
        progress: Callable[[int, float], None] | None = None,
        hand_over: bool = True,
    ) -> RankSummary:
        """Compute ranks over all links, publish them, and let a published index use them.

        ``given`` is a file of ranks that were computed elsewhere, which then count instead.
        """
        started = time.perf_counter()
        ranks_given = RankFile(given) if given is not None else None
        with self._alone(), self._whole_batches(RANK_JOB) as whole:
            table = whole.do(partial(self._rank, ranks_given, progress, hand_over=hand_over))
        return _summary(table.meta, time.perf_counter() - started)

    def _rank(
        self, given: RankFile | None, progress: Callable[[int, float], None] | None, *, hand_over: bool
    ) -> RankTable:
        self._read_backlog()
        rank, old = self._settings.rank, self._known_ranks()
        ips = host_addresses(self._database) if rank.one_voice == "address" else None
        with self._runner() as workers:
            table = refresh_ranks(
                self._log,
                self._ranks,
                rank,
                ips=ips,
                given=given,
                runner=workers if workers.is_local else RetryingRunner(workers),
                depot=self._depot,
                progress=progress,
            )
        if hand_over and self._store.manifest() is not None:
            self._hand_over(old, table)
        if old is None or table.generation != old.generation:
            source = f" from {table.meta.origin.file}" if table.meta.origin else ""
            self._tell(f"ranks {table.generation} are published: {table.pages:,} pages, {table.hosts:,} hosts{source}")
        return table

    def rank_by(self, policy: str, *, progress: Callable[[int, float], None] | None = None) -> RankSummary:
        """Compute ranks as the source of a reference profile does, and publish them beside ours for that profile."""
        started = time.perf_counter()
        with self._alone(), self._whole_batches(RANK_JOB) as whole:
            table = whole.do(partial(self._rank_by, policy, progress))
        return _summary(table.meta, time.perf_counter() - started)

    def _rank_by(self, policy: str, progress: Callable[[int, float], None] | None) -> RankTable:
        self._read_backlog()
        table = refresh_policy_ranks(self._log, self._ranks, policy, progress)
        self._tell(f"ranks {table.generation} of {policy} are published: {table.pages:,} pages, {table.hosts:,} hosts")
        return table

    def tidy(self) -> None:
        """Remove files of batches that were merged a while ago, and what the archive need not keep, also when nothing
        new comes."""
        with self._alone():
            manifest = self._known_manifest()
            self._compact(manifest.last_batch if manifest else 0)
            self._thin_archive()

    def _compact(self, upto: int) -> None:
        """Merge small batches that the index has taken in. What a full disk keeps from it is told and done later."""
        if self._depot is not None:
            SharedCopies(self._database, self._depot).forget()
        compaction = Compaction(self._log, LocalFiles(self._folder), self._database, self._depot)
        try:
            with folder_lock(self._folder / TAKEDOWN_LOCK, "taking down pages"):
                compaction.run(upto, also=AliasTable(self._database, self._log).renumber)
        except (StorageBusy, NotFound, Corrupt):
            return  # a takedown is at work: after the next update; damage is for the doctor
        except StorageFull as error:
            self._tell(str(error), "warning")

    def _thin_archive(self) -> None:
        """Have responses leave the archive that newer ones have replaced, and addresses that are missing for good.

        Objects of many machines stay.
        """
        days = self._settings.archive.keep_days
        if not days:
            return
        forget_missing(self._database)
        if self._depot is not None:
            return
        alone = partial(folder_lock, self._folder / TAKEDOWN_LOCK, "taking down pages")
        try:
            Retention(self._folder, self._database, days, alone).run(THINNING_SECONDS)
        except StorageBusy:
            return  # a takedown or a backup is at work: later
        except StorageError as error:  # what was stored can be indexed all the same
            self._tell(str(error), "warning")

    def _whole_batches(self, job: str) -> WholeBatches:
        return WholeBatches(self._log, LocalFiles(self._folder), self._database, job, self._tell)

    def _tell(self, text: str, level: str = "info") -> None:
        if level == "warning":
            self.warnings.append(text)
        with self._database.write() as tx:
            write_event(tx, "jobs", text, level)

    def _last_ranked(self) -> int:
        """The last batch that the ranks know; none where they are damaged, so that they are made again."""
        try:
            meta = self._ranks.meta()
        except (Corrupt, Incompatible):
            return 0
        return meta.last_batch if meta else 0

    def _known_ranks(self) -> RankTable | None:
        """The published ranks; damaged ones are made again by the next ranking, and nothing waits for that."""
        try:
            return self._ranks.current()
        except (Corrupt, Incompatible) as error:
            self._tell(f"going on without ranks: {error}", "warning")
            return None

    def _other_format(self) -> str:
        """Why the published index can only be built anew; empty when it can be gone on with."""
        try:
            self._store.check_format()
        except Incompatible as error:
            return str(error)
        except Corrupt:  # is told by whoever opens it
            pass
        return ""

    def _known_manifest(self) -> Manifest | None:
        """The published generation; a damaged one tells nothing that a new one would need."""
        try:
            return self._store.manifest()
        except (Corrupt, Incompatible):
            return None

    def _damage(self) -> str:
        """Why the published generation cannot be read; empty when it can."""
        try:
            self._store.manifest()
        except (Corrupt, Incompatible) as error:
            return str(error)
        return ""

    def _read_backlog(self) -> None:
        """Documents that the crawl left for later come first: without them there is nothing to index or to rank."""
        Backlog(self._folder, self._database, self._log, self._settings.crawl).work()

    def _hand_over(self, old: RankTable | None, new: RankTable) -> None:
        """Ranks are a column: nothing is indexed again, except pages that others now call by another name."""
        changed = changed_pages(old.anchors if old else None, new.anchors)
        if not changed:
            self._store.refresh_prior(new.prior)
            return
        self._store.replace(newest_versions(self._log, changed), anchors=new.anchors.__call__, prior=new.prior)

    def _batches(self, after: int, store: IndexStore | None) -> Iterator[tuple[int, Iterable[Document]]]:
        """What the index in ``store`` has not seen; at last, pages seen before that begin or end to stand in."""
        numbers = self._log.numbers(after)
        if not numbers:
            return
        chosen = self._chosen(after, numbers[-1], store)
        for number in numbers:
            shown = chosen.shown.get(number, frozenset())
            yield number, StoredBatch(self._log, number, shown)
        if chosen.revived or chosen.dropped:
            yield numbers[-1], LateStandIns(self._log, chosen)

    def _chosen(self, after: int, last: int, store: IndexStore | None) -> Chosen:
        held = store.held if store else lambda keys: np.zeros(len(keys), np.bool_)
        chosen = choose(AliasTable(self._database, self._log), after, last, held)
        listed = set(self._log.numbers())
        revived = {number: keys for number, keys in chosen.revived.items() if number in listed}
        return chosen._replace(revived=revived)

    @contextmanager
    def _runner(self, most: int = 0) -> Iterator[Runner]:
        """The runner that was given, or at ``most`` so many processes; 0 is one a core."""
        given = self._given_runner() if self._given_runner is not None else None
        with given or ProcessRunner(most or self._settings.index.workers) as runner:
            yield runner

    def _most_processes(self, after: int) -> int:
        """As many as there are cores, or as can index the batches after ``after`` within the memory."""
        index = self._settings.index
        sizes = list(map(self._log.size, self._log.numbers(after)))
        return min(index.workers or len(os.sched_getaffinity(0)), most_processes(sizes, index.memory))

    def _anchors(self) -> StoredAnchors:
        return StoredAnchors(self._folder, self._catalogs.ranks.given() if self._catalogs else None)

    def _index_store(self, runner: Runner | None = None) -> IndexStore:
        index = self._settings.index
        catalog = self._catalogs.index if self._catalogs else None
        return IndexStore(
            self._folder / "index", memory=index.memory, runner=runner, shards=index.shards, catalog=catalog
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        doing = "indexing or ranking"
        with (
            folder_lock(self._folder / LOCK_FILE, doing),
            self._catalogs.alone(doing) if self._catalogs else nullcontext(),
        ):
            yield


def _summary(meta: RankMeta, seconds: float) -> RankSummary:
    last = meta.page_history[-1] if meta.page_history else Convergence(0, 0.0, 0.0)
    return RankSummary(
        meta.generation,
        meta.pages,
        meta.hosts,
        meta.links,
        last.iteration,
        last.difference,
        seconds,
        meta.top_hosts[:SHOWN_HOSTS],
        meta.origin,
    )
