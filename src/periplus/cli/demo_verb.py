"""``periplus demo``: the whole voyage over a small web that ships with Periplus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import facts, messages, number, print_json, size
from periplus.cli.progress import show_crawl, step
from periplus.cli.search_verb import show_answer
from periplus.cli.serve_verb import say_where
from periplus.cli.warming import ready_kernels

if TYPE_CHECKING:
    from periplus.app.running.demonstration import Demonstration, Voyage


def demo(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    once: Annotated[bool, typer.Option("--once", help="print one search and exit instead of serving")] = False,
    query: Annotated[str, typer.Option(help="what --once searches for")] = "lighthouse",
    port: Annotated[int | None, typer.Option(help="port of the search page; 0 takes a free one")] = None,
    json: opt.Json = False,
) -> None:
    """Crawl, index, rank and serve a small web that ships with Periplus; no network needed."""
    from periplus.app.running.demonstration import Demonstration

    ready_kernels()
    with Demonstration(directory, port=port) as demonstration:
        voyage = _sail(demonstration)
        if not json:
            messages().print(_table(voyage, directory))
        if not once:
            demonstration.serve(started=say_where(demonstration.collection))
            messages().print("stopped", soft_wrap=True)
            return
        answer = demonstration.collection.search(query)
        if json:
            print_json(
                {
                    "pages": voyage.pages,
                    "hosts": voyage.hosts,
                    "documents": voyage.documents,
                    "links": voyage.links,
                    "seconds": round(voyage.seconds, 3),
                    "results": answer.results,
                }
            )
        else:
            messages().print(f"\nperiplus search {query!r}", style="dim")
            show_answer(answer)


def _sail(demonstration: Demonstration) -> Voyage:
    with step("crawl") as bar:
        demonstration.crawl(lambda status: show_crawl(bar, status))
    with step("rank") as bar:
        demonstration.rank(lambda done, change: bar.at(done, note=f"change {change:.1e}"))
    with step("index") as bar:
        demonstration.index(bar.at)
    return demonstration.voyage()


def _table(voyage: Voyage, directory: Path) -> object:
    return facts(
        [
            ("pages fetched", f"{number(voyage.fetched)} now, {number(voyage.pages)} in all"),
            ("unchanged", number(voyage.unchanged)),
            ("hosts", number(voyage.hosts)),
            ("documents found by search", number(voyage.documents)),
            ("links", number(voyage.links)),
            ("requests, all polite", f"{number(voyage.requests)}, {number(voyage.violations)} violations"),
            ("on disk", f"{size(voyage.disk)} in {directory}"),
            ("seconds", f"{voyage.seconds:.1f}"),
        ]
    )
