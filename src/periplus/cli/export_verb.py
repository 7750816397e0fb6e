"""``periplus export``: what a collection holds, in files that other programs read."""

from __future__ import annotations

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

KINDS = ("documents", "links", "ranks", "hosts")


def export(
    kind: Annotated[str, typer.Argument(help=f"what to write: {', '.join(KINDS)}")],
    out: Annotated[Path | None, typer.Option(help="file to write [default: KIND.parquet]")] = None,
    format: Annotated[str | None, typer.Option(help="parquet or csv; follows the name of the file")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Write documents, links, ranks of pages or of hosts to a Parquet or CSV file."""
    from periplus.app import Collection
    from periplus.graph.export import write_tables

    if kind not in KINDS:
        raise UsageError(f"{kind!r} cannot be exported; choose one of {', '.join(KINDS)}")
    form = _format(format)
    target = out or Path(f"{kind}.{form or 'parquet'}")
    with Collection.existing(directory) as collection:
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
    from periplus.documents import BatchLog
    from periplus.graph import RankStore, export

    log = BatchLog(collection.files, collection.database)
    if kind == "documents":
        return export.document_tables(log)
    if kind == "links":
        return export.link_tables(log)
    ranks = RankStore(collection.folder / "ranks").current()
    if ranks is None:
        raise NotFound("no ranks are published yet; run periplus rank first")
    return export.rank_tables(log, ranks) if kind == "ranks" else export.host_tables(ranks)
