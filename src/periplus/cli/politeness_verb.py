"""``periplus politeness``: an audit of the fetch journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import data, facts, mark, number, print_json, say_notice


def politeness(
    host: Annotated[str, typer.Argument(help="only this host")] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Check every request made against the gaps and robots rules in force; a violation is a failure."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        report = collection.politeness(host)
        say_notice(collection)
    if json:
        print_json(report)
    else:
        console = data()
        console.print(
            facts(
                [
                    ("requests", number(report.requests)),
                    ("hosts", number(report.hosts)),
                    ("violations", number(len(report.violations))),
                ]
            )
        )
        for violation in report.violations:
            console.print(mark("✗", "red"), str(violation))
    if report.violations:
        raise typer.Exit(1)
