"""The table of verbs. Each is a function in a file of its own name, imported only when it runs or helps."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import typer


class Verb(NamedTuple):
    name: str
    group: str


FIRST = "First voyage"
BUILD = "Build a collection"
ASK = "Ask it"
WATCH = "Watch and steer"
TOOLS = "Tools"

VERBS = (
    Verb("demo", FIRST),
    Verb("up", FIRST),
    Verb("crawl", BUILD),
    Verb("import", BUILD),
    Verb("index", BUILD),
    Verb("rank", BUILD),
    Verb("serve", ASK),
    Verb("search", ASK),
    Verb("suggest", ASK),
    Verb("explain", ASK),
    Verb("status", WATCH),
    Verb("inspect", WATCH),
    Verb("politeness", WATCH),
    Verb("pause", WATCH),
    Verb("resume", WATCH),
    Verb("stop", WATCH),
    Verb("restart", WATCH),
    Verb("remove", WATCH),
    Verb("keys", WATCH),
    Verb("doctor", WATCH),
    Verb("analyze", TOOLS),
    Verb("fetch", TOOLS),
    Verb("parse", TOOLS),
    Verb("pagerank", TOOLS),
    Verb("export", TOOLS),
    Verb("evaluate", TOOLS),
    Verb("warm", TOOLS),
)


def application() -> typer.Typer:
    """The command line as typer knows it."""
    app = typer.Typer(
        name="periplus",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_top)
    for verb in VERBS:
        module = import_module(f"periplus.cli.{verb.name}_verb")
        function = getattr(module, verb.name, None) or getattr(module, f"{verb.name}_")  # import_ is no keyword
        app.command(verb.name, rich_help_panel=verb.group)(function)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from periplus import __version__
        from periplus.cli.output import print_line

        print_line(f"periplus {__version__}")
        raise typer.Exit


def _top(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="print the version"),
    debug: bool = typer.Option(False, "--debug", help="show where an error came from"),
) -> None:
    """[bold]Periplus[/]: a complete web search engine in one folder.

    Start with [bold]periplus demo[/], then [bold]periplus up https://your.site/[/].
    """
