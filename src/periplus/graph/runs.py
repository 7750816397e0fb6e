"""What a batch says about the graph, in numbers: made once for each batch, kept, and merged with the others.

Batches never change but where damage emptied one, so neither do their runs; those of batches that were compacted are
removed. A refresh reads the texts of new batches only, by several processes when they are many; a folder of runs can be
deleted at any time and is made again. A run of a batch with d documents, l links and p distinct pages takes about
13 d + 9 l + 12 p bytes.
"""

from __future__ import annotations

import io
import secrets
import struct
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from xxhash import xxh3_64_intdigest

from periplus import addresses
from periplus.errors import NotFound
from periplus.storage import Stored, results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from periplus.storage import Depot, LocalFiles, Runner

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]
    Places = NDArray[np.uint32]

FORMAT: Final = 2  # before, runs had no seal; they are made again
FOLDER: Final = "runs"
SENT: Final = "ranks/sent"  # where runs and blocks are in the object store while they travel
_SEAL: Final = struct.Struct("<QQ")  # number of the batch, checksum of what follows
MANY: Final = 40  # missing runs for which it pays to start processes
AT_ONCE: Final = 8  # batches of one task

# States of a document, added up.
READ: Final = 1  # has or had content of its own; those that must not be found link all the same
LINKS: Final = 2  # its links count
ADDRESS: Final = 4  # imported documents may have none, and then no place in the graph

# A page with one of these states hands its rank on to the address it names.
_ALIASES = ("canonical-elsewhere", "redirected")
# A page with one of these has nothing to link with any more, whatever its row holds.
_WITHOUT_LINKS = ("gone", "removed", "redirected")
_READ = ("", "noindex", "duplicate", "wrong-language")


class LogTables(Protocol):
    """What is asked of ``documents.BatchLog`` in any process."""

    def first(self, number: int) -> int: ...

    def document_table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table: ...

    def links(self, number: int, columns: Sequence[str] | None = None) -> pa.Table: ...


class Batches(LogTables, Protocol):
    """What is asked of ``documents.BatchLog``."""

    def numbers(self, after: int = 0) -> list[int]: ...

    @property
    def reader(self) -> LogTables: ...


class Run(NamedTuple):
    """One batch: its documents and links in order, by places in the sorted ``pages``."""

    doc_keys: Integers  # of the addresses
    doc_pages: Places
    doc_states: NDArray[np.uint8]
    doc_named: Places  # one more than the place of the page that an alias names; 0 for none
    link_rows: Places  # of the document that has the link
    link_targets: Places
    link_followed: Booleans  # neither nofollow nor ugc nor sponsored
    pages: Integers  # sorted page keys of all that is mentioned
    page_hosts: Places  # place in ``host_keys``
    host_keys: Integers
    host_names: NDArray[np.uint8]  # UTF-8, parted by newlines

    def names(self) -> list[str]:
        return self.host_names.tobytes().decode().split("\n") if len(self.host_keys) else []


class Runs:
    """The runs of all batches, in order; kept in ``files`` when given."""

    def __init__(self, batches: Batches, files: LocalFiles | None = None) -> None:
        self._batches = batches
        self._files = files
        self.numbers = batches.numbers()

    def __iter__(self) -> Iterator[tuple[int, Run]]:
        for number in self.numbers:
            yield number, self.run(number)

    def run(self, number: int) -> Run:
        if self._files is None:
            return make_run(self._batches, number)
        try:
            kept = _decoded(self._files.read(self._name(number)), number)
        except (NotFound, ValueError):
            kept = None
        if kept is None or len(kept.link_rows) != self._batches.links(number, ()).num_rows:  # emptied after damage
            return _make_and_keep(self._batches, self._files, number)
        return kept

    def _name(self, number: int) -> str:
        return _name(number, self._batches.first(number))

    def forget_others(self) -> None:
        """Remove runs of batches that were compacted since, and of other formats."""
        if self._files is None:
            return
        wanted = {self._name(number) for number in self.numbers}
        for name in self._files.names(f"{FOLDER}/"):
            if name not in wanted:
                self._files.remove(name)

    def make_missing(self, runner: Runner, depot: Depot | None = None) -> None:
        """Makes the runs that are not kept yet, where that is quicker by several than one at a time.

        Those that are made on other machines come through ``depot``.
        """
        if self._files is None:
            return
        missing = [number for number in self.numbers if not self._files.exists(self._name(number))]
        if len(missing) < MANY or runner.workers < 2:
            return  # ``run`` makes them when they are asked for
        parts = [missing[start : start + AT_ONCE] for start in range(0, len(missing), AT_ONCE)]
        tasks = [RunsTask(self._batches.reader, self._files, part, depot) for part in parts]
        made: list[dict[str, Stored]] = results(runner.run(f"{__name__}:keep_runs", tasks))
        if depot is not None:
            for local, stored in (item for some in made for item in some.items()):
                depot.pull(stored, local)
                depot.objects.remove(stored.name)


class RunsTask(NamedTuple):
    """Some batches whose runs are to be made."""

    batches: LogTables
    files: LocalFiles
    numbers: list[int]
    depot: Depot | None = None  # takes the runs, where the files are another machine's


def keep_runs(task: RunsTask) -> dict[str, Stored]:
    """Makes the runs of some batches, wherever it is called; those that travel by the names that they have here."""
    sent: dict[str, Stored] = {}
    for number in task.numbers:
        _make_and_keep(task.batches, task.files, number)
        if task.depot is not None:
            path = task.files.path(_name(number, task.batches.first(number)))
            local = path.relative_to(task.depot.files.root).as_posix()
            sent[local] = task.depot.push(local, f"{SENT}/{secrets.token_hex(8)}")
            task.depot.drop(local)
    return sent


def _make_and_keep(batches: LogTables, files: LocalFiles, number: int) -> Run:
    run = make_run(batches, number)
    files.write(_name(number, batches.first(number)), _encoded(run, number))
    return run


def _name(number: int, first: int) -> str:
    """A batch that was compacted is another one than that which had its number before."""
    before = f"{first:08d}-" if first else ""
    return f"{FOLDER}/{FORMAT}-{before}{number:08d}.npz"


def make_run(batches: LogTables, number: int) -> Run:
    """Reads one batch."""
    documents = batches.document_table(number, ("key", "url", "refusal", "canonical"))
    links = batches.links(number, ("target", "rel", "row"))
    mentioned = _Mentioned()
    keys, urls, refusals, canonicals = (documents.column(n).to_pylist() for n in ("key", "url", "refusal", "canonical"))
    doc_pages = mentioned.numbers(urls)
    doc_named = mentioned.numbers(map(_named, refusals, canonicals))
    targets = texts(links.column("target"))
    link_targets = mentioned.numbers(targets.distinct)
    order, places = mentioned.sorted()
    states = [_state(url, refusal) for url, refusal in zip(urls, refusals, strict=True)]
    hosts, names = mentioned.hosts()
    return Run(
        np.array(keys, np.int64),
        places[doc_pages],
        np.array(states, np.uint8),
        np.where(doc_named < 0, 0, places[doc_named] + 1).astype(np.uint32),
        links.column("row").to_numpy().astype(np.uint32),
        places[link_targets][targets.places],
        _followed(links),
        mentioned.keys()[order],
        hosts[order],
        np.array([addresses.host_key(name) for name in names], np.int64),
        np.frombuffer("\n".join(names).encode(), np.uint8),
    )


class _Mentioned:
    """Pages in the order they are met, and the host of each."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._hosts: dict[str, int] = {}
        self._host_of: list[int] = []

    def numbers(self, urls: Iterable[str]) -> Integers:
        """Numbers of pages; -1 for an empty address."""
        return np.array([self._number(url) if url else -1 for url in urls], np.int64)

    def _number(self, url: str) -> int:
        known = len(self._host_of)
        number = self._numbers.setdefault(addresses.page_key(url), known)
        if number == known:
            host = addresses.host(url) if "://" in url else ""
            self._host_of.append(self._hosts.setdefault(host, len(self._hosts)))
        return number

    def keys(self) -> Integers:
        return np.fromiter(self._numbers, np.int64, len(self._numbers))

    def sorted(self) -> tuple[Integers, Places]:
        """The order of keys, and for each number its place in that order; one more for -1."""
        order = np.argsort(self.keys())
        places = np.zeros(len(order) + 1, np.uint32)
        places[order] = np.arange(len(order))
        return order, places

    def hosts(self) -> tuple[Places, list[str]]:
        return np.array(self._host_of, np.uint32), list(self._hosts)


class TextColumn(NamedTuple):
    """A column by its distinct texts: row ``r`` has ``distinct[places[r]]``."""

    distinct: list[str]
    places: Integers


def texts(column: pa.ChunkedArray) -> TextColumn:
    encoded = column.combine_chunks().dictionary_encode()
    return TextColumn(encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))


def _state(url: str, refusal: str) -> int:
    if "://" not in url:
        return 0
    return ADDRESS + (READ if refusal in _READ else 0) + (0 if refusal in _WITHOUT_LINKS else LINKS)


def _named(refusal: str, canonical: str) -> str:
    return (addresses.try_canonical(canonical) or "") if refusal in _ALIASES and canonical else ""


def _followed(table: pa.Table) -> Booleans:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(table.column("rel")), 0).to_numpy()
    return np.asarray(lengths == 0, np.bool_)


def _encoded(run: Run, number: int) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **run._asdict())
    data = buffer.getvalue()
    return _SEAL.pack(number, xxh3_64_intdigest(data)) + data


def _decoded(sealed: bytes, number: int) -> Run:
    """The run of a batch; ``ValueError`` when these are not the bytes that were kept of it."""
    data = sealed[_SEAL.size :]
    if sealed[: _SEAL.size] != _SEAL.pack(number, xxh3_64_intdigest(data)):
        raise ValueError(f"not the run of batch {number}")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return Run(*(arrays[name] for name in Run._fields))
