"""Where generations come from: the files of the collection, for a shard server and for a broker.

A broker goes over to a new generation when every shard has a server that is ready with it. When that takes too long, it
goes over without the shards that are missing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from periplus.cluster.asking import RemoteShards
from periplus.errors import Corrupt, NotFound, NotReady
from periplus.search import NO_INDEX, Broker, FileSummary, Opened, Ranks, Shard, SnapshotSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.cluster.servers import Servers
    from periplus.graph import Stores
    from periplus.index import Manifest
    from periplus.search import CollectionSummary

PATIENCE = 60.0  # seconds that a broker waits for all shards of a new generation


class FolderShards:
    """Shards of a collection, for a shard server."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def newest(self) -> int:
        return self._stores.index.newest()

    def count(self) -> int:
        manifest = self._stores.index.manifest()
        return manifest.shards if manifest else 0

    def open(self, number: int) -> Shard:
        return Shard(self._stores.index.open(partial=True, shard=number), Ranks.open(self._stores.ranks, bare=True))


class ServedGenerations:
    """Generations of a collection whose documents are on shard servers, for a broker."""

    keeps_before = True

    def __init__(
        self,
        stores: Stores,
        servers: Servers,
        token: str = "",
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        *,
        shares_cores: bool = False,
    ) -> None:
        """``shares_cores`` where the servers run on this machine, too."""
        self.servers = servers
        self.shares_cores = shares_cores
        self._store, self._ranks = stores.index, stores.ranks
        self._token = token
        self._patience, self._clock = patience, clock
        self._opened = 0  # the generation that was opened last
        self._seen: tuple[int, float] = (0, 0.0)  # the newest one that is published, and since when

    def newest(self) -> int:
        """The published generation once its shards are ready; until then the one that is open."""
        newest = self._store.newest()
        manifest = self._store.manifest() if newest != self._opened else None
        if manifest is None:
            return self._opened
        return manifest.generation if self._is_ready(manifest) else self._opened

    def open(self) -> Opened:
        try:
            return self._open()
        except Corrupt:
            raise
        except NotFound as error:  # it was swept while its files were pulled: there is a newer one
            raise NotReady(str(error)) from error

    def why_none(self) -> str:
        manifest = self._store.manifest()
        return NO_INDEX if manifest is None else _not_ready(manifest.generation)

    def _open(self) -> Opened:
        manifest, summary = self._whole()
        number, documents = manifest.generation, documents_of(manifest)
        if not self._is_ready(manifest):  # another one was published meanwhile
            summary.close()
            raise NotReady(_not_ready(number))
        shards = RemoteShards(self.servers, number, documents, self._token, before=self._opened)
        self._opened = number
        return Opened(summary, Broker(shards), Ranks.open(self._ranks))

    def _whole(self) -> tuple[Manifest, CollectionSummary]:
        """What is known of the whole collection: by the files of the generation, so that no document is opened here."""
        published = self._store.manifest()
        if published is not None and published.shards > 1:
            files = self._store.open_files()
            return files.manifest, FileSummary(files)
        snapshot = self._store.open(partial=True)  # the files of one shard are the whole
        return snapshot.manifest, SnapshotSummary(snapshot)

    def report(self) -> dict[str, Any]:
        """Servers and how they fare, for the operator."""
        manifest = self._store.manifest()
        return {
            "generation": self._opened,
            "documents": documents_of(manifest) if manifest else [],
            "servers": [server.report() for server in self.servers.all],
        }

    def _is_ready(self, manifest: Manifest) -> bool:
        """Every shard has a server with it; or some have, and the others had their time."""
        generation = manifest.generation
        ready = [bool(self.servers.serving(shard, generation)) for shard in range(manifest.shards)]
        if all(ready):
            return True
        if self._seen[0] != generation:
            self._seen = (generation, self._clock())
        return any(ready) and self._clock() - self._seen[1] >= self._patience


def _not_ready(generation: int) -> str:
    return f"generation {generation} is not ready on all shards yet; see that periplus shard runs for each of them"


def documents_of(manifest: Manifest) -> list[int]:
    """How many each shard has."""
    return [manifest.of_shard(shard).documents for shard in range(manifest.shards)]
