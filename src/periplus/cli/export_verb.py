"""``periplus export``: what a collection holds, in files that other programs read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step
from periplus.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from periplus.app import Collection
    from periplus.archive import PackagedPage

KINDS = ("pages", "documents", "links", "ranks", "hosts", "run", "warc", "wacz", "cdxj", "ciff")
_NAMES = {
    "run": "run.txt",
    "warc": "part.warc.gz",
    "wacz": "archive.wacz",
    "cdxj": "index.cdxj",
    "ciff": "index.ciff",
}  # of the files that are no tables
_UNITS = {"warc": "responses", "wacz": "responses", "cdxj": "responses", "ciff": "documents"}
RUN_LENGTH = 1_000  # results of one query in a run file


def export(
    kind: Annotated[str, typer.Argument(help=f"what to write: {', '.join(KINDS)}; not with --to")] = "",
    out: Annotated[
        Path | None, typer.Option(help="file to write (default: KIND.parquet, run.txt, part.warc.gz …)")
    ] = None,
    to: Annotated[str, typer.Option(help="postgresql://… address: write all tables there instead of a file")] = "",
    connections: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="with --to: how many write at once, a process each (default: as many as cores, 4 at most)",
            show_default=False,
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help="parquet or csv; follows the name of the file")] = None,
    queries: Annotated[Path | None, typer.Option(help="for a run: TSV of query id, text")] = None,
    profile: Annotated[str, typer.Option(help="for a run: ranking profile")] = "",
    query: Annotated[str, typer.Option(help="for a WARC file: the pages that this query finds, 1,000 at most")] = "",
    site: Annotated[str, typer.Option(help="for a WARC file: the pages of this host or domain")] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Write addresses, documents, links, ranks or hosts to a Parquet or CSV file, results as a TREC run, a
    part of the archive as WARC, all of it as WACZ or listed as CDXJ, the index as CIFF; or everything to PostgreSQL."""
    from periplus.app import Collection, write_ciff
    from periplus.archive import write_listing
    from periplus.graph.export import write_tables

    if to:
        _write_sql(directory, kind, to, connections or 0, json=json)
        return
    _check(kind, is_run=queries is not None, is_part=bool(query or site))
    form = _format(format)
    target = out or Path(_NAMES.get(kind, f"{kind}.{form or 'parquet'}"))
    with Collection.existing(directory) as collection:
        if queries is not None:
            rows = _write_run(collection, queries, profile, target)
        elif kind == "warc":
            rows = _write_warc(collection, target, query, site)
        elif kind == "wacz":
            rows = _write_package(collection, target)
        elif kind == "cdxj":
            rows = write_listing(collection.folder / "archive", target)
        elif kind == "ciff":
            with step("export") as bar:
                rows = write_ciff(collection, target, bar.at)
        else:
            rows = write_tables(_tables(collection, kind), target, form)
    if json:
        print_json({"kind": kind, "file": str(target), "rows": rows})
    else:
        messages().print(f"{number(rows)} {_UNITS.get(kind, 'rows')} in {target}", soft_wrap=True)


def _check(kind: str, *, is_run: bool, is_part: bool) -> None:
    if kind not in KINDS:
        raise UsageError(f"{kind!r} cannot be exported; choose one of {', '.join(KINDS)}")
    if (kind == "run") != is_run:
        raise UsageError("a run is made of queries: give both, export run --queries FILE")
    if (kind == "warc") != is_part:
        raise UsageError("a WARC file is made of a part of the archive: export warc --query TEXT, --site HOST or both")


def _write_sql(directory: Path, kind: str, address: str, connections: int, *, json: bool) -> None:
    from periplus.app import Collection, export_to_sql

    if kind:
        raise UsageError(f"--to writes all tables; leave {kind!r} away")
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageError("--to takes the address of a PostgreSQL database: postgresql://user@host/name")

    with Collection.existing(directory) as collection, step("export") as bar:
        written = export_to_sql(collection, address, connections, bar.at)
    if json:
        print_json([table._asdict() for table in written])
        return
    for table in written:
        note = "" if table.is_new else ", there already"
        messages().print(f"{number(table.rows)} rows in {table.table}{note}", soft_wrap=True)


def _format(text: str | None) -> Literal["parquet", "csv"] | None:
    if text is None:
        return None
    if text == "parquet":
        return "parquet"
    if text == "csv":
        return "csv"
    raise UsageError(f"format is {text!r}; give parquet or csv")


def _tables(collection: Collection, kind: str) -> Iterator[pa.Table]:
    from periplus.crawl.asking.export import page_tables
    from periplus.documents import BatchLog
    from periplus.graph import export

    if kind == "pages":
        return page_tables(collection.database)
    log = BatchLog(collection.files, collection.database, collection.depot)
    if kind == "documents":
        return export.document_tables(log)
    if kind == "links":
        return export.link_tables(log)
    ranks = collection.stores.ranks.current()
    if ranks is None:
        raise NotFound("no ranks are published yet; run periplus rank first")
    return export.rank_tables(log, ranks) if kind == "ranks" else export.host_tables(ranks)


def _write_run(collection: Collection, queries: Path, profile: str, target: Path) -> int:
    """Results of every query, as ``evaluate`` would judge them: host diversity and folding are off."""
    from periplus.evaluation import read_queries, write_run

    name = profile or collection.settings.search.profile
    asked = read_queries(queries)
    run = {
        query: [identifier for identifier, _ in collection.engine.ranking(text, RUN_LENGTH, name)]
        for query, text in asked.items()
    }
    write_run(target, run, name)
    return sum(map(len, run.values()))


def _write_warc(collection: Collection, target: Path, query: str, site: str) -> int:
    from periplus.app import write_warc

    with step("export") as bar:
        written = write_warc(collection, target, query, site, bar.at)
    if written.unreadable:
        messages().print(f"! {number(written.unreadable)} could not be read: damaged, or taken down", soft_wrap=True)
    return written.responses


def _write_package(collection: Collection, target: Path) -> int:
    from periplus import __version__
    from periplus.archive import ArchiveParts, write_package

    pages = _packaged_pages(collection)
    if isinstance(collection.archive, ArchiveParts):
        collection.archive.pull()
    return write_package(collection.folder / "archive", target, pages, f"Periplus {__version__}", time.time())


def _packaged_pages(collection: Collection) -> Iterator[PackagedPage]:
    """Every page that may be found, as it was last read."""
    from periplus.archive import PackagedPage
    from periplus.documents import BatchLog

    log = BatchLog(collection.files, collection.database, collection.depot)
    seen: set[int] = set()
    for batch in sorted(log.numbers(), reverse=True):
        columns = log.document_table(batch, ["key", "url", "title", "fetched", "refusal"])
        for row in reversed(columns.to_pylist()):
            if row["key"] not in seen and not row["refusal"]:
                yield PackagedPage(row["url"], row["title"], row["fetched"])
            seen.add(row["key"])
