"""One picture of a collection: how far its crawl, index and ranks have come."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from periplus import crawl
from periplus.crawl import SlotStatus, WorkerStatus
from periplus.errors import Corrupt, Incompatible
from periplus.records import CrawlStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.graph import Stores
    from periplus.storage import Database


T = TypeVar("T")


class IndexStatus(Struct, frozen=True):
    generation: int
    documents: int
    segments: int
    last_batch: int
    created: float
    shards: tuple[int, ...] = ()  # documents of each


class RankStatus(Struct, frozen=True):
    generation: int
    pages: int
    hosts: int
    last_batch: int
    created: float
    origin: str = ""  # the file of ranks that were computed elsewhere


class CollectionStatus(Struct, frozen=True):
    collection: str
    crawl: CrawlStatus
    index: IndexStatus | None
    ranks: RankStatus | None
    batches: int
    links: int  # rows in the link batches, all versions
    pages: int  # addresses with a stored response
    disk: int
    last_write: float  # of the crawl's last commit, or of the last batch
    workers: tuple[WorkerStatus, ...] = ()  # of the crawl under way, or of the last one
    slots: tuple[SlotStatus, ...] = ()
    backlog: int = 0  # pages whose documents the next index makes
    examples: tuple[str, ...] = ()  # queries to show on the landing page
    notice: str = ""  # that the state is lost, and what to do
    damage: tuple[str, ...] = ()  # files that are not what was written, as far as a glance shows


def collection_status(folder: Path, database: Database, stores: Stores) -> CollectionStatus:
    """Raises ``Corrupt`` where the state holds what nobody wrote: SQLite has no checksums, and reads damaged pages."""
    try:
        return _collected(folder, database, stores)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        advice = "periplus doctor --repair builds it again from the stored files, or restore it from a backup"
        raise Corrupt(f"{database.name} holds values that nobody wrote ({error}); {advice}") from error


def _collected(folder: Path, database: Database, stores: Stores) -> CollectionStatus:
    with database.read() as tx:
        batches, links, last = tx.row("SELECT COUNT(*), SUM(links), MAX(created) FROM batches") or (0, 0, 0.0)
        committed = tx.value("SELECT MAX(at) FROM (SELECT at FROM workers UNION ALL SELECT at FROM crawls) AS writers")
        examples = tx.value("SELECT value FROM meta WHERE key = ?", ("examples",))
    damage: list[str] = []
    return CollectionStatus(
        collection=str(folder),
        crawl=crawl.status(database),
        index=_if_whole(index_status, stores, damage),
        ranks=_if_whole(rank_status, stores, damage),
        batches=int(batches),
        links=int(links or 0),
        pages=crawl.stored_pages(database),
        disk=disk_use(folder),
        last_write=max(float(last or 0.0), float(committed or 0.0)),
        workers=tuple(crawl.workers(database)),
        slots=tuple(crawl.slots(database)),
        backlog=crawl.backlog_size(database),
        examples=msgspec.json.decode(examples, type=tuple[str, ...]) if examples else (),
        damage=tuple(damage),
    )


def _if_whole(read: Callable[[Stores], T | None], stores: Stores, damage: list[str]) -> T | None:
    """What can be read; what is damaged is named instead."""
    try:
        return read(stores)
    except (Corrupt, Incompatible) as error:
        damage.append(str(error))
        return None


def index_status(stores: Stores) -> IndexStatus | None:
    manifest = stores.index.manifest()
    if manifest is None:
        return None
    shards = tuple(manifest.of_shard(shard).documents for shard in range(manifest.shards))
    return IndexStatus(
        manifest.generation, manifest.documents, len(manifest.segments), manifest.last_batch, manifest.created, shards
    )


def rank_status(stores: Stores) -> RankStatus | None:
    meta = stores.ranks.meta()
    if meta is None:
        return None
    origin = meta.origin.file if meta.origin else ""
    return RankStatus(meta.generation, meta.pages, meta.hosts, meta.last_batch, meta.created, origin)


def disk_use(folder: Path) -> int:
    """Bytes of all files below ``folder``; a file or folder that vanishes while we look does not count."""
    total = 0
    for place, _, names in os.walk(folder):  # which passes over a folder that is gone
        for name in names:
            with suppress(OSError):
                total += Path(place, name).stat().st_size
    return total
