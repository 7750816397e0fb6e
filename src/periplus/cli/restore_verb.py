"""``periplus restore``: a backup becomes a collection again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json, size
from periplus.cli.progress import step


def restore(
    source: Annotated[str, typer.Argument(help="where backups are: a folder, or s3://bucket/prefix", metavar="SOURCE")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    which: Annotated[int, typer.Option("--number", help="of the backup; 0 is the newest")] = 0,
    json: opt.Json = False,
) -> None:
    """Bring a backup back into a new folder, every byte checked.

    Nothing is overwritten.
    """
    from periplus.app import backups

    with step("restore") as bar:
        done = backups.restore(backups.open_store(source), directory, number=which, progress=bar.at)
    if json:
        print_json(done)
        return
    made = datetime.fromtimestamp(done.made, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    messages().print(
        f"{directory}: backup {done.number} of {made}, {number(done.files)} files, {size(done.bytes)}", soft_wrap=True
    )
    for note in done.notes:
        messages().print(note, soft_wrap=True)
