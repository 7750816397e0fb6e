"""What each step of a search costs: ``python -m bench.search.steps --collection FOLDER``.

The clock is the thread's own; a step is what its function computes without the steps inside it. The clocks themselves
take about a microsecond each, so the whole is a little more than without them.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.search.__main__ import QUERIES

from periplus.app import Collection
from periplus.app.thrift import settle
from periplus.records import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = {
    "understanding": "periplus.search.query.reading:understand",
    "planning": "periplus.search.query.plan:plan",
    "analysis of new words": "periplus.text.tokens:analyze",
    "looking up new terms": "periplus.index.reading.snapshot:Snapshot.known_all",
    "words as the collection knows them": "periplus.search.query.lexicon:Lexicon.known",
    "first pass": "periplus.index.reading.snapshot:Snapshot.top",
    "scores": "periplus.search.shards.shard:Shard.score",
    "hosts and fingerprints": "periplus.search.shards.shard:Shard._sorts",
    "near-duplicates, hosts": "periplus.search.ordering.listing:arranged",
    "list": "periplus.search.ordering.listing:run",
    "spelling": "periplus.search.answering.searching:Search._corrections",
    "words near a word": "periplus.search.suggesting.dictionary:SpellingDictionary.near",
    "stored documents": "periplus.index.reading.snapshot:Snapshot.stored_many",
    "places of words in texts": "periplus.search.shards.highlighter:ShownTexts.placed",
    "snippets": "periplus.search.shards.snippets:snippets",
    "results": "periplus.search.answering.answers:ResultPage.results",
    "everything else": "periplus.search.answering.engine:Engine.search",
}


class Clocks:
    """Nanoseconds of each step of the query at hand."""

    def __init__(self) -> None:
        self.spent: dict[str, int] = {}
        self._inside: list[int] = []

    def around(self, function: Callable[..., Any], step: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.thread_time_ns()
            self._inside.append(0)
            try:
                return function(*arguments, **named)
            finally:
                took = time.thread_time_ns() - began
                self.spent[step] = self.spent.get(step, 0) + took - self._inside.pop()
                if self._inside:
                    self._inside[-1] += took

        return timed

    def install(self) -> None:
        for step, path in STEPS.items():
            module, _, name = path.partition(":")
            owner: Any = importlib.import_module(module)
            *outer, last = name.split(".")
            for part in outer:
                owner = getattr(owner, part)
            function = getattr(owner, last)
            timed = self.around(function, step)
            holders = [owner] if outer else [m for m in list(sys.modules.values()) if _holds(m, last, function)]
            for holder in holders:
                setattr(holder, last, timed)


def _holds(module: Any, name: str, function: Any) -> bool:
    return getattr(module, "__name__", "").startswith("periplus") and vars(module).get(name) is function


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.search.steps", description=__doc__)
    options.add_argument("--collection", type=Path, required=True)
    options.add_argument("--count", type=int, default=1_000, help="queries asked, after as many to warm up")
    chosen = options.parse_args()
    queries = list(dict.fromkeys(QUERIES.read_text(encoding="utf-8").splitlines()))[: 2 * chosen.count]
    clocks = Clocks()
    rows: list[dict[str, int]] = []
    with Collection.existing(chosen.collection) as collection:
        collection.engine.warm()
        settle()  # as a server does
        clocks.install()
        for place, query in enumerate([*queries[chosen.count :], *queries[: chosen.count]]):
            clocks.spent = {}
            collection.engine.search(SearchRequest(query))
            if place >= len(queries) - chosen.count:
                rows.append(clocks.spent)
    print("| step | mean, µs | median |\n|---|--:|--:|")
    for step in STEPS:
        spent = [row.get(step, 0) / 1000 for row in rows]
        print(f"| {step} | {statistics.mean(spent):.0f} | {statistics.median(spent):.0f} |")
    whole = [sum(row.values()) / 1000 for row in rows]
    print(f"| all | {statistics.mean(whole):.0f} | {statistics.median(whole):.0f} |")


if __name__ == "__main__":
    main()
