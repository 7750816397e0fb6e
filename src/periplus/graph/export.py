"""The graph for other programs: links, ranks, hosts and documents as Arrow tables, written as Parquet or CSV.

Tables come batch by batch, so memory holds one batch. A file is complete or absent: it is written beside its name and
moved there at the end.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from periplus import addresses
from periplus.errors import StorageError, UsageError
from periplus.graph.hosts import REASONS
from periplus.graph.links import newest_pages
from periplus.graph.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from periplus.graph.links import NewestPages
    from periplus.graph.ranks import RankTable
    from periplus.graph.runs import Batches

Format = Literal["parquet", "csv"]


class GraphTables:
    """Links and ranks of the log, batch by batch: of every page the newest version."""

    def __init__(self, batches: Batches) -> None:
        self._batches, self._runs = batches, Runs(batches)

    @cached_property
    def _newest(self) -> NewestPages:
        return newest_pages(self._runs)

    def links(self, number: int) -> pa.Table:
        """Source, target, text, rel and place."""
        import pyarrow as pa

        table = self._batches.links(number, ("row", "source", "target", "text", "rel", "place"))
        kept = self._newest.counted[number][table.column("row").to_numpy()]
        table = table.drop_columns(["row"]).filter(kept)
        return table.set_column(table.column_names.index("rel"), "rel", _joined(table.column("rel"))).cast(
            pa.schema([(name, pa.string()) for name in ("source", "target", "text", "rel", "place")])
        )

    def ranks(self, number: int, ranks: RankTable) -> pa.Table:
        """Pages that were read: url, page_key, rank, classic rank (mean 1), linking sites, host, host_rank, prior."""
        rows = self._newest.rows[self._newest.batches == number]
        urls = self._batches.document_table(number, ("url",)).column("url").take(rows).to_pylist()
        return _rank_table(urls, ranks)


def link_tables(batches: Batches) -> Iterator[pa.Table]:
    """Links of the newest version of every page: source, target, text, rel, place."""
    tables = GraphTables(batches)
    return (tables.links(number) for number in batches.numbers())


def rank_tables(batches: Batches, ranks: RankTable) -> Iterator[pa.Table]:
    """Pages that were read, as ``GraphTables.ranks`` has them."""
    tables = GraphTables(batches)
    return (tables.ranks(number, ranks) for number in batches.numbers())


def host_tables(ranks: RankTable) -> Iterator[pa.Table]:
    """All hosts: host, host_key, rank, and the other measures."""
    import pyarrow as pa

    columns: dict[str, Any] = {"host_key": np.asarray(ranks.host_keys), "rank": np.asarray(ranks.host_ranks)}
    if ranks.measures is not None:
        measures = ranks.measures
        names = [measures.name(place) for place in range(len(ranks.host_keys))]
        columns = {"host": pa.array(names, pa.string()), **columns}
        for name in ("sites", "trust", "distance", "centrality", "spam"):
            columns[name] = np.asarray(getattr(measures, f"host_{name}"))
        columns["reason"] = pa.array([REASONS[place] for place in measures.host_reason], pa.string())
    yield pa.table(columns)


def document_tables(batches: Batches, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The newest version of every document that may be found."""
    newest: dict[int, tuple[int, int]] = {}
    for number in batches.numbers():
        table = batches.document_table(number, ("key", "refusal"))
        for row, (key, refusal) in enumerate(zip(*(c.to_pylist() for c in table.columns), strict=True)):
            newest[key] = (number, row if not refusal else -1)
    for number in batches.numbers():
        rows = [row for batch, row in newest.values() if batch == number and row >= 0]
        if rows:
            yield batches.document_table(number, columns).take(sorted(rows))


def write_tables(tables: Iterable[pa.Table], path: Path | str, form: Format | None = None) -> int:
    """Writes tables of one kind into one file; the number of rows. The format follows the name unless it is given."""
    target = Path(path)
    form = form or _format_of(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        rows = _write(tables, partial, form)
        partial.replace(target)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror or error}; choose another file") from error
    finally:
        with suppress(OSError):  # told by what failed before
            partial.unlink(missing_ok=True)
    return rows


def _write(tables: Iterable[pa.Table], path: Path, form: Format) -> int:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    rows, writer = 0, None
    try:
        for table in tables:
            if writer is None:
                make = pq.ParquetWriter if form == "parquet" else pa_csv.CSVWriter
                writer = make(path, table.schema, compression="zstd") if form == "parquet" else make(path, table.schema)
            writer.write_table(table)
            rows += table.num_rows
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        _write([pa.table({})], path, form) if form == "parquet" else path.write_bytes(b"")
    return rows


def _format_of(path: Path) -> Format:
    if path.suffix == ".parquet":
        return "parquet"
    if path.suffix == ".csv":
        return "csv"
    raise UsageError(f"{path.name} ends neither with .parquet nor with .csv; name the format")


def _joined(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join(column.cast(pa.list_(pa.string())), " ")


def _rank_table(urls: list[str], ranks: RankTable) -> pa.Table:
    import pyarrow as pa

    hosts = [addresses.host(url) for url in urls]
    page_keys = np.array([addresses.page_key(url) for url in urls], np.int64)
    host_keys = np.array([addresses.host_key(host) for host in hosts], np.int64)
    found = ranks.page(page_keys)
    columns = {
        "url": pa.array(urls, pa.string()),
        "page_key": page_keys,
        "rank": found,
        "classic_rank": found * ranks.pages,
        "sites": np.array([ranks.page_sites(key) for key in page_keys.tolist()], np.int64),
        "host": pa.array(hosts, pa.string()),
        "host_rank": ranks.host(host_keys),
        "prior": ranks.prior(page_keys, host_keys),
    }
    return pa.table(columns)
