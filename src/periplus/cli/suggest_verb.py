"""``periplus suggest``: completions of a prefix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, print_json, print_line
from periplus.cli.warming import ready_kernels


def suggest(
    prefix: Annotated[str, typer.Argument(help="what has been typed so far")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    limit: Annotated[int, typer.Option(help="suggestions, at most", min=1, max=100)] = 8,
    json: opt.Json = False,
) -> None:
    """Complete a query from the titles and words of the collection."""
    from periplus.app import Collection

    prefix = opt.typed(prefix)
    with Collection.existing(directory) as collection:
        ready_kernels()
        found = collection.suggest(prefix, limit)
    if json:
        print_json({"query": prefix, "suggestions": found})
        return
    for suggestion in found:
        print_line(suggestion.text)
    if not found:
        messages().print(f"nothing here begins with {prefix!r}", soft_wrap=True)
