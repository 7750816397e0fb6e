"""``periplus analyze``: from text to terms, step by step."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, print_json


def analyze(
    text: Annotated[str, typer.Argument(help="any text")],
    lang: Annotated[str, typer.Option("--lang", help="language of the text, such as en")] = "",
    json: opt.Json = False,
) -> None:
    """Show the terms that a text is indexed and searched by."""
    from periplus.index import analysis_steps

    steps = analysis_steps(text, lang)
    if json:
        print_json({"text": text, "language": lang, "tokens": steps})
        return
    table = Table(box=None, header_style="dim")
    for name in steps[0] if steps else ():
        table.add_column(str(name))
    for step in steps:
        table.add_row(*(_cell(value) for value in step.values()))
    data().print(table)


def _cell(value: object) -> str:
    return " ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)
