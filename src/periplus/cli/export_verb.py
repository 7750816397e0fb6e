"""``periplus export``: what a collection holds, in files that other programs read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from periplus.app import Collection
    from periplus.archive import PackagedPage

KINDS = ("pages", "documents", "links", "ranks", "hosts", "run", "wacz")
_NAMES = {"run": "run.txt", "wacz": "archive.wacz"}  # of the files that are no tables
RUN_LENGTH = 1_000  # results of one query in a run file


def export(
    kind: Annotated[str, typer.Argument(help=f"what to write: {', '.join(KINDS)}")],
    out: Annotated[
        Path | None, typer.Option(help="file to write [default: KIND.parquet, run.txt or archive.wacz]")
    ] = None,
    format: Annotated[str | None, typer.Option(help="parquet or csv; follows the name of the file")] = None,
    queries: Annotated[Path | None, typer.Option(help="for a run: TSV of query id, text")] = None,
    profile: Annotated[str, typer.Option(help="for a run: ranking profile")] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Write addresses, documents, links, ranks or hosts to a Parquet or CSV file, results as a TREC run, or the archive
    as a WACZ file."""
    from periplus.app import Collection
    from periplus.graph.export import write_tables

    if kind not in KINDS:
        raise UsageError(f"{kind!r} cannot be exported; choose one of {', '.join(KINDS)}")
    if (kind == "run") != (queries is not None):
        raise UsageError("a run is made of queries: give both, export run --queries FILE")
    form = _format(format)
    target = out or Path(_NAMES.get(kind, f"{kind}.{form or 'parquet'}"))
    with Collection.existing(directory) as collection:
        if queries is not None:
            rows = _write_run(collection, queries, profile, target)
        elif kind == "wacz":
            rows = _write_package(collection, target)
        else:
            rows = write_tables(_tables(collection, kind), target, form)
    if json:
        print_json({"kind": kind, "file": str(target), "rows": rows})
    else:
        messages().print(f"{number(rows)} rows in {target}", soft_wrap=True)


def _format(text: str | None) -> Literal["parquet", "csv"] | None:
    if text is None:
        return None
    if text == "parquet":
        return "parquet"
    if text == "csv":
        return "csv"
    raise UsageError(f"format is {text!r}; give parquet or csv")


def _tables(collection: Collection, kind: str) -> Iterator[pa.Table]:
    from periplus.crawl.export import page_tables
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
