"""``make bench-rank``: draw the graphs, run every contender on them, print the tables."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.rank import graphs, report
from bench.rank.contenders import CONTENDERS
from bench.rank.equality import ALLOWED, GRAPHS, worst_difference

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-rank"
SIZES = {"small": (300_000, 3_000_000), "middle": (1_000_000, 10_000_000), "large": (5_000_000, 100_000_000)}
TARGET = 1e-9  # measured error in L1 that counts as done
HOURS = 2 * 3600


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-rank", description=__doc__)
    options.add_argument("--sizes", nargs="+", choices=SIZES, default=["small", "middle"], metavar="SIZE")
    options.add_argument("--all", action="store_true", help="all three sizes; the large one takes an hour and 16 GB")
    options.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), metavar="NAME")
    options.add_argument("--cache", type=Path, default=CACHE, help="where the graphs are kept")
    options.add_argument("--json", type=Path, default=CACHE / "result.json", help="where the figures go")
    return options.parse_args()


def run(*arguments: object) -> dict[str, Any]:
    """The answer of a worker; what went wrong when it failed."""
    command = [sys.executable, "-m", "bench.rank.worker", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=HOURS, env=environment, check=False
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def bench(size: str, cache: Path, names: list[str], known: dict[str, list[float]]) -> dict[str, Any]:
    vertices, edges = SIZES[size]
    folder = cache / size
    graphs.make(folder, vertices, edges)
    edges = len(graphs.Edges.load(folder).sources)
    reference = run("reference", folder, 0)
    found: dict[str, Any] = {"vertices": vertices, "edges": edges, "reference": reference, "contenders": {}}
    for name in names:
        if not CONTENDERS[name].smallest <= edges <= CONTENDERS[name].largest:
            continue
        answer = run(name, folder, TARGET, *known.get(name, []))
        if "tried" in answer:
            known[name] = [answer["tried"][-1]["setting"], *stricter(name, answer["tried"][-1]["setting"])]
        found["contenders"][name] = answer
        print(f"{size} {name}: {report.one_line(answer)}", file=sys.stderr, flush=True)
    return found


def stricter(name: str, setting: float) -> list[float]:
    return [value for value in CONTENDERS[name].settings if value < setting]


def as_exact_as_igraph(size: str, cache: Path, found: dict[str, Any]) -> None:
    """igraph's tolerance is fixed and strict: we are also timed at its error."""
    igraph = found["contenders"].get("igraph", {})
    if "tried" in igraph:
        settings = (1e-10, 3e-11, 1e-11, 3e-12, 1e-12, 3e-13, 1e-13, 1e-14)
        answer = run("periplus", cache / size, igraph["tried"][-1]["error"], *settings)
        found["contenders"]["periplus, as exact as igraph"] = answer
        print(f"{size} as exact as igraph: {report.one_line(answer)}", file=sys.stderr, flush=True)


def main() -> None:
    options = read_options()
    sizes = list(SIZES) if options.all else options.sizes
    worst = worst_difference()
    print(f"{GRAPHS} random graphs: ranks differ from igraph's by {worst:.0e} at most", file=sys.stderr, flush=True)
    if worst > ALLOWED:
        raise SystemExit(f"ranks differ from igraph's by {worst:.0e}, more than {ALLOWED:.0e}")
    known: dict[str, list[float]] = {}  # the setting that was strict enough at the size before
    results = {}
    for size in sizes:
        results[size] = bench(size, options.cache, options.only, known)
        as_exact_as_igraph(size, options.cache, results[size])
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(report.tables(results))
    print(f"\nfigures: {options.json}", file=sys.stderr)


if __name__ == "__main__":
    main()
