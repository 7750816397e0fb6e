"""Times of ``--help`` and ``search``, memory of ``serve`` and ``up``; beside another tree of sources, in turns.

    python -m bench.start --collection FOLDER [--before TREE] [--rounds 9] [--searches 800]

``TREE`` is a checkout of another commit (``git worktree add``); it runs with the same packages. Each tree gets a copy
of the collection that it indexes and ranks itself, since versions differ in what they keep.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from bench.start.commands import Figures, timed
from bench.start.memory import measured_server

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {"help": ["--help"], "search": ["search", "transaction isolation level"]}


def main() -> None:
    options = _options()
    trees = {"now": ROOT}
    if options.before:
        trees = {"before": Path(options.before).resolve(), **trees}
    with tempfile.TemporaryDirectory() as folder:
        copies = {name: _prepared(tree, Path(options.collection), Path(folder) / name) for name, tree in trees.items()}
        found = {
            "times": _times(trees, copies, options.rounds),
            "memory": {name: _memory(tree, copies[name], options.searches) for name, tree in trees.items()},
        }
    _print(found)
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "bench-start.json").write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collection", required=True)
    parser.add_argument("--before", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--searches", type=int, default=800)
    return parser.parse_args()


def environment(tree: Path) -> dict[str, str]:
    """As users have it: modules are compiled to bytecode once."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | {"PYTHONPATH": str(tree / "src")}


def _prepared(tree: Path, collection: Path, copy: Path) -> Path:
    shutil.copytree(collection, copy)
    for verb in ("index", "rank"):
        timed([sys.executable, "-m", "periplus", verb, "--dir", str(copy)], environment(tree))
    return copy


def _times(trees: dict[str, Path], copies: dict[str, Path], rounds: int) -> dict[str, dict[str, Figures]]:
    every: dict[str, dict[str, list[Figures]]] = {name: {verb: [] for verb in COMMANDS} for name in trees}
    for turn in range(rounds + 1):
        for name, tree in trees.items():
            for verb, words in COMMANDS.items():
                place = ["--dir", str(copies[name])] if verb == "search" else []
                figures = timed([sys.executable, "-m", "periplus", *words, *place], environment(tree))
                if turn:  # the first one warms the caches of the system
                    every[name][verb].append(figures)
    return {name: {verb: _middle(some) for verb, some in verbs.items()} for name, verbs in every.items()}


def _middle(some: list[Figures]) -> Figures:
    return Figures(*(statistics.median(column) for column in zip(*some, strict=True)))


def _memory(tree: Path, collection: Path, searches: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for verb in ("serve", "up"):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "collection"
            shutil.copytree(collection, copy)
            words = [sys.executable, "-m", "periplus", verb, "--dir", str(copy), "--port", "0"]
            for moment, figures in measured_server(words, environment(tree), searches).items():
                found[f"{verb}, {moment}"] = figures
    return found


def _print(found: dict[str, dict[str, dict[str, object]]]) -> None:
    print("| tree | command | seconds | CPU s | MB |\n|---|---|--:|--:|--:|")
    for name, verbs in found["times"].items():
        for verb, figures in verbs.items():
            seconds, cpu, peak = figures  # type: ignore[misc]
            print(f"| {name} | {verb} | {seconds:.2f} | {cpu:.2f} | {peak:.0f} |")
    print("\n| tree | moment | RSS | PSS | anonymous | processes |\n|---|---|--:|--:|--:|--:|")
    for name, moments in found["memory"].items():
        for moment, held in moments.items():
            figures = " | ".join(f"{held[kind]:.0f}" for kind in ("Rss", "Pss", "Anonymous", "processes"))  # type: ignore[index]
            print(f"| {name} | {moment} | {figures} |")


if __name__ == "__main__":
    main()
