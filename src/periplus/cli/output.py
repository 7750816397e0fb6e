"""What verbs print: data to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table
from rich.text import Text

from periplus import log_lines
from periplus.cli.harmless import HarmlessConsole, escaped, harmless

if TYPE_CHECKING:
    from rich.console import Console

    from periplus.app import Collection

WIDE = 200  # columns where no terminal cuts lines

_encoder = msgspec.json.Encoder()


def messages() -> Console:
    """The console for progress and remarks."""
    return HarmlessConsole(stderr=True, width=WIDE if log_lines.in_json() else None)


def say_notice(collection: Collection) -> None:
    """That the state is lost, and what to do, beside what can be shown without it."""
    if collection.notice:
        messages().print(f"periplus: {collection.notice}", soft_wrap=True, highlight=False)


def say_warnings(collection: Collection) -> None:
    """What the last step found damaged, and what became of it."""
    for line in collection.warnings:
        messages().print(f"periplus: {line}", soft_wrap=True, highlight=False)


def data() -> Console:
    """The console for what was asked for; a long line is never cut when nobody watches."""
    console = HarmlessConsole()
    return console if console.is_terminal else HarmlessConsole(width=WIDE)


def print_json(value: Any) -> None:
    text = msgspec.json.format(_encoder.encode(value), indent=2).decode()
    sys.stdout.write(escaped(text) + "\n")


def print_line(text: str = "") -> None:
    sys.stdout.write(harmless(text) + "\n")


def mark(sign: str, colour: str) -> Text:
    """One sign before a line that says how things stand."""
    return Text(sign, style=colour)


def facts(rows: list[tuple[str, str]]) -> Table:
    """A quiet two-column table: a name and its value."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def number(value: float) -> str:
    """12345 as 12,345; fractions to one place."""
    return f"{value:,.1f}" if isinstance(value, float) and not value.is_integer() else f"{int(value):,}"


def wait_of(seconds: float) -> str:
    """When something is due: ``now``, ``in 4.2 s``, ``in 23:59:46``."""
    if seconds < 60:
        return f"in {seconds:.1f} s" if seconds else "now"
    return f"in {timedelta(seconds=round(seconds))}"


def size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
