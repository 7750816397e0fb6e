"""``periplus move``: a collection to an object store and a database that machines share, and back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step


def move(
    to: Annotated[str, typer.Option(help="s3://bucket/prefix or file:///folder, followed by DATABASE; or a folder")],
    database: Annotated[
        str,
        typer.Argument(help="postgresql://… address of an empty database", metavar="[DATABASE]", show_default=False),
    ] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Move a collection to an object store and PostgreSQL, for many machines, or back to a folder.

    Every file is read back and compared, every table counted. After an interruption, give the same command again.
    """
    from periplus.app import Collection

    started = time.perf_counter()
    with Collection.existing(directory) as collection, step("move") as bar:
        done = collection.move(to, database, progress=lambda at, total, what: bar.at(at, total or None, what))
    seconds = time.perf_counter() - started
    if json:
        print_json(
            {"to": done.to, "files": done.files, "bytes": done.bytes, "rows": done.rows, "seconds": round(seconds, 3)}
        )
        return
    size = f"{number(done.files)} files with {done.bytes / 1e6:,.1f} MB"
    console = messages()
    console.print(
        f"moved to {done.to}: {size}, {number(done.rows)} rows of {done.tables} tables, {seconds:.1f} s", soft_wrap=True
    )
    console.print(f"what was at the old place is kept in {done.kept}; remove it when you like", soft_wrap=True)
    if database:
        console.print(f"on other machines: a folder with a copy of {directory / 'periplus.toml'}", soft_wrap=True)
