"""``make bench-extract``: how well extractors find the main text of pages labelled by hand, and what they cost."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.extract import inspecting, report
from bench.extract.contenders import CONTENDERS, TIMED, UNTIMED
from bench.extract.labels import HALVES, Label, Reference, load, reference
from bench.extract.pages import Missing, fetch
from bench.extract.scoring import Result, mean_score, score, times

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-extract"
ROUNDS = 5
WORST = 12
PACKAGES = ("periplus", "trafilatura", "resiliparse", "justext", "selectolax", "lxml")


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-extract", description=__doc__)
    options.add_argument("--cache", type=Path, default=CACHE, help="where packages are kept")
    options.add_argument("--json", type=Path, default=CACHE / "result.json", help="where the figures go")
    options.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds of timing, 0 for none ({ROUNDS})")
    options.add_argument("--worst", type=int, default=WORST, help=f"pages of the tuning half to list ({WORST})")
    options.add_argument("--half", choices=HALVES, help="only this half, and nothing of the other")
    verbs = options.add_subparsers(dest="verb")
    verbs.add_parser("verify", help="check that labels fit the pages, and stop")
    for verb, meaning in (("show", "a page with numbered blocks"), ("why", "what Periplus misses and adds on a page")):
        one = verbs.add_parser(verb, help=meaning)
        one.add_argument("site")
        one.add_argument("path", help="the path, or how it ends")
    return options.parse_args()


def references(labels: list[Label], cache: Path) -> list[Reference]:
    """The labelled pages; one whose text has changed since it was labelled is left out with a word about it."""
    bodies = fetch([(label.package, label.site, label.path) for label in labels], cache)
    found = []
    for label in labels:
        body = bodies[label.site, label.path]
        try:
            found.append(reference(label, body))
        except ValueError as problem:
            print(f"left out: {problem}", file=sys.stderr)
            continue
        if hashlib.sha256(body).hexdigest() != label.sha256:
            print(f"changed around its main text: {label.name}", file=sys.stderr)
    return found


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def figures(results: list[Result], seconds: dict[str, list[float]]) -> dict[str, object]:
    """Means of both halves; single pages only of the tuning half, so that nobody tunes on the other by accident."""
    names = list(results[0].scores)
    pages = [
        {"site": one.page.label.site, "path": one.page.label.path}
        | {name: found._asdict() for name, found in one.scores.items()}
        for one in results
        if one.page.label.half == "tuning"
    ]
    means = {
        half: {"pages": len(chosen)} | {name: mean_score(chosen, name)._asdict() for name in names}
        for half in HALVES
        if (chosen := [one for one in results if one.page.label.half == half])
    }
    cost = {name: sum(taken) / len(taken) for name, taken in seconds.items()}
    return {"versions": versions(), "means": means, "cpu_seconds_a_page": cost, "tuning_pages": pages}


def bench(options: argparse.Namespace, labels: list[Label]) -> int:
    chosen = [label for label in labels if options.half in (None, label.half)]
    pages = references(chosen, options.cache)
    contenders = {name: make() for name, make in CONTENDERS.items()}
    results = score(pages, contenders)
    timed = contenders | {name: make() for name, make in TIMED.items()}
    del timed[UNTIMED]
    seconds = times(pages, timed, options.rounds) if options.rounds else {}
    halves = {half: [one for one in results if one.page.label.half == half] for half in HALVES}
    if table := halves["table"]:
        print(
            f"# Main text: {len(table)} pages of {len({one.page.label.site for one in table})} sites, never tuned on\n"
        )
        taken = {
            name: [spent for page, spent in zip(pages, rows, strict=True) if page.label.half == "table"]
            for name, rows in seconds.items()
        }
        print(report.quality(table, taken) + "\n\n" + report.kinds(table) + "\n")
    if tuning := halves["tuning"]:
        means = ", ".join(f"{name} {mean_score(tuning, name).f1:.3f}" for name in contenders)
        print(f"## Tuning half: {len(tuning)} pages\n\nF1: {means}. Periplus' worst pages:\n")
        print(report.worst(tuning, options.worst))
    if seconds:
        size = sum(len(page.body) for page in pages) / len(pages) / 1000
        print(f"\nCPU times: {options.rounds} rounds, {size:.0f} kB a page, load {os.getloadavg()[0]:.1f}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(figures(results, seconds), indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


def inspect(options: argparse.Namespace, labels: list[Label]) -> int:
    wanted = [label for label in labels if label.site == options.site and label.path.endswith(options.path)]
    if len(wanted) != 1:
        print(f"{len(wanted)} labelled pages fit; name one", file=sys.stderr)
        return 2
    if options.verb == "why" and wanted[0].half != "tuning":
        print("this page is for the table only; look at pages of the tuning half", file=sys.stderr)
        return 2
    page = references(wanted, options.cache)[0]
    print(inspecting.shown(page) if options.verb == "show" else inspecting.reasons(page))
    return 0


def main() -> int:
    options = read_options()
    labels = load()
    try:
        if options.verb == "verify":
            fitting = len(references(labels, options.cache))
            print(f"{fitting} of {len(labels)} labels fit their pages")
            return 0 if fitting == len(labels) else 1
        return inspect(options, labels) if options.verb else bench(options, labels)
    except Missing as missing:
        print(f"bench-extract: {missing}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
