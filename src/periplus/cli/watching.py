"""A live line about a collection that other processes are building, on standard error."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.control import Control
from rich.segment import ControlType

from periplus.cli.crawl_words import crawl_pages, crawl_state
from periplus.cli.output import messages, number
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from periplus.app import Collection
    from periplus.jobs import CollectionStatus

EVERY_ON_A_TERMINAL = 1.0  # seconds
EVERY_ELSEWHERE = 30.0


@contextmanager
def watched(collection: Collection) -> Iterator[None]:
    """Show how the collection grows until the block ends; a line only when something changed."""
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(collection, stop), name="watcher", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch(collection: Collection, stop: threading.Event) -> None:
    console = messages()
    last = ""
    every = EVERY_ON_A_TERMINAL if console.is_terminal else EVERY_ELSEWHERE
    while not stop.wait(every):
        try:
            line = summary(collection.status())
        except PeriplusError:
            continue  # being written: look again
        if line != last:
            show_line(console, line)
            last = line
    if last and console.is_terminal:
        console.print()


def show_line(console: Console, line: str) -> None:
    """On a terminal each line takes the place of the one before, so it must not be longer than one."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True)
        return
    console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
    console.print(line, end="", no_wrap=True, overflow="ellipsis", width=max(console.width - 1, 1))


def summary(status: CollectionStatus) -> str:
    """One line: pages, what waits, what can be found."""
    crawl = status.crawl
    searchable = status.index.documents if status.index else 0
    counts = f"{crawl_pages(crawl)}, {number(crawl.queued)} waiting, {number(searchable)} searchable"
    if crawl.state == "running":
        return f"crawl running: {counts}, {crawl.rate:.1f} a second"
    return f"crawl {crawl_state(crawl)}; {counts}" if crawl.reason else f"crawl {crawl.state}: {counts}"
