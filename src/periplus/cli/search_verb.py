"""``periplus search``: one query, answered on the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from msgspec import structs
from rich.padding import Padding
from rich.text import Text

from periplus.cli import options as opt
from periplus.cli.output import data, number, print_json, say_notice
from periplus.cli.warming import ready_kernels
from periplus.reasons import lacking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from periplus.records import Explanation, SearchAnswer, SearchResult


def search(
    query: Annotated[str, typer.Argument(help='what to look for, such as: tide tables "spring tide" site:example.org')],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    k: Annotated[int, typer.Option("-k", "--size", help="results a page")] = 10,
    page: Annotated[int, typer.Option(help="which page of results")] = 1,
    profile: Annotated[str, typer.Option(help="ranking profile")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="show the parts of each score")] = False,
    exact: Annotated[bool, typer.Option("--exact", help="search for what was typed, uncorrected")] = False,
    json: opt.Json = False,
) -> None:
    """Search the collection."""
    from periplus.app import Collection

    reader = "" if json else terminal_language(os.environ)  # programs get the same everywhere

    with Collection.existing(directory) as collection:
        ready_kernels()
        say_notice(collection)
        answer = collection.search(
            opt.typed(query), k, page=page, profile=profile, explain=explain, correct=not exact, reader=reader
        )
        answer = structs.replace(answer, answers=collection.answers(opt.typed(query), explain=explain))
    if json:
        print_json(answer)
    else:
        show_answer(answer)


def terminal_language(environ: Mapping[str, str]) -> str:
    """The language that a person's terminal is set to, as ``de``; empty where it is set to none."""
    name = next((value for key in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environ.get(key))), "")
    language = name.partition(".")[0].partition("_")[0]
    return language.lower() if len(language) in (2, 3) and language.isalpha() else ""


def show_answer(answer: SearchAnswer) -> None:
    """The answer as a person reads it."""
    console = data()
    if answer.query.corrected:
        corrected = (answer.query.corrected, "bold")
        console.print(Text.assemble("showing results for ", corrected, "; --exact searches for what was typed"))
    elif answer.corrections:
        console.print(Text.assemble("did you mean ", (answer.corrections[0], "bold"), "?"))
    for computed in answer.answers or ():
        sign = " = " if computed.exact else " ≈ "
        console.print(Text.assemble(computed.question, sign, (computed.answer, "bold")))
        console.print(Padding(Text(computed.detail, style="dim"), (0, 0, 1, 0), expand=False))
    for result in answer.results:
        _show_result(console, result)
    about = "at least " if answer.total.relation == "gte" else ""
    found = f"{about}{number(answer.total.value)} found" if answer.total.value else "nothing found"
    following = f"; --page {answer.page + 1} goes on" if answer.next else ""
    console.print(f"{found} in {answer.took_ms:.1f} ms{following}", style="dim")
    said = [lacking(part) or f"Not everything could be searched: {part}." for part in answer.degraded]
    for sentence in dict.fromkeys(said):
        console.print(sentence, style="dim")


def _show_result(console: Console, result: SearchResult) -> None:
    console.print(Text.assemble((f"{result.rank:>3}  ", "dim"), (result.title or result.url, "bold")))
    console.print(Padding(Text(result.url, style="cyan", overflow="fold"), (0, 0, 0, 5), expand=False))
    snippet = Text(result.snippet)
    for start, end in result.highlights:
        snippet.stylize("bold yellow", start, end)
    if result.snippet:
        console.print(Padding(snippet, (0, 0, 0, 5), expand=False))
    if result.more_from_site:
        more = f"{number(result.more_from_site)} more from this host: add site:{urlsplit(result.url).hostname}"
        console.print(Padding(Text(more, style="dim"), (0, 0, 0, 5), expand=False))
    if result.explain is not None:
        show_explanation(console, result.explain, 5)
    console.print()


def show_explanation(console: Console, part: Explanation, indent: int = 0) -> None:
    """A tree of named parts, each with its formula in words."""
    line = Text.assemble((f"{part.value:10.4f}  ", "green"), part.name, (f"  {part.formula}", "dim"))
    console.print(Padding(line, (0, 0, 0, indent), expand=False))
    for child in part.parts:
        show_explanation(console, child, indent + 2)
