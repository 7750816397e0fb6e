"""``periplus verify``: is every byte what was written?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.findings import show_findings
from periplus.cli.progress import step


def verify(
    source: Annotated[
        str, typer.Argument(help="where backups are; without it the collection itself is checked", metavar="[BACKUPS]")
    ] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Check every byte of a collection, or of its backups; a damaged file is named."""
    from periplus.app import Collection, backups, doctor

    with step("verify") as bar:
        if source:
            findings = backups.check_backups(backups.open_store(source), bar.at)
        else:
            with Collection.existing(directory) as collection:
                findings = doctor.examine_files(collection, lambda done, note: bar.at(done, note=note))
    show_findings(findings, json=json)
