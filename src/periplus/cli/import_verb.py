"""``periplus import``: take in what others made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step


def import_(
    paths: Annotated[
        list[Path], typer.Argument(help="WARC, WET, ARC, WACZ, .jsonl or Parquet files, or folders", metavar="PATH…")
    ],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    base_url: Annotated[str, typer.Option("--base-url", help="address of a folder's pages")] = "",
    json: opt.Json = False,
) -> None:
    """Import archives (WARC, WET, ARC, WACZ), .jsonl or Parquet (id, url, title, text), or folders of HTML files."""
    from periplus.app import Collection
    from periplus.app.importing import import_paths

    with Collection(directory) as collection, step("import") as bar:
        report = import_paths(collection, paths, base_url, progress=bar.at)
    if json:
        print_json(report)
        return
    messages().print(
        f"{number(report.documents)} documents, {number(report.refused)} without, {report.seconds:.1f} s\n"
        f"next: periplus index --dir {directory}",
        soft_wrap=True,
    )
