"""``periplus crawl``: fetch pages, nothing else."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from periplus import log_lines
from periplus.cli import options as opt
from periplus.cli.crawl_flags import all_seeds, start_of, with_crawl_flags
from periplus.cli.crawl_words import crawl_pages
from periplus.cli.in_force import say_in_force
from periplus.cli.interrupts import stopping_on_interrupt
from periplus.cli.output import facts, messages, number, print_json, size
from periplus.cli.progress import show_crawl, step
from periplus.cli.seed_lines import SeedLines

if TYPE_CHECKING:
    from periplus.records import CrawlStatus


@with_crawl_flags
def crawl(
    urls: Annotated[list[str] | None, typer.Argument(help="addresses to start from", metavar="URL")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    seeds: opt.Seeds = None,
    *,
    flags: dict[str, Any],
    forget: opt.Forget = False,
    recrawl: Annotated[bool, typer.Option("--recrawl", help="visit again what was fetched before")] = False,
    seconds: Annotated[float, typer.Option("--for", help="stop after so many seconds", min=0)] = 0,
    join: Annotated[bool, typer.Option("--join", help="only help with the crawl that runs on another machine")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="crawl whenever pages are due, until Ctrl-C")] = False,
    json: opt.Json = False,
) -> None:
    """Fetch pages from the given addresses on, or go on where the last crawl stopped."""
    if follow:
        _follow(directory, flags, all_seeds(urls, seeds))
        return
    from periplus.app import Collection
    from periplus.app.parts.occupancy import refuse_second_crawl
    from periplus.crawl.asking.checks import check

    start = all_seeds(urls, seeds)
    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        loaded = collection.in_force(forget=forget)
        check(loaded.values.crawl, loaded.origins)
        refuse_second_crawl(directory)
        collection.create()
        begin = start_of(collection, start)
        say_in_force(collection, loaded, begin, forget=forget)
        with step("crawl") as bar:
            lines = SeedLines(collection, begin, loaded.values.crawl.max_pages, bar.say)

            def progress(status: CrawlStatus) -> None:
                show_crawl(bar, status)
                lines.look()

            crawler = collection.crawler(loaded, progress, forget=forget)
            with stopping_on_interrupt(crawler.stop) as interrupted:
                status = crawler.run(start, recrawl=recrawl, seconds=seconds, join=join)
            barren = lines.look(now=True)
    if json:
        print_json(status)
    elif not _told(status):
        messages().print(_table(status))
    if barren == len(begin):
        raise typer.Exit(1)
    if interrupted.is_set():
        messages().print(f"stopped; periplus crawl --dir {directory} goes on", soft_wrap=True)
        raise typer.Exit(1)
    if not json:
        messages().print(f"next: periplus index --dir {directory}", soft_wrap=True)


def _follow(directory: Path, flags: dict[str, Any], start: list[str]) -> None:
    from periplus.app import Collection, crawl_until

    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        collection.create()
        given_at = collection.flags_at
    stopping = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stopping.set())
    messages().print("pages are visited whenever they are due; Ctrl-C stops that", soft_wrap=True)
    crawl_until(stopping, str(directory), flags, start, given_at)
    messages().print("stopped", soft_wrap=True)


def _told(status: CrawlStatus) -> bool:
    """Where lines are for programs."""
    return log_lines.tell(
        f"crawl {status.state}: {crawl_pages(status)}",
        event="crawled",
        state=status.state,
        pages=status.pages,
        failed=status.failed,
        refused=status.refused,
        waiting=status.queued,
    )


def _table(status: CrawlStatus) -> object:
    return facts(
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
