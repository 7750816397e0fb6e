"""``periplus analyze``: from text to terms, step by step."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, facts, print_json


def analyze(
    text: Annotated[str, typer.Argument(help="any text")],
    lang: Annotated[str, typer.Option("--lang", help="language of the text, such as en")] = "",
    json: opt.Json = False,
) -> None:
    """Show the terms that a text is indexed and searched by."""
    from periplus.text import analysis_steps

    text = opt.typed(text)
    steps = analysis_steps(text, lang)
    if json:
        print_json({"text": text, "language": lang, "steps": steps})
        return
    by_name = {step["step"]: step for step in steps}
    console = data()
    console.print(facts([(name, step["text"]) for name, step in by_name.items() if "text" in step]))
    if "words" in by_name and "terms" in by_name:
        console.print(_words(by_name["words"]["words"], by_name["terms"]["terms"]))


def _words(words: list[dict[str, Any]], terms: list[dict[str, Any]]) -> Table:
    """A row a word: where it stands, and the forms it is found by with their shares of its weight."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("position", "place", "word", "found by"):
        table.add_column(name)
    for word, term in zip(words, terms, strict=False):
        forms = ", ".join(f"{form['term']} ({form['share']:g})" for form in term["forms"])
        table.add_row(str(term["position"]), f"{word['start']}-{word['end']}", word["word"], forms)
    return table
