"""``periplus crawl``: fetch pages, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli import options as opt
from periplus.cli.crawl_flags import all_seeds, limits, with_crawl_flags
from periplus.cli.crawl_words import crawl_pages
from periplus.cli.output import facts, messages, number, print_json, size
from periplus.cli.progress import show_crawl, step


@with_crawl_flags
def crawl(
    urls: Annotated[list[str] | None, typer.Argument(help="addresses to start from", metavar="URL…")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    seeds: opt.Seeds = None,
    *,
    flags: dict[str, Any],
    recrawl: Annotated[bool, typer.Option("--recrawl", help="visit again what was fetched before")] = False,
    seconds: Annotated[float, typer.Option("--for", help="stop after so many seconds", min=0)] = 0,
    json: opt.Json = False,
) -> None:
    """Fetch pages from the given addresses on, or go on where the last crawl stopped."""
    from periplus.app import Collection
    from periplus.crawl import canonical_seeds
    from periplus.crawl.checks import check

    start = canonical_seeds(all_seeds(urls, seeds))
    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        check(collection.settings.crawl)
        collection.create()
        messages().print(f"crawling into {directory}: {limits(collection.settings.crawl)}", soft_wrap=True)
        with step("crawl") as bar:
            status = collection.crawl(
                start, recrawl=recrawl, seconds=seconds, progress=lambda status: show_crawl(bar, status)
            )
    if json:
        print_json(status)
        return
    messages().print(
        facts(
            [
                ("pages", crawl_pages(status)),
                ("unchanged", number(status.unchanged)),
                ("failed", number(status.failed)),
                ("refused", number(status.refused)),
                ("waiting", number(status.queued)),
                ("hosts", number(status.hosts)),
                ("bytes", size(status.bytes)),
                ("seconds", f"{status.seconds:.1f}"),
            ]
        )
    )
    messages().print(f"next: periplus index --dir {directory}", soft_wrap=True)
