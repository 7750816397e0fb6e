"""``periplus doctor``: checks the collection and the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.findings import show_findings
from periplus.cli.progress import step


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="mend what can be made again from what is stored")] = False,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Check the machine and every file of the collection; something broken is a failure."""
    from periplus.app import Collection
    from periplus.app import doctor as doctors

    with Collection.existing(directory) as collection, step("check") as bar:
        work = doctors.repair if repair else doctors.examine
        findings = work(collection, lambda done, note: bar.at(done, note=note))
    show_findings(findings, json=json)
