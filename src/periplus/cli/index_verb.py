"""``periplus index``: make what is stored searchable."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json, say_warnings
from periplus.cli.progress import step
from periplus.cli.warming import ready_kernels
from periplus.errors import UsageError


def index(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    rebuild: Annotated[bool, typer.Option("--rebuild", help="build it anew from all batches")] = False,
    workers: Annotated[int | None, typer.Option(help="processes; 0 is one a core")] = None,
    memory: Annotated[
        str | None, typer.Option(help="memory for building and merging, such as 512MB; at least 200MB")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="go on with whatever is new, ranks included, until Ctrl-C")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Build or update the index from what is stored."""
    from periplus.app import Collection

    started = time.perf_counter()
    flags = {"index.workers": workers, "index.memory": opt.byte_size(memory)}
    if follow:
        _follow(directory, flags, rebuild=rebuild)
        return
    with Collection.existing(directory, flags=flags) as collection:
        ready_kernels()
        with step("index") as bar:
            manifest = collection.index(rebuild=rebuild, progress=bar.at)
        say_warnings(collection)
        if other := collection.other_shards(manifest):
            messages().print(f"periplus: {other}", soft_wrap=True, highlight=False)
        seconds = time.perf_counter() - started
    if json:
        print_json({"generation": manifest.generation, "documents": manifest.documents, "seconds": round(seconds, 3)})
        return
    messages().print(
        f"generation {manifest.generation}: {number(manifest.documents)} documents, {seconds:.1f} s", soft_wrap=True
    )


def _follow(directory: Path, flags: dict[str, int | None], *, rebuild: bool) -> None:
    from periplus.app import Collection, build_until

    if rebuild:
        raise UsageError("--rebuild builds once; give it without --follow")
    with Collection.existing(directory, flags=flags):
        ready_kernels()
    stopping = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stopping.set())
    messages().print("index and ranks follow what is stored; Ctrl-C stops that", soft_wrap=True)
    build_until(stopping, str(directory), flags)
    messages().print("stopped", soft_wrap=True)
