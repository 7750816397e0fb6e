"""``periplus inspect``: the state of one address, with reasons."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from periplus.cli import options as opt
from periplus.cli.output import data, mark, print_json, say_notice

MARKS = {"ok": ("✓", "green"), "refused": ("–", "yellow"), "failed": ("✗", "red"), "waiting": ("…", "blue")}


def inspect(
    url: Annotated[str, typer.Argument(help="the address")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Follow one address from its discovery to the index, and say where it stopped and why."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        inspection = collection.inspect(url)
        say_notice(collection)
    if json:
        print_json(inspection)
        return
    console = data()
    console.print(inspection.url, style="bold")
    console.print(f"{inspection.verdict}\n")
    table = Table.grid(padding=(0, 2))
    for step in inspection.steps:
        when = datetime.fromtimestamp(step.at, UTC).strftime("%Y-%m-%d %H:%M:%S") if step.at else ""
        words = "; ".join(part for part in (step.detail, step.advice) if part)
        said = Text.assemble((f"{step.reason} " if step.reason else "", "bold"), words)
        table.add_row(mark(*MARKS.get(step.state, ("?", ""))), step.step, said, Text(when, style="dim"))
    console.print(table)
