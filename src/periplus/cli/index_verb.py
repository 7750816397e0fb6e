"""``periplus index``: make what is stored searchable."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step
from periplus.cli.warming import ready_kernels


def index(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    rebuild: Annotated[bool, typer.Option("--rebuild", help="build it anew from all batches")] = False,
    workers: Annotated[int | None, typer.Option(help="processes; 0 is one a core")] = None,
    memory: Annotated[
        str | None, typer.Option(help="memory for building and merging, such as 512MB; at least 200MB")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Build or update the index from what is stored."""
    from periplus.app import Collection

    started = time.perf_counter()
    flags = {"index.workers": workers, "index.memory": opt.byte_size(memory)}
    with Collection.existing(directory, flags=flags) as collection:
        ready_kernels()
        with step("index") as bar:
            manifest = collection.index(rebuild=rebuild, progress=bar.at)
        if other := collection.other_shards(manifest):
            messages().print(f"periplus: {other}", soft_wrap=True, highlight=False)
        seconds = time.perf_counter() - started
    if json:
        print_json({"generation": manifest.generation, "documents": manifest.documents, "seconds": round(seconds, 3)})
        return
    messages().print(
        f"generation {manifest.generation}: {number(manifest.documents)} documents, {seconds:.1f} s", soft_wrap=True
    )
