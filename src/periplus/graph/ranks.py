"""Published ranks: arrays of a generation in files, and the pointer that says which generation counts.

Invariants: a generation's files never change; the pointer names only generations that are whole on disk; a reader keeps
what it has opened, even when that generation is swept later.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from periplus.errors import Corrupt, Incompatible, NotFound, UsageError
from periplus.graph import prior as formula
from periplus.graph.anchors import AnchorTable, table_of
from periplus.graph.linkage import Linkage
from periplus.graph.measures import Measures
from periplus.graph.pagerank import Convergence
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.graph.measures import HostNote

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

FORMAT = 1
GENERATIONS_KEPT = 2
TOP_KEPT = 100  # names of the best pages and hosts, for people

_POINTER = "current.json"
_META = "meta.json"
_ARRAYS = ("page_keys", "page_ranks", "host_keys", "host_ranks")
_ANCHOR_ARRAYS = tuple(f"anchor_{name}" for name in AnchorTable._fields)


class TopRank(Struct, frozen=True):
    name: str
    rank: float


class RankMeta(Struct, frozen=True):
    """What is known of a generation besides its arrays."""

    generation: int
    created: float
    last_batch: int
    pages: int
    hosts: int
    links: int = 0
    host_links: int = 0
    page_history: tuple[Convergence, ...] = ()
    host_history: tuple[Convergence, ...] = ()
    top_pages: tuple[TopRank, ...] = ()
    top_hosts: tuple[TopRank, ...] = ()
    digests: dict[str, str] = {}
    format: int = FORMAT


class RankTable:
    """The ranks of one generation, looked up by keys; keys are sorted and arrays are memory-mapped."""

    def __init__(
        self,
        meta: RankMeta,
        page_keys: Keys,
        page_ranks: Floats,
        host_keys: Keys,
        host_ranks: Floats,
        anchors: AnchorTable,
        measures: Measures | None = None,
        linkage: Linkage | None = None,
    ) -> None:
        self.meta = meta
        self.page_keys = page_keys
        self.page_ranks = page_ranks
        self.host_keys = host_keys
        self.host_ranks = host_ranks
        self.measures = measures  # in the order of the keys; None for ranks of an earlier version
        self.linkage = linkage  # the same
        self.anchors = anchors  # called with a page key, gives its anchor phrases
        self._least_page = float(page_ranks.min()) if len(page_ranks) else 0.0
        self._least_host = float(host_ranks.min()) if len(host_ranks) else 0.0

    @property
    def generation(self) -> int:
        return self.meta.generation

    @property
    def pages(self) -> int:
        return self.meta.pages

    @property
    def hosts(self) -> int:
        return self.meta.hosts

    @property
    def last_batch(self) -> int:
        return self.meta.last_batch

    @property
    def created(self) -> float:
        return self.meta.created

    def page(self, keys: Keys) -> Floats:
        """Ranks of pages by ``addresses.page_key``; 0 for a page that the graph does not know."""
        return _looked_up(self.page_keys, self.page_ranks, keys)

    def host(self, keys: Keys) -> Floats:
        """Ranks of hosts by ``addresses.host_key``; 0 for an unknown one."""
        return _looked_up(self.host_keys, self.host_ranks, keys)

    def page_rank(self, key: int) -> float | None:
        return float(self.page(np.array([key], np.int64))[0]) or None

    def host_rank(self, key: int) -> float | None:
        return float(self.host(np.array([key], np.int64))[0]) or None

    def host_note(self, key: int) -> HostNote | None:
        """What is known of a host besides its rank; None for an unknown one, or ranks of an earlier version."""
        if self.measures is None or not len(self.host_keys):
            return None
        place = int(np.searchsorted(self.host_keys, key))
        if place == len(self.host_keys) or self.host_keys[place] != key:
            return None
        return self.measures.note(place)

    def page_sites(self, key: int) -> int:
        """How many sites besides its own link to a page, as far as it is known."""
        if self.measures is None:
            return 0
        return int(_looked_up(self.page_keys, self.measures.page_sites, np.array([key], np.int64))[0])

    def linking(self, key: int, limit: int = 100) -> Keys:
        """Keys of pages that link to one, the best first."""
        return self._best_of(key, limit, incoming=True)

    def linked(self, key: int, limit: int = 100) -> Keys:
        """Keys of pages that one links to, the best first."""
        return self._best_of(key, limit, incoming=False)

    def _best_of(self, key: int, limit: int, *, incoming: bool) -> Keys:
        place = int(np.searchsorted(self.page_keys, key))
        if self.linkage is None or place == len(self.page_keys) or self.page_keys[place] != key:
            return np.empty(0, np.int64)
        places = self.linkage.linking(place) if incoming else self.linkage.linked(place)
        best = places[np.argsort(-self.page_ranks[places], kind="stable")][:limit]
        return np.asarray(self.page_keys[best], np.int64)

    def prior(self, page_keys: Keys, host_keys: Keys) -> Floats:
        """From 0 to 1, see ``graph.prior``; takes the keys of the pages and of the hosts they are on."""
        return formula.prior(self.page(page_keys), self._least_page, self.host(host_keys), self._least_host)


class RankStore:
    """The folder ``ranks/`` of a collection."""

    def __init__(self, folder: Path | str) -> None:
        self._files = LocalFiles(folder)

    @property
    def files(self) -> LocalFiles:
        return self._files

    def publish(
        self,
        page_keys: Keys,
        page_ranks: Floats,
        host_keys: Keys,
        host_ranks: Floats,
        *,
        last_batch: int,
        links: int = 0,
        host_links: int = 0,
        page_history: tuple[Convergence, ...] = (),
        host_history: tuple[Convergence, ...] = (),
        top_pages: tuple[TopRank, ...] = (),
        top_hosts: tuple[TopRank, ...] = (),
        anchors: AnchorTable | None = None,
        measures: Measures | None = None,
        linkage: Linkage | None = None,
    ) -> RankTable:
        """Writes a generation, then points to it; older ones are swept."""
        generation = self._next_generation()
        ranks = (*_sorted(page_keys, page_ranks), *_sorted(host_keys, host_ranks))
        columns: dict[str, Any] = dict(
            zip((*_ARRAYS, *_ANCHOR_ARRAYS), (*ranks, *(anchors or table_of({}))), strict=True)
        )
        if measures is not None:
            columns |= measures.sorted(page_keys, host_keys)._asdict()
        if linkage is not None:
            if (page_keys[1:] <= page_keys[:-1]).any():  # differences of keys may not fit
                raise UsageError("links are published by places in sorted keys; sort the pages first")
            columns |= linkage._asdict()
        digests = {}
        for name, column in columns.items():
            data = _npy(column)
            self._files.write(f"{generation}/{name}.npy", data, new=True)
            digests[name] = xxh3_64_hexdigest(data)
        meta = RankMeta(
            generation,
            time.time(),
            last_batch,
            len(page_keys),
            len(host_keys),
            links,
            host_links,
            page_history,
            host_history,
            top_pages[:TOP_KEPT],
            top_hosts[:TOP_KEPT],
            digests,
        )
        self._files.write(f"{generation}/{_META}", msgspec.json.encode(meta), new=True)
        self._files.write(_POINTER, msgspec.json.encode({"generation": generation, "format": FORMAT}))
        self._sweep(generation)
        return self._open(generation)

    def current(self) -> RankTable | None:
        """The ranks that count, or None when none were published yet."""
        generation = self._current_generation()
        if not generation:
            return None
        try:
            return self._open(generation)
        except Corrupt:
            newer = self._current_generation()
            if newer == generation:
                raise
            return self._open(newer)  # it was swept while we looked at it

    def verify(self) -> None:
        """Raises ``Corrupt`` when a file of the current generation is not what was written."""
        table = self.current()
        if table is None:
            return
        for name, digest in table.meta.digests.items():
            file = f"{table.generation}/{name}.npy"
            if xxh3_64_hexdigest(self._files.read(file)) != digest:
                raise Corrupt(f"{self._files.path(file)} is damaged; run periplus rank again")

    def _current_generation(self) -> int:
        if not self._files.exists(_POINTER):
            return 0
        try:
            pointer = msgspec.json.decode(self._files.read(_POINTER), type=dict[str, int])
            generation, form = pointer["generation"], pointer["format"]
        except (msgspec.MsgspecError, KeyError) as error:
            raise Corrupt(f"{self._files.path(_POINTER)} is damaged; run periplus rank again") from error
        if form != FORMAT:
            raise Incompatible(f"ranks have format {form}, this version reads {FORMAT}; run periplus rank again")
        return generation

    def _next_generation(self) -> int:
        used = [int(part) for part in (name.partition("/")[0] for name in self._files.names()) if part.isdigit()]
        return max([*used, 0]) + 1

    def _open(self, generation: int) -> RankTable:
        try:
            meta = msgspec.json.decode(self._files.read(f"{generation}/{_META}"), type=RankMeta)
            columns = [self._column(generation, name) for name in _ARRAYS]
            anchors = AnchorTable(*(self._column(generation, name) for name in _ANCHOR_ARRAYS))
        except (NotFound, msgspec.MsgspecError, ValueError, OSError) as error:
            raise Corrupt(f"generation {generation} of the ranks is not whole; run periplus rank again") from error
        if [len(column) for column in columns] != [meta.pages, meta.pages, meta.hosts, meta.hosts]:
            raise Corrupt(f"generation {generation} of the ranks has arrays of wrong length; run periplus rank again")
        pages, page_ranks, hosts, host_ranks = columns
        further = (self._further(meta, Measures), self._further(meta, Linkage))
        return RankTable(meta, pages, page_ranks, hosts, host_ranks, anchors, *further)

    def _further(self, meta: RankMeta, kind: type[Any]) -> Any:
        """Further columns; generations of earlier versions have none."""
        if not set(kind._fields) <= set(meta.digests):
            return None
        try:
            return kind(*(self._column(meta.generation, name) for name in kind._fields))
        except (ValueError, OSError) as error:
            raise Corrupt(f"generation {meta.generation} of the ranks is not whole; run periplus rank again") from error

    def _column(self, generation: int, name: str) -> Any:
        return np.load(self._files.path(f"{generation}/{name}.npy"), mmap_mode="r", allow_pickle=False)

    def _sweep(self, current: int) -> None:
        for name in self._files.names():
            part = name.partition("/")[0]
            if part.isdigit() and int(part) <= current - GENERATIONS_KEPT:
                self._files.remove(name)
                folder = self._files.path(name).parent
                if not any(folder.iterdir()):
                    folder.rmdir()


def _looked_up(known: Keys, ranks: Any, keys: Keys) -> Floats:
    if not len(known):
        return np.zeros(len(keys))
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, ranks[places], 0.0)


def _sorted(keys: Keys, ranks: Floats) -> tuple[Keys, Floats]:
    if len(keys) != len(ranks):
        raise UsageError(f"{len(keys)} keys with {len(ranks)} ranks cannot be published")
    order = np.argsort(keys, kind="stable")
    return keys[order].astype(np.int64), ranks[order].astype(np.float64)


def _npy(column: NDArray[np.generic]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, column, allow_pickle=False)
    return buffer.getvalue()
