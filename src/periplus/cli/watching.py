"""A live line about a collection that other processes are building, on standard error."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
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
    from periplus.cli.seed_lines import SeedLines
    from periplus.jobs import CollectionStatus

EVERY_ON_A_TERMINAL = 1.0  # seconds
EVERY_ELSEWHERE = 30.0


class LiveLine:
    """A line that the next one replaces, and lines that stay above it; used by several threads."""

    def __init__(self) -> None:
        self._console = messages()
        self._lock = threading.Lock()
        self._last = ""

    @property
    def every(self) -> float:
        """Seconds between two looks at what the line tells."""
        return EVERY_ON_A_TERMINAL if self._console.is_terminal else EVERY_ELSEWHERE

    def show(self, line: str) -> None:
        with self._lock:
            if line != self._last:
                show_line(self._console, line)
                self._last = line

    def say(self, line: str) -> None:
        """A line that stays."""
        with self._lock:
            if self._last:
                _clear(self._console)
            self._console.print(line, soft_wrap=True)
            if self._last and self._console.is_terminal:
                show_line(self._console, self._last)

    def close(self) -> None:
        with self._lock:
            if self._last and self._console.is_terminal:
                self._console.print()
            self._last = ""


@contextmanager
def watched(collection: Collection, seeds: SeedLines, live: LiveLine) -> Iterator[None]:
    """Show how the collection grows until the block ends; a line only when something changed."""
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(collection, seeds, live, stop), name="watcher", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        live.close()


def _watch(collection: Collection, seeds: SeedLines, live: LiveLine, stop: threading.Event) -> None:
    next_line = time.monotonic() + live.every
    while not stop.wait(EVERY_ON_A_TERMINAL):
        with suppress(PeriplusError):  # being written: look again
            seeds.look()
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + live.every
                live.show(summary(collection.status()))


def show_line(console: Console, line: str) -> None:
    """On a terminal each line takes the place of the one before, so it must not be longer than one."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True)
        return
    _clear(console)
    console.print(line, end="", no_wrap=True, overflow="ellipsis", width=max(console.width - 1, 1))


def _clear(console: Console) -> None:
    if console.is_terminal:
        console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


def summary(status: CollectionStatus) -> str:
    """One line: pages, what waits, what can be found."""
    crawl = status.crawl
    searchable = status.index.documents if status.index else 0
    counts = f"{crawl_pages(crawl)}, {number(crawl.queued)} waiting, {number(searchable)} searchable"
    if crawl.state == "running":
        return f"crawl running: {counts}, {crawl.rate:.1f} a second"
    return f"crawl {crawl_state(crawl)}; {counts}" if crawl.reason else f"crawl {crawl.state}: {counts}"
