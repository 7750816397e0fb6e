"""``periplus doctor``: checks the collection and the machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from periplus.cli import options as opt
from periplus.cli.output import data, mark, print_json
from periplus.cli.progress import step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.app.doctor import Finding

MARKS = {"ok": ("✓", "green"), "mended": ("+", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}


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
    if json:
        print_json(findings)
    else:
        data().print(_table(findings))
    if any(finding.state == "failed" for finding in findings):
        raise typer.Exit(1)


def _table(findings: Sequence[Finding]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings:
        said = Text.assemble(finding.detail, (f"\n→ {finding.advice}" if finding.advice else "", "dim"))
        table.add_row(mark(*MARKS[finding.state]), finding.check, said)
    return table
