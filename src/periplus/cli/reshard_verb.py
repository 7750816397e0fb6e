"""``periplus reshard``: another number of shards for a published index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step
from periplus.cli.warming import ready_kernels


def reshard(
    shards: Annotated[int, typer.Argument(help="how many; from 1 to 1,024", metavar="S")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    memory: Annotated[str | None, typer.Option(help="memory for merging, such as 512MB; at least 200MB")] = None,
    json: opt.Json = False,
) -> None:
    """Spread the documents of the index over so many shards, while searches and updates go on."""
    from periplus.app import Collection

    started = time.perf_counter()
    with Collection.existing(directory, flags={"index.memory": opt.byte_size(memory)}) as collection:
        ready_kernels()
        with step("reshard") as bar:
            manifest = collection.reshard(shards, progress=bar.at)
    seconds = time.perf_counter() - started
    sizes = [manifest.of_shard(shard).documents for shard in range(manifest.shards)]
    if json:
        print_json({"generation": manifest.generation, "shards": sizes, "seconds": round(seconds, 3)})
        return
    spread = f" of {number(min(sizes))} to {number(max(sizes))} documents" if len(sizes) > 1 else ""
    messages().print(
        f"generation {manifest.generation}: {number(manifest.documents)} documents in {number(len(sizes))} "
        f"{'shard' if len(sizes) == 1 else 'shards'}{spread}, {seconds:.1f} s",
        soft_wrap=True,
    )
