"""``periplus backup``: a copy of a collection that is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json, size
from periplus.cli.progress import step


def backup(
    destination: Annotated[str, typer.Argument(help="a folder, or s3://bucket/prefix", metavar="DEST")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    keep: Annotated[int, typer.Option(help="so many backups are kept; older ones go, and those before a takedown")] = 3,
    json: opt.Json = False,
) -> None:
    """Back a collection up, while it is in use, to a folder or s3://bucket/prefix.

    Only what changed since the last backup travels.
    """
    from periplus.app import Collection, backups

    with Collection.existing(directory) as collection, step("backup") as bar:
        report = backups.back_up(collection, backups.open_store(destination), keep=keep, progress=bar.at)
    if json:
        print_json(report)
        return
    messages().print(
        f"backup {report.number}: {number(report.files)} files, {size(report.bytes)}; sent {size(report.sent_bytes)} "
        f"in {report.seconds:.1f} s to {report.address}",
        soft_wrap=True,
    )
    if report.removed:
        messages().print(f"removed: backups {', '.join(map(str, report.removed))}", soft_wrap=True)
