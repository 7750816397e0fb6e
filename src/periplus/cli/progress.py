"""Progress bars on standard error; where nobody watches, a line now and then."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from periplus.cli.crawl_words import crawl_state
from periplus.cli.output import messages, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.records import CrawlStatus

LINE_EVERY = 10.0  # seconds between lines when standard error is not a terminal


class Step(Protocol):
    """One bar: told how far it has come, and what to say beside it."""

    def at(self, done: int, total: int | None = None, note: str = "") -> None: ...


class _Bar:
    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=None, note="")

    def at(self, done: int, total: int | None = None, note: str = "") -> None:
        self._progress.update(self._task, completed=done, total=total, note=note)


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._last = time.monotonic()

    def at(self, done: int, total: int | None = None, note: str = "") -> None:
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            of = f" of {number(total)}" if total else ""
            messages().print(f"{self._name}: {number(done)}{of} {note}".rstrip(), soft_wrap=True)


@contextmanager
def step(name: str) -> Iterator[Step]:
    """A bar for one step of work, removed into a plain line when it is done."""
    console = messages()
    if not console.is_terminal:
        yield _Lines(name)
        return
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description:<8}", markup=False),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console) as progress:
        bar = _Bar(progress, name)
        yield bar
        for task in progress.tasks:
            progress.update(task.id, total=max(task.completed, 1), completed=max(task.completed, 1), note="")


def show_crawl(bar: Step, status: CrawlStatus) -> None:
    """Put a crawl's status on a bar: pages of this crawl, and what the limit of the collection still lets in."""
    left = min(status.queued, max(0, status.limit - status.stored)) if status.limit else status.queued
    note = f"{status.hosts} hosts, {status.queued} waiting"
    if status.state in ("stalled", "paused"):
        note = crawl_state(status)
    bar.at(status.pages, status.pages + left or None, note)
