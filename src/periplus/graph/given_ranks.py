"""Ranks that were computed elsewhere, read from a file and fitted to the pages of the graph.

The file is Parquet or CSV, or a folder of such parts as Spark writes them. It has a column ``rank`` and one that says
which page is meant: ``url``, ``page_key`` (as ``export ranks`` writes it), or ``key`` (of the stored documents).

    rank of a page = (sum of its rows, or the least rank given where it has none or zero) / sum over all pages

Rows that mean one page are added up: http and https, and addresses that name another one as canonical. Rows of pages
that the graph does not know are counted and passed over. Anything that is no number of at least 0 refuses the file.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from periplus import addresses
from periplus.errors import NotFound, UnfitFile, UsageError
from periplus.graph.links import look_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from periplus.graph.link_graph import LinkGraph
    from periplus.graph.runs import Runs

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

RANK: Final = "rank"
NAMES: Final = ("url", "page_key", "key")  # of the column that says which page; the first that is there counts
FORMATS: Final = (".parquet", ".csv")
NAMED: Final = 5  # unknown pages that are told by name


class RankOrigin(Struct, frozen=True):
    """Where ranks came from that were not computed here."""

    file: str
    rows: int
    unknown: int  # rows of pages that the graph does not know
    missing: int  # pages of the graph that no row gave a rank
    samples: tuple[str, ...] = ()  # some of the unknown pages, as the file names them


class RankFile:
    """A file of ranks; that it is there and has the columns is checked at once, what is in them by ``fit``."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._parts = _parts(self._path)
        names = _columns(self._parts[0])
        found = [name for name in NAMES if name in names]
        if RANK not in names or not found:
            wanted = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
            raise UnfitFile(f"{self._path.name} has the columns {', '.join(names)}; it needs {RANK}, and {wanted}")
        self._name = found[0]

    def fit(self, graph: LinkGraph, runs: Runs) -> tuple[Floats, RankOrigin]:
        """The ranks of all pages of the graph, which sum to 1, and what was found in the file."""
        if not len(graph.page_keys):
            raise UsageError("the collection has no pages yet that could be ranked; crawl or import first")
        pages = _PageFinder(graph, runs if self._name == "key" else None)
        sums, given = np.zeros(len(graph.page_keys)), np.zeros(len(graph.page_keys), np.bool_)
        rows, unknown, samples = 0, 0, list[str]()
        for column, ranks in self._tables():
            _check(ranks, self._path.name, rows)
            places, known = pages.find(column)
            np.add.at(sums, places[known], ranks[known])
            given[places[known]] = True
            rows += len(ranks)
            unknown += int(np.count_nonzero(~known))
            samples += [str(column[place].as_py()) for place in np.flatnonzero(~known)[: NAMED - len(samples)].tolist()]
        if not sums.any():
            reason = "gives no page a rank above 0" if given.any() else "names no page of this collection"
            raise UnfitFile(f"{self._path.name} {reason}; is it of another collection?")
        ranks = np.where(sums > 0, sums, sums[sums > 0].min())
        missing = int(np.count_nonzero(~given))
        return ranks / ranks.sum(), RankOrigin(self._path.name, rows, unknown, missing, tuple(samples))

    def _tables(self) -> Iterator[tuple[pa.Array, Floats]]:
        """Some rows at a time: which pages, and their ranks; where a rank is missing it is not a number."""
        for part in self._parts:
            with _readable(part):
                for name, rank in _batches(part, self._name):
                    yield name, np.asarray(rank.to_numpy(zero_copy_only=False), np.float64)


class _PageFinder:
    """Places of pages in the graph, by what a file calls them."""

    def __init__(self, graph: LinkGraph, runs: Runs | None) -> None:
        """``runs`` tell the pages of documents, for a file that has the keys of these."""
        self._keys = graph.page_keys
        self._aliases = graph.newest.aliases
        self._documents = None if runs is None else _pages_of_documents(runs)

    def find(self, names: pa.Array) -> tuple[Integers, Booleans]:
        keys, known = self._page_keys(names)
        resolved, _ = self._aliases.resolve(keys, np.zeros(len(keys), np.int64))
        places, found = look_up(self._keys, resolved)
        return places, found & known

    def _page_keys(self, names: pa.Array) -> tuple[Integers, Booleans]:
        if names.null_count:
            names = names.fill_null("" if _is_text(names) else 0)
        if _is_text(names):
            urls = [addresses.try_canonical(text) or text for text in names.to_pylist()]
            return np.array(addresses.page_keys(urls), np.int64), np.ones(len(urls), np.bool_)
        keys = np.asarray(names.to_numpy(zero_copy_only=False), np.int64)
        if self._documents is None:
            return keys, np.ones(len(keys), np.bool_)
        documents, pages = self._documents
        places, known = look_up(documents, keys)
        return pages[places], known


def _pages_of_documents(runs: Runs) -> tuple[Integers, Integers]:
    """The keys of all documents, sorted, and those of their pages."""
    parts = [(run.doc_keys, run.pages[run.doc_pages]) for _, run in runs if len(run.doc_keys)]
    documents, pages = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    keys, first = np.unique(documents, return_index=True)
    return keys, pages[first]


def _parts(path: Path) -> list[Path]:
    """The file itself, or the files of a folder."""
    if not path.is_dir():
        if path.suffix not in FORMATS:
            raise UsageError(f"{path.name} ends neither with .parquet nor with .csv; write the ranks as one of these")
        if not path.exists():
            raise NotFound(f"there is no file {path}; give that of the ranks")
        return [path]
    found = sorted(part for part in path.iterdir() if part.suffix in FORMATS and part.name[0] not in "._")
    if not found:
        raise NotFound(f"{path} holds no .parquet or .csv files; give the file of the ranks, or a folder of its parts")
    return found


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What the reader cannot make sense of is told in one line."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise UnfitFile(f"{path.name} cannot be read as ranks: {reason}") from error


def _columns(path: Path) -> list[str]:
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    with _readable(path):
        if path.suffix == ".csv":
            with pa_csv.open_csv(path) as reader:
                return list(reader.schema.names)
        return list(pq.read_schema(path).names)


def _batches(path: Path, name: str) -> Iterator[tuple[pa.Array, pa.Array]]:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    types = {name: pa.string() if name == NAMES[0] else pa.int64(), RANK: pa.float64()}
    if path.suffix == ".csv":
        options = pa_csv.ConvertOptions(include_columns=[name, RANK], column_types=types)
        with pa_csv.open_csv(path, convert_options=options) as reader:
            for batch in reader:
                yield batch.column(name), batch.column(RANK)
        return
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=[name, RANK]):
            yield batch.column(name).cast(types[name]), batch.column(RANK).cast(types[RANK])


def _is_text(names: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(names.type))


def _check(ranks: Floats, file: str, rows: int) -> None:
    """``rows`` came before these."""
    wrong = np.flatnonzero(~(np.isfinite(ranks) & (ranks >= 0)))
    if len(wrong):
        first = int(wrong[0])
        value = "missing or not a number" if np.isnan(ranks[first]) else f"{ranks[first]:g}"
        raise UnfitFile(f"{file}: the rank of row {rows + first + 1} is {value}; give numbers of at least 0")
