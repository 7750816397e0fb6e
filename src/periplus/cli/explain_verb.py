"""``periplus explain``: the score of one page for one query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import data, print_json
from periplus.cli.search_verb import show_explanation
from periplus.cli.warming import ready_kernels


def explain(
    query: Annotated[str, typer.Argument(help="the query")],
    url: Annotated[str, typer.Argument(help="the page")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    profile: Annotated[str, typer.Option(help="ranking profile")] = "",
    json: opt.Json = False,
) -> None:
    """Show why a page has its score for a query, or why it is not found."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        ready_kernels()
        explanation = collection.explain(opt.typed(query), opt.typed(url), profile=profile)
    if json:
        print_json(explanation)
    else:
        show_explanation(data(), explanation)
