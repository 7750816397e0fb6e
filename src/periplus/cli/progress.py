"""Progress bars on standard error; where nobody watches, a line now and then."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rich.progress import Progress, ProgressColumn, SpinnerColumn
from rich.text import Text

from periplus import log_lines
from periplus.cli.crawl_words import crawl_state
from periplus.cli.output import messages, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Task

    from periplus.records import CrawlStatus

SIGN = 2  # columns of the sign that turns
BAR, LEAST_BAR, BAR_SIGN = 28, 6, "━"  # columns of a bar
LINE_EVERY = 10.0  # seconds between lines when standard error is not a terminal


class ProgressStep(Protocol):
    """One bar: told how far it has come, and what to say beside it."""

    def at(self, done: int, total: int | None = None, note: str = "") -> None: ...
    def say(self, line: str) -> None: ...  # above the bar


class _Bar:
    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=None, note="")

    def at(self, done: int, total: int | None = None, note: str = "") -> None:
        self._progress.update(self._task, completed=done, total=total, note=note)

    def hide(self) -> None:
        self._progress.update(self._task, visible=False)

    def say(self, line: str) -> None:
        self._progress.console.print(line, soft_wrap=True)


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._last = time.monotonic()

    def at(self, done: int, total: int | None = None, note: str = "") -> None:
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            of = f" of {number(total)}" if total else ""
            line = f"{self._name}: {number(done)}{of} {note}".rstrip()
            if not log_lines.tell(line, event="progress", step=self._name, done=done, total=total):
                messages().print(line, soft_wrap=True)

    def say(self, line: str) -> None:
        messages().print(line, soft_wrap=True)


class _Line(ProgressColumn):
    """Everything of a step in one line that fits the terminal, however narrow."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def render(self, task: Task) -> Text:
        total = None if task.total is None else int(task.total)
        shown = ProgressLine(task.description, int(task.completed), total, task.elapsed or 0.0, task.fields["note"])
        return drawn(shown, self._console.width - SIGN - 1)


class ProgressLine(NamedTuple):
    """What a line says of a step."""

    name: str
    done: int
    total: int | None
    seconds: float
    note: str


def drawn(shown: ProgressLine, width: int) -> Text:
    """Name, bar, count, time and note in ``width`` columns: the bar goes first, then the time, then the note's end."""
    head, clock = f"{shown.name:<6} ", str(timedelta(seconds=int(shown.seconds)))
    count = number(shown.done) + (f"/{number(shown.total)}" if shown.total is not None else "")
    words = " ".join(filter(None, (count, clock, shown.note)))
    left = width - len(head) - len(words) - 1
    if left >= LEAST_BAR:
        return Text.assemble(head, _bar(shown, min(left, BAR)), " ", words)
    return Text(_cut(head + (words if left >= -1 else f"{count} {shown.note}"), width))


def _bar(shown: ProgressLine, width: int) -> Text:
    bar = Text(BAR_SIGN * width, style="dim")
    share = min(1.0, shown.done / shown.total) if shown.total else 0.0
    bar.stylize("not dim green", 0, round(share * width))
    return bar


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


@contextmanager
def step(name: str) -> Iterator[ProgressStep]:
    """A bar for one step of work, removed into a plain line when it is done."""
    console = messages()
    if not console.is_terminal:
        yield _Lines(name)
        return
    columns = (SpinnerColumn(finished_text="[green]✓"), _Line(console))
    with Progress(*columns, console=console) as progress:
        bar = _Bar(progress, name)
        try:
            yield bar
        except Exception:  # a line says what went wrong; a bar that stands still says nothing
            bar.hide()
            raise
        for task in progress.tasks:
            progress.update(task.id, total=max(task.completed, 1), completed=max(task.completed, 1), note="")


def show_crawl(bar: ProgressStep, status: CrawlStatus) -> None:
    """Put a crawl's status on a bar: pages of this crawl, and what the limit of the collection still lets in."""
    left = min(status.queued, max(0, status.limit - status.stored)) if status.limit else status.queued
    note = status.reason or f"{_hosts(status.hosts)}, {number(status.queued)} waiting"
    if status.state in ("stalled", "paused"):
        note = crawl_state(status)
    bar.at(status.pages, status.pages + left or None, note)


def _hosts(count: int) -> str:
    return f"{number(count)} {'host' if count == 1 else 'hosts'}"
