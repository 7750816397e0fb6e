"""A collection: one folder that holds a crawl, its index, its ranks and its settings."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from periplus import settings as settings_module
from periplus.app import state
from periplus.app.parts.crawl_options import crawl_flags
from periplus.app.parts.instant import InstantAnswers
from periplus.app.parts.live_settings import LiveSettings
from periplus.app.parts.occupancy import refuse_second_crawl
from periplus.app.parts.priming import Priming
from periplus.app.parts.query_counts import QueryCounts
from periplus.errors import CollectionMissing, NotFound, StateLost, StorageBusy, StorageError
from periplus.records import SearchAnswer, SearchRequest
from periplus.storage import Blocklist, Catalogs, LocalFiles, make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from periplus.app.moving import Moved
    from periplus.app.parts.keys import SharedKeys
    from periplus.app.parts.shard_orders import ShardOrders
    from periplus.archive import ArchiveParts
    from periplus.cluster import ServedGenerations
    from periplus.crawl import AuditReport, Crawler, Removal
    from periplus.graph import Stores
    from periplus.index import Manifest
    from periplus.jobs import CollectionStatus, Pipeline, RankSummary
    from periplus.records import CrawlStatus, Document, Explanation, Inspection, InstantAnswer, Suggestion
    from periplus.search import Engine
    from periplus.settings import LoadedSettings, Remembered, Settings
    from periplus.storage import Database, Depot, Runner

NEW_SETTINGS = """\
# Settings of this collection; docs/settings.md lists them all with their defaults.
# PERIPLUS_<SECTION>_<NAME> variables and flags win over this file.
"""


class Collection:
    """The Python surface of Periplus.

    >>> c = Collection("my-collection")                      # doctest: +SKIP
    >>> c.crawl(["https://example.org/"], max_pages=500)     # doctest: +SKIP
    >>> c.index(); c.rank()                                  # doctest: +SKIP
    >>> for hit in c.search("tide tables", k=10): print(hit.title, hit.url)   # doctest: +SKIP
    """

    def __init__(
        self, folder: str | Path, *, flags: Mapping[str, Any] | None = None, flags_at: float | None = None
    ) -> None:
        """``flags`` are settings for this process, given at ``flags_at``; what a crawl is told later wins over them."""
        self.folder = Path(folder)
        self._flags = dict(flags or {})
        self.flags_at = time.time() if flags_at is None else flags_at
        self._noted: list[str] = []  # damage that somebody found
        self.warnings: tuple[str, ...] = ()  # of the last step: what was damaged, and what became of it
        self.cold = False  # true while a server makes it ready for its first visitor
        self._opening = threading.RLock()  # threads of a server may ask for a part at the same moment
        self._database: Database | None = None
        self._keys: SharedKeys | None = None
        self._depot: Depot | None = None
        self._engine: Engine | None = None
        self._catalogs: Catalogs | None = None
        self.source: ServedGenerations | None = None  # of shards on servers; None: searched in this process
        self.shard_orders: ShardOrders | None = None  # to those servers
        self._is_settled = False
        self._loaded = settings_module.load(self.folder, self._flags)
        self._instant = InstantAnswers(self.folder, lambda: self.settings.search, lambda: self.engine)
        chosen = self.settings.search
        self.query_counts = QueryCounts(self.sound_state, on=chosen.past_queries, clicks=chosen.clicks)
        self.priming = Priming(self.query_counts)
        self.live = LiveSettings(self)

    @classmethod
    def existing(cls, folder: str | Path, *, flags: Mapping[str, Any] | None = None) -> Self:
        """The collection in ``folder``, which must be there already."""
        collection = cls(folder, flags=flags)
        collection._require()
        return collection

    # Settings and parts

    @property
    def settings(self) -> Settings:
        """From file, variables and flags. A crawl goes by ``in_force``, which asks the database, too."""
        return self._loaded.values

    def in_force(self, options: Mapping[str, Any] | None = None, *, forget: bool = False) -> LoadedSettings:
        """Every setting as a crawl would have it now: with what crawls were told before, unless that is forgotten.

        ``options`` are names of crawl settings that are given now, like flags. What the console changed stays.
        """
        told = {key: one for key, one in self.remembered().items() if not forget or one.by == settings_module.CONSOLE}
        flags = self.flags_left(told) | crawl_flags(options or {})
        return settings_module.load(self.folder, flags, remembered=told)

    def flags_left(self, told: Mapping[str, Remembered] | None = None) -> dict[str, Any]:
        """The settings given by flag, without those that a crawl was told otherwise since."""
        known = self.remembered() if told is None else told
        newer = {key: entry.value for key, entry in known.items() if entry.at > self.flags_at}
        return {
            key: value
            for key, value in self._flags.items()
            if key not in newer or value is None or settings_module.is_same(key, value, newer[key])
        }

    def remember(self, loaded: LoadedSettings, *, forget: bool = False) -> None:
        """Keep what a crawl was told by flags, and forget what the file was edited to since."""
        from periplus.crawl import told

        told.forget(self.database, None if forget else loaded.outdated)
        given = {
            key: loaded.value(key)
            for key, origin in loaded.origins.items()
            if origin == settings_module.FLAG and key.startswith("crawl.")
        }
        told.tell(self.database, given, settings_module.in_file(self.folder))

    def remembered(self) -> dict[str, Remembered]:
        """What crawls were told and the console changed, by setting."""
        from periplus.crawl import told

        return told.told(self.database) if self._has_state else {}

    def go_by(self, values: Settings) -> None:
        """Have other ``settings`` from now on; ``live_settings`` knows which of them a server takes up."""
        self._loaded = msgspec.structs.replace(self._loaded, values=values)

    def forget(self, *names: str) -> None:
        """Forget what is remembered of these settings (``crawl.delay``), or of all that crawls were told."""
        from periplus.crawl import told

        self._require()
        told.forget(self.database, names or None)

    def needed(self, loaded: LoadedSettings) -> list[str]:
        """Settings that crawls used and that are not remembered, where nothing gives them now."""
        from periplus.crawl import told

        return sorted(told.used(self.database) - set(loaded.origins)) if self._has_state else []

    @property
    def flags(self) -> dict[str, Any]:
        """The settings given by flag, for opening the same collection in another process."""
        return dict(self._flags)

    @property
    def exists(self) -> bool:
        known = (settings_module.FILE_NAME, state.STATE_FILE, state.IDENTITY_FILE)
        return any((self.folder / name).exists() for name in known) or state.has_stored(self.folder)

    @property
    def files(self) -> LocalFiles:
        return LocalFiles(self.folder)

    @property
    def depot(self) -> Depot | None:
        """Where the files of this machine's folder go to and come from; None where the folder is all there is."""
        if self._depot is None:
            self._depot = state.open_depot(self.files, self.settings.storage)
        return self._depot

    @property
    def archive(self) -> Path | ArchiveParts:
        """Where the records of the archive are read."""
        from periplus.archive import ArchiveParts

        return ArchiveParts(self.database, self.depot) if self.depot is not None else self.folder / "archive"

    @property
    def database(self) -> Database:
        """The state; where it is lost or is not that of the files, a stand-in that cannot be written to."""
        if self._database is None:
            with self._opening:
                if self._database is None:
                    self._database = state.open_state(self.folder, self.settings.storage.database)
        return self._database

    def sound_state(self) -> Database:
        """The state, or ``StateLost`` where it is lost: what is absent from a stand-in may have been there."""
        database = self.database
        if isinstance(database, state.StandIn):
            raise StateLost(database.why)
        return database

    @property
    def keys(self) -> SharedKeys:
        """The keys of programs and of the operator."""
        if self._keys is None:
            from periplus.app.parts.keys import SharedKeys

            with self._opening:
                self._keys = self._keys or SharedKeys(self)
        return self._keys

    @property
    def notice(self) -> str:
        """One line for whoever reads on without the state; before the state is opened, after a quick look only."""
        if self._database is None and not self.settings.storage.database and state.is_missing(self.folder):
            return state.said_missing(self.folder)
        return self._database.why if isinstance(self._database, state.StandIn) else ""

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            from periplus.search import Engine, LocalSource

            self._require()
            with self._opening:
                if self._engine is None:
                    source = self.source or LocalSource(self.stores)
                    self._engine = Engine(self.folder, self.settings, source, state=self.sound_state)
        return self._engine

    @property
    def known_engine(self) -> Engine | None:
        """The engine, where something was searched already."""
        return self._engine

    @property
    def damage(self) -> tuple[str, ...]:
        """What the open index does without because it is damaged, and what else was noted; a sentence each."""
        found = self._engine.damage if self._engine is not None else ()
        return tuple(dict.fromkeys((*found, *self._lost_list(), *self._noted)))

    def _lost_list(self) -> tuple[str, ...]:
        """What is wrong with the list of blocked hosts, without which nothing is shown."""
        try:
            Blocklist(self.files).targets()
        except StorageError as error:
            return (str(error),)
        return ()

    def note_damage(self, what: str) -> None:
        """Have the status tell of a damaged file."""
        self._noted.append(what)

    @property
    def stores(self) -> Stores:
        """The index and the ranks, as they are published."""
        from periplus.graph import Stores

        return Stores(self.folder, self.catalogs)

    @property
    def catalogs(self) -> Catalogs | None:
        """What all machines know of published generations; none where the folder is all there is."""
        if self._catalogs is None and self.depot is not None:
            with self._opening:  # not before: an engine that opens may pull files for long
                self._catalogs = self._catalogs or Catalogs(self.sound_state(), self.depot)
        return self._catalogs

    @property
    def pipeline(self) -> Pipeline:
        from periplus.jobs import Pipeline

        self._require_state()
        return Pipeline(self.folder, self.database, self.in_force().values, self.depot, self._runner)

    def _runner(self) -> AbstractContextManager[Runner] | None:
        """Runs tasks on all machines, where this one is of a cluster."""
        if self.depot is None:
            return None
        from periplus.app.parts.task_runners import task_runner

        return task_runner(self)

    def create(self, extra: str = "") -> Self:
        """Make the folder and its settings file, with ``extra`` lines in it, where they are missing."""
        try:
            make_private_folder(self.folder)
        except OSError as error:
            raise StorageError(f"{self.folder} cannot be made: {error.strerror}; choose another --dir") from error
        if not self.exists:
            self.files.write(settings_module.FILE_NAME, (NEW_SETTINGS + extra).encode())
            self._loaded = settings_module.load(self.folder, self._flags)
        self._require_state()
        return self

    def close(self) -> None:
        """Let go of the database and the index."""
        if self._engine is not None:
            self._engine.close()
        if self._database is not None:
            self._database.close()
        self._engine = self._database = self._catalogs = None
        self._is_settled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Building

    def crawl(
        self,
        seeds: Iterable[str] = (),
        *,
        recrawl: bool = False,
        seconds: float = 0,
        progress: Callable[[CrawlStatus], None] | None = None,
        forget: bool = False,
        **options: Any,
    ) -> CrawlStatus:
        """Fetch from ``seeds`` on, or go on where the last crawl stopped; ``options`` are names of crawl settings.

        They are remembered, as are those of ``flags``: the next crawl of this collection has them too, unless it is
        told otherwise or shall ``forget``. Headers, logins, proxy and the leave for private networks are not.
        """
        loaded = self.in_force(options, forget=forget)
        self.create()
        refuse_second_crawl(self.folder)
        return self.crawler(loaded, progress, forget=forget).run(list(seeds), recrawl=recrawl, seconds=seconds)

    def crawler(
        self,
        loaded: LoadedSettings,
        progress: Callable[[CrawlStatus], None] | None = None,
        *,
        forget: bool = False,
    ) -> Crawler:
        """One crawl with these settings; what it is told is remembered when it begins."""
        from periplus.app.parts.host_ranks import host_ranks
        from periplus.crawl import Crawler

        return Crawler(
            self.folder,
            self.database,
            loaded.values,
            progress=progress,
            rank_of=host_ranks(self),
            begun=lambda: self.remember(loaded, forget=forget),
            depot=self.depot,
        )

    def index(self, *, rebuild: bool = False, progress: Callable[[int], None] | None = None) -> Manifest:
        """Make everything stored searchable; adds what is new."""
        pipeline = self.pipeline
        manifest = pipeline.index(rebuild=rebuild, progress=progress)
        self.warnings = tuple(pipeline.warnings)
        self._reload()
        return manifest

    def reshard(self, shards: int, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """Spread the documents over so many shards, as a new generation, while searches and updates go on."""
        manifest = self.pipeline.reshard(shards, progress=progress)
        self._reload()
        return manifest

    def other_shards(self, manifest: Manifest) -> str:
        """What to do where a setting asks for another number of shards than the index has; else empty."""
        wanted = self.settings.index.shards
        if "index.shards" not in self._loaded.origins or wanted == manifest.shards:
            return ""
        return f"index.shards is {wanted}, but the index has {manifest.shards}: periplus reshard {wanted} changes that"

    def rank(
        self,
        *,
        policy: str = "",
        given: Path | None = None,
        progress: Callable[[int, float], None] | None = None,
        hand_over: bool = True,
    ) -> RankSummary:
        """Compute PageRank over the links of all pages, and let the index use it unless ``hand_over`` is false.

        A ``policy`` is that of the source of a reference profile (``graph.policies``), which alone reads its ranks.
        ``given`` names a file of ranks that were computed elsewhere (Parquet or CSV of url and rank), taken in instead.
        """
        pipeline = self.pipeline
        if policy not in ("", "ours"):
            summary = pipeline.rank_by(policy, progress=progress)
        else:
            summary = pipeline.rank(given=given, progress=progress, hand_over=hand_over)
        self.warnings = tuple(pipeline.warnings)
        self._reload()
        return summary

    def remove(self, target: str, *, rebuild: bool = False, ban: bool = False) -> Removal:
        """Take an address, or a host with all its pages, out of everything, and keep it out.

        The index stops finding it at once; ``rebuild`` makes a new index, whose files hold nothing of it either.
        While another process indexes, that process takes it out with its next step. What was never here is
        ``NotFound``, unless ``ban`` asks to keep it out all the same.
        """
        from periplus.app.pages.side_panels import forget_thumbnails
        from periplus.crawl import is_removed, lift, remove
        from periplus.documents import BatchLog

        self._require_state()
        wanted = ban or is_removed(self.database, target)
        removal = remove(self.database, target, BatchLog(self.files, self.database, self.depot), self.folder)
        if removal.is_empty and not wanted:
            lift(self.database, target)
            raise NotFound(f"nothing is known of {removal.target}, so nothing was removed; --ban keeps it out for good")
        forget_thumbnails(self.folder)
        store = self.stores.index
        with suppress(StorageBusy):
            if store.manifest() is not None:
                self.index(rebuild=rebuild)
                if rebuild:
                    store.drop_replaced()
                return msgspec.structs.replace(removal, indexed=True)
        return removal

    def move(self, to: str, database: str = "", *, progress: Callable[[int, int, str], None] | None = None) -> Moved:
        """Move to an object store and a database that machines share, or to a folder; the collection is closed then."""
        from periplus.app.moving import move

        return move(self, to, database, progress)

    # Asking

    def search(self, query: str, k: int = 10, *, page: int = 1, profile: str = "", **options: Any) -> SearchAnswer:
        """The best ``k`` pages for ``query``; iterating the answer gives its results."""
        return self.engine.search(SearchRequest(query=query, size=k, page=page, profile=profile, **options))

    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        """What can be computed of ``query`` without looking into the index: ``2+2``, ``10 miles in km``."""
        return self._instant.answers(query, explain=explain)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        return self.engine.suggest(text, limit)

    def explain(self, query: str, url: str, *, profile: str = "", reader: str = "") -> Explanation:
        """Why ``url`` has the score it has for ``query``, or why it was not found."""
        return self.engine.explain(query, url, profile, reader)

    def inspect(self, url: str) -> Inspection:
        """Everything known about one address, with the reason for its state."""
        from periplus.app.pages.inspection import inspect_address

        self._require()
        return inspect_address(self, url)

    def status(self) -> CollectionStatus:
        from periplus.jobs import collection_status

        self._require()
        found = collection_status(self.folder, self.database, self.stores)
        return msgspec.structs.replace(found, notice=self.notice)

    def politeness(self, host: str = "") -> AuditReport:
        """Check every journalled request against the gaps and rules that were in force."""
        from periplus.crawl import audit

        self._require()
        return audit(self.database, host)

    def documents(self) -> Iterable[Document]:
        """Every stored row of every batch, oldest first."""
        from periplus.documents import BatchLog

        self._require()
        log = BatchLog(self.files, self.database, self.depot)
        for number in log.numbers():
            yield from log.documents(number)

    def command(self, name: str) -> None:
        """Steer a running crawl from any process: pause, resume or stop; ``WrongState`` when none would hear it."""
        from periplus.app.parts.commanding import command

        self._require()
        command(self, name)

    def _require(self) -> None:
        if not self.exists:
            raise CollectionMissing(
                f"no collection in {self.folder}; name another --dir, or make one: periplus up URL --dir {self.folder}"
            )

    def _require_state(self) -> None:
        """For whatever writes: the state must be that of the files."""
        self._require()
        if not self._is_settled:
            state.require_state(self.folder, self.database)
            self._is_settled = True

    @property
    def _has_state(self) -> bool:
        return self.exists and (bool(self.settings.storage.database) or (self.folder / state.STATE_FILE).exists())

    def _reload(self) -> None:
        if self._engine is not None:
            with suppress(StorageError):
                self._engine.reload()
