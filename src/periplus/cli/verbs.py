"""The table of verbs. Each is a function in a file of its own name, imported only when it runs or helps."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Verb(NamedTuple):
    name: str
    group: str
    summary: str  # the first sentence of its function, for the list of verbs


FIRST = "First voyage"
BUILD = "Build a collection"
ASK = "Ask it"
WATCH = "Watch and steer"
TOOLS = "Tools"

VERBS = (
    Verb("demo", FIRST, "Crawl, index, rank and serve a small web that ships with Periplus; no network needed."),
    Verb("up", FIRST, "Crawl, index, rank and serve your sites, continuously, until Ctrl-C."),
    Verb("crawl", BUILD, "Fetch pages from the given addresses on, or go on where the last crawl stopped."),
    Verb(
        "import",
        BUILD,
        "Import archives (WARC, WET, ARC, WACZ), .jsonl or Parquet (id, url, title, text), or folders of HTML files.",
    ),
    Verb("index", BUILD, "Build or update the index from what is stored."),
    Verb("reshard", BUILD, "Spread the documents of the index over so many shards, while searches and updates go on."),
    Verb("rank", BUILD, "Compute PageRank of pages and hosts from the stored links."),
    Verb("serve", ASK, "Serve the search page and the API of a collection, or of several, until Ctrl-C."),
    Verb("shard", ASK, "Serve one shard of a collection to brokers until Ctrl-C."),
    Verb(
        "mcp",
        ASK,
        "Serve search, page, explain and site to agents by the Model Context Protocol, over stdio or HTTP.",
    ),
    Verb("search", ASK, "Search the collection."),
    Verb("suggest", ASK, "Complete a query from the titles and words of the collection."),
    Verb("explain", ASK, "Show why a page has its score for a query, or why it is not found."),
    Verb("status", WATCH, "Show how far the collection has come."),
    Verb("inspect", WATCH, "Follow one address from its discovery to the index, and say where it stopped and why."),
    Verb(
        "politeness",
        WATCH,
        "Check every request made against the gaps and robots rules in force; a violation is a failure.",
    ),
    Verb("pause", WATCH, "Let a running crawl finish its requests and wait."),
    Verb("resume", WATCH, "Let a paused crawl go on."),
    Verb("stop", WATCH, "End a running crawl; it can be taken up again later."),
    Verb("restart", WATCH, "Replace one worker of a running crawl."),
    Verb("remove", WATCH, "Take a page or a host out of archive, documents and index, and never fetch it again."),
    Verb("cluster", WATCH, "Start or join a cluster of machines, show it, take machines out, or end it."),
    Verb("keys", WATCH, "List, create or revoke the keys of programs that use the API; renew the operator's key."),
    Verb("backup", WATCH, "Back a collection up, while it is in use, to a folder or s3://bucket/prefix."),
    Verb("restore", WATCH, "Bring a backup back into a new folder, every byte checked."),
    Verb("verify", WATCH, "Check every byte of a collection, or of its backups; a damaged file is named."),
    Verb("doctor", WATCH, "Check the machine and every file of the collection; something broken is a failure."),
    Verb("analyze", TOOLS, "Show the terms that a text is indexed and searched by."),
    Verb("fetch", TOOLS, "Fetch one address as the crawler would, robots.txt first, and print its body."),
    Verb("move", TOOLS, "Move a collection to an object store and PostgreSQL, for many machines, or back to a folder."),
    Verb("parse", TOOLS, "Show the document that a page becomes: title, text, language, dates, links, signals."),
    Verb("pagerank", TOOLS, "Compute PageRank of an edge list: node, tab, rank; the ranks sum to 1."),
    Verb(
        "export",
        TOOLS,
        "Write addresses, documents, links, ranks or hosts to a Parquet or CSV file, results as a TREC run, a "
        "part of the archive as WARC, all of it as WACZ or listed as CDXJ, the index as CIFF; or everything to "
        "PostgreSQL.",
    ),
    Verb("evaluate", TOOLS, "Score ranking profiles on judged queries; host diversity and folding are off."),
    Verb("warm", TOOLS, "Compile the kernels once, so that no query waits for a compiler."),
)


class Verbs(TyperGroup):
    """The whole command line; its help is our own, without the half of rich that reads Markdown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from periplus.cli.overview import show_overview

        show_overview(self.get_params(ctx))


def application(words: Sequence[str] | None = None) -> typer.Typer:
    """The command line as typer knows it: of the verb that ``words`` name, the others by their names; or of all."""
    app = typer.Typer(
        name="periplus",
        cls=Verbs,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_top)
    named = next((word for word in words if not word.startswith("-")), "") if words is not None else ""
    for verb in VERBS:
        function = _function(verb) if words is None or verb.name == named else _elsewhere
        app.command(verb.name, rich_help_panel=verb.group)(function)
    return app


def _function(verb: Verb) -> Callable[..., None]:
    module = import_module(f"periplus.cli.{verb.name}_verb")
    found: Callable[..., None] = getattr(module, verb.name, None) or getattr(module, f"{verb.name}_")  # no keyword
    return found


def _elsewhere() -> None:
    """Stands for a verb that is not asked for: to import them all takes as long as a search."""


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
    """Periplus: a complete web search engine in one folder."""
