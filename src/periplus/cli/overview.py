"""``periplus --help``: what there is to do, in the order in which one does it."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from periplus.cli.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDEST = max(len(verb.name) for verb in VERBS)


def show_overview(options: Iterable[Any]) -> None:
    """All verbs by their groups, and the options that belong to none."""
    console = Console(highlight=False)
    console.print(Text.assemble("\n ", ("Usage: ", "yellow"), ("periplus [OPTIONS] COMMAND [ARGS]...", "bold"), "\n"))
    console.print(Text.assemble(" ", ("Periplus", "bold"), ": a complete web search engine in one folder.\n"))
    first, second = ("periplus demo", "bold"), ("periplus up https://your.site/", "bold")
    console.print(Text.assemble(" Start with ", first, ", then ", second, ".\n"))
    console.print(_panel("Options", [(option.opts[0], option.help or "") for option in options]))
    for group, verbs in groupby(VERBS, attrgetter("group")):
        console.print(_panel(group, [(verb.name, verb.summary) for verb in verbs]))
    console.print()


def _panel(title: str, rows: Iterable[tuple[str, str]]) -> Panel:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False, expand=True)
    table.add_column(style="bold cyan", no_wrap=True, width=WIDEST)
    table.add_column(ratio=1)
    for name, summary in rows:
        table.add_row(name, Text(summary))
    return Panel(table, title=title, title_align="left", border_style="dim")
