"""What checks found, as a table or as JSON; ``doctor`` and ``verify`` show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from periplus.cli.output import data, mark, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.app.findings import Finding

MARKS = {"ok": ("✓", "green"), "mended": ("+", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}


def show_findings(findings: Sequence[Finding], *, json: bool) -> None:
    """Print them; something broken ends the verb with a failure."""
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
