"""``periplus restart``: one worker of a running crawl ends its requests, leaves, and a new one takes its place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages


def restart(
    worker: Annotated[int, typer.Argument(help="its number, as in periplus status", min=1, metavar="N")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
) -> None:
    """Replace one worker of a running crawl."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        collection.command(f"restart {worker}")
    messages().print(f"worker {worker} leaves after its requests, and another takes its place", soft_wrap=True)
