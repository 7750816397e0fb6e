"""Published ranks: arrays of a generation in files, and the pointer that says which generation counts.

The pointer holds the checksum of the generation's table, and the table those of its columns; all are compared when a
generation is opened, so that whatever is looked up is what was published.

Invariants: a generation's files never change; the pointer names only generations that are whole on disk; a reader keeps
what it has opened, even when that generation is swept later.
"""

from __future__ import annotations

import io
import mmap
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from periplus.errors import Corrupt, Incompatible, NotFound, UsageError
from periplus.graph import prior as formula
from periplus.graph.anchors import AnchorTable, table_of
from periplus.graph.backlinks import Backlinks
from periplus.graph.citations import Citations
from periplus.graph.given_ranks import RankOrigin
from periplus.graph.link_texts import LinkTexts
from periplus.graph.measures import Measures
from periplus.graph.pagerank import Convergence
from periplus.graph.site_links import SiteLinks
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.graph.measures import HostNote
    from periplus.storage import Catalog

    Keys = NDArray[np.int64]
    Floats = NDArray[np.float64]

T = TypeVar("T")

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
    origin: RankOrigin | None = None  # of ranks of pages that were computed elsewhere


class VertexRanks(NamedTuple):
    """Ranks of pages, or of hosts, as they are published."""

    keys: Keys
    ranks: Floats
    links: int = 0
    history: tuple[Convergence, ...] = ()
    top: tuple[TopRank, ...] = ()  # the best by name


NO_VERTICES = VertexRanks(np.empty(0, np.int64), np.empty(0))


class LinkFacts(NamedTuple):
    """What else a graph tells of its pages; published beside their ranks."""

    anchors: AnchorTable | None = None
    measures: Measures | None = None
    backlinks: Backlinks | None = None
    site_links: SiteLinks | None = None
    link_texts: LinkTexts | None = None
    citations: Citations | None = None

    def columns(self, pages: Keys, hosts: Keys) -> dict[str, Any]:
        """Arrays by name; measures are brought into the order of sorted keys."""
        columns: dict[str, Any] = dict(zip(_ANCHOR_ARRAYS, self.anchors or table_of({}), strict=True))
        if self.measures is not None:
            columns |= self.measures.sorted(pages, hosts)._asdict()
        for further in (self.backlinks, self.site_links, self.link_texts, self.citations):
            columns |= further._asdict() if further is not None else {}
        return columns


NO_FACTS = LinkFacts()


class Pointer(Struct, frozen=True, forbid_unknown_fields=True):
    """Which generation counts."""

    generation: int
    format: int
    table: int = 0  # checksum of its table; 0 for ranks of an earlier version


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
        backlinks: Backlinks | None = None,
        site_links: SiteLinks | None = None,
        link_texts: LinkTexts | None = None,
        citations: Citations | None = None,
    ) -> None:
        self.meta = meta
        self.page_keys = page_keys
        self.page_ranks = page_ranks
        self.host_keys = host_keys
        self.host_ranks = host_ranks
        self.measures = measures  # in the order of the keys; None for ranks of an earlier version
        self.backlinks = backlinks  # as pages wrote them; None the same
        self.site_links = site_links
        self.link_texts = link_texts
        self.citations = citations
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

    def prior(self, page_keys: Keys, host_keys: Keys) -> Floats:
        """From 0 to 1, see ``graph.prior``; takes the keys of the pages and of the hosts they are on."""
        linked = formula.prior(self.page(page_keys), self._least_page, self.host(host_keys), self._least_host)
        return linked if self.citations is None else formula.with_citations(linked, self.citations.of(page_keys))


class RankStore:
    """The folder ``ranks/`` of a collection."""

    def __init__(self, folder: Path | str, catalog: Catalog | None = None) -> None:
        """With a ``catalog``, generations are those of all machines, and ``folder`` is this machine's copy."""
        self._files = LocalFiles(folder)
        self._catalog = catalog
        self._swept = 0  # the generation after which this machine's copies were swept last

    @property
    def files(self) -> LocalFiles:
        return self._files

    def publish(
        self,
        pages: VertexRanks,
        hosts: VertexRanks,
        *,
        last_batch: int,
        facts: LinkFacts = NO_FACTS,
        origin: RankOrigin | None = None,
    ) -> RankTable:
        """Writes a generation, then points to it; older ones are swept."""
        generation = self._next_generation()
        ranks = (*_sorted(pages.keys, pages.ranks), *_sorted(hosts.keys, hosts.ranks))
        columns = dict(zip(_ARRAYS, ranks, strict=True)) | facts.columns(pages.keys, hosts.keys)
        meta = RankMeta(
            generation,
            time.time(),
            last_batch,
            len(pages.keys),
            len(hosts.keys),
            pages.links,
            hosts.links,
            pages.history,
            hosts.history,
            pages.top[:TOP_KEPT],
            hosts.top[:TOP_KEPT],
            self._written(generation, columns),
            origin=origin,
        )
        table = msgspec.json.encode(meta)
        pointer = Pointer(generation, FORMAT, xxh3_64_intdigest(table))
        self._files.write(f"{generation}/{_META}", table, new=True)
        if self._catalog is not None:
            _share(self._catalog, pointer, [_META, *(f"{name}.npy" for name in columns)])
        self._files.write(_POINTER, msgspec.json.encode(pointer))
        self._sweep(generation)
        return self._open(pointer)

    def _written(self, generation: int, columns: dict[str, Any]) -> dict[str, str]:
        """Digests of columns, each written into a file of the generation."""
        digests = {}
        for name, column in columns.items():
            data = _npy(column)
            self._files.write(f"{generation}/{name}.npy", data, new=True)
            digests[name] = xxh3_64_hexdigest(data)
        return digests

    def current(self) -> RankTable | None:
        """The ranks that count, or None when none were published yet."""
        return self._newest_of(self._open)

    def bare(self) -> RankTable | None:
        """The ranks that count without anchor texts, measures and links: all that the server of a shard needs."""
        return self._newest_of(self._open_bare)

    def whole(self) -> RankTable | None:
        """The ranks that count, or None where there are none or they are damaged: for whoever can do without."""
        try:
            return self.current()
        except (Corrupt, Incompatible):
            return None

    def meta(self) -> RankMeta | None:
        """What is known of the ranks that count besides their columns, which are not opened."""
        return self._newest_of(self._meta)

    def verify(self) -> None:
        """Raises ``Corrupt`` when a file of the current generation is not what was written, or another one counts."""
        meta, newest = self.meta(), max(self._used(), default=0)
        self.current()
        if self._catalog is None and meta is not None and meta.generation < newest:
            path = self._files.path(_POINTER)
            raise Corrupt(f"{path} names generation {meta.generation}, but {newest} is there; run periplus rank again")

    def _newest_of(self, read: Callable[[Pointer], T]) -> T | None:
        pointer = self._pointer()
        if pointer is None:
            return None
        try:
            return read(pointer)
        except (Corrupt, NotFound):
            newer = self._pointer()
            if newer is None or newer == pointer:
                raise
            return read(newer)  # it was swept while we looked at it

    def _pointer(self) -> Pointer | None:
        path = self._files.path(_POINTER)
        if self._catalog is not None:
            entry = self._catalog.current()
            return _decoded_pointer(path, entry.manifest) if entry else None
        if not path.exists():
            if any(self._files.exists(f"{generation}/{_META}") for generation in self._used()):
                raise Corrupt(f"{path} is missing, but ranks were published; run periplus rank again")
            return None
        return _decoded_pointer(path, self._files.read(_POINTER))

    def _fetch(self, pointer: Pointer, names: Collection[str] = ()) -> None:
        """Have these columns of a generation here, with its table; where machines share it, they may be elsewhere."""
        if self._catalog is None:
            return
        entry = self._catalog.current()
        if entry is None or entry.number != pointer.generation:
            raise NotFound(f"ranks {pointer.generation} were replaced; look again")
        wanted = {_META, *(f"{name}.npy" for name in names)}
        self._catalog.pull(entry, lambda name: name.rpartition("/")[2] in wanted)
        if names and self._swept < pointer.generation:
            self._swept = pointer.generation
            self._sweep(pointer.generation)
            self._catalog.forget_swept()

    def _name_here(self, pointer: Pointer) -> None:
        """Let other processes of this machine open a generation that is whole here."""
        data = msgspec.json.encode(pointer)
        if self._catalog is not None and not (self._files.exists(_POINTER) and self._files.read(_POINTER) == data):
            self._files.write(_POINTER, data)

    def _next_generation(self) -> int:
        shared = self._catalog.newest() if self._catalog is not None else 0
        return max(shared, *self._used(), 0) + 1

    def _used(self) -> set[int]:
        """Generations of which there are files."""
        root = self._files.root
        return {int(path.name) for path in root.iterdir() if path.name.isdigit()} if root.is_dir() else set()

    def _meta(self, pointer: Pointer) -> RankMeta:
        self._fetch(pointer)
        name = f"{pointer.generation}/{_META}"
        path = self._files.path(name)
        try:
            data = self._files.read(name)
            meta = msgspec.json.decode(data, type=RankMeta)
        except (NotFound, msgspec.MsgspecError, ValueError) as error:
            raise Corrupt(f"{path} is damaged ({error}); run periplus rank again") from error
        if pointer.table not in (0, xxh3_64_intdigest(data)) or meta.generation != pointer.generation:
            raise Corrupt(f"{path} is not the table that was published; run periplus rank again")
        return meta

    def _open(self, pointer: Pointer) -> RankTable:
        meta = self._meta(pointer)
        self._fetch(pointer, meta.digests)
        self._name_here(pointer)
        anchors = AnchorTable(*(self._column(meta, name) for name in _ANCHOR_ARRAYS))
        further = [self._further(meta, kind) for kind in (Measures, Backlinks, SiteLinks, LinkTexts, Citations)]
        return RankTable(meta, *self._columns(meta), anchors, *further)

    def _open_bare(self, pointer: Pointer) -> RankTable:
        meta = self._meta(pointer)
        self._fetch(pointer, _ARRAYS)
        return RankTable(meta, *self._columns(meta), table_of({}))

    def _columns(self, meta: RankMeta) -> tuple[Keys, Floats, Keys, Floats]:
        pages, page_ranks, hosts, host_ranks = (self._column(meta, name) for name in _ARRAYS)
        if [len(one) for one in (pages, page_ranks, hosts, host_ranks)] != [meta.pages] * 2 + [meta.hosts] * 2:
            raise Corrupt(f"generation {meta.generation} of the ranks has columns of wrong length; run periplus rank")
        return pages, page_ranks, hosts, host_ranks

    def _further(self, meta: RankMeta, kind: type[Any]) -> Any:
        """Further columns; generations of earlier versions have none."""
        if not set(kind._fields) <= set(meta.digests):
            return None
        return kind(*(self._column(meta, name) for name in kind._fields))

    def _column(self, meta: RankMeta, name: str) -> Any:
        """A column, mapped; its bytes are compared with their checksum before they are looked at."""
        path = self._files.path(f"{meta.generation}/{name}.npy")
        try:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                is_whole = xxh3_64_hexdigest(data) == meta.digests.get(name)
            if is_whole:
                return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise Corrupt(f"{path} is damaged ({error}); run periplus rank again") from error
        raise Corrupt(f"{path} does not match its checksum; run periplus rank again")

    def _sweep(self, current: int) -> None:
        for name in self._files.names():
            part = name.partition("/")[0]
            if part.isdigit() and int(part) <= current - GENERATIONS_KEPT:
                self._files.remove(name)
                folder = self._files.path(name).parent
                if not any(folder.iterdir()):
                    folder.rmdir()


def _share(catalog: Catalog, pointer: Pointer, names: list[str]) -> None:
    """Let all machines have a generation that is whole in this machine's folder."""
    with catalog.writing():
        catalog.sweep_leftovers()
        generation = pointer.generation
        catalog.publish(generation, msgspec.json.encode(pointer), [f"{generation}/{name}" for name in names])
        catalog.sweep()


def _decoded_pointer(path: Path, data: bytes) -> Pointer:
    try:
        pointer = msgspec.json.decode(data, type=Pointer)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Corrupt(f"{path} is damaged ({error}); run periplus rank again") from error
    if pointer.format != FORMAT:
        raise Incompatible(f"{path} has format {pointer.format}, this version reads {FORMAT}; run periplus rank")
    return pointer


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
