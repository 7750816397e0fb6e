"""``make bench-search``: latency of ``Engine.search`` with the result cache off, one thread, and its parts.

    make bench-search ARGS="--documents passages.jsonl --queries ../shared/data/queries/million-query-10000.txt"

Time is what the thread itself computed (``thread_time``), so that a busy machine does not count, and beside it the
time on the wall. The corpus is a ``.jsonl`` of documents, imported and indexed below ``build/``, or a collection.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.records import SearchRequest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-search"
QUERIES = ROOT.parent / "shared" / "data" / "queries" / "million-query-10000.txt"
SHARES = (0.5, 0.9, 0.95, 0.99, 1.0)
SEED = 11


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-search", description=__doc__)
    corpus = options.add_mutually_exclusive_group(required=True)
    corpus.add_argument("--collection", type=Path, help="a collection that is indexed already")
    corpus.add_argument("--documents", type=Path, help="documents as .jsonl")
    options.add_argument("--queries", type=Path, default=QUERIES, help="one query a line")
    options.add_argument("--count", type=int, default=1_000, help="queries asked, after as many to warm up")
    options.add_argument("--random", type=int, default=0, help="also so many random byte strings")
    options.add_argument("--profile", default="periplus")
    options.add_argument("--json", type=Path, default=CACHE / "result.json")
    return options.parse_args()


def opened(options: argparse.Namespace) -> Collection:
    if options.collection:
        return Collection.existing(options.collection)
    folder = CACHE / options.documents.stem
    if not (folder / "index" / "manifest.json").exists():
        with Collection(folder) as fresh:
            import_paths(fresh, [options.documents])
            fresh.index()
    return Collection.existing(folder)


def random_strings(count: int) -> list[str]:
    chance = random.Random(SEED)
    return [chance.randbytes(chance.randrange(1, 80)).decode("utf-8", "surrogateescape") for _ in range(count)]


def asked(collection: Collection, queries: list[str], profile: str) -> dict[str, Any]:
    """Every query once, each different from the last so that no answer comes from the cache."""
    computed, waited, found, degraded = [], [], 0, 0
    for query in queries:
        began, thread = time.perf_counter(), time.thread_time()
        answer = collection.engine.search(SearchRequest(query, profile=profile))
        computed.append((time.thread_time() - thread) * 1000)
        waited.append((time.perf_counter() - began) * 1000)
        found += bool(answer.results)
        degraded += "budget" in answer.degraded
    return {"queries": len(queries), "found": found, "over_budget": degraded} | {
        "computed_ms": _shares(computed),
        "wall_ms": _shares(waited),
    }


def _shares(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    shares = {f"p{share * 100:g}": ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in SHARES}
    return {"mean": sum(times) / max(len(times), 1), **shares}


def table(results: dict[str, Any]) -> str:
    lines = ["| queries | time, ms | mean | p50 | p90 | p95 | p99 | most |", "|---|---|---|---|---|---|---|---|"]
    for name, figures in results.items():
        for kind in ("computed_ms", "wall_ms"):
            cells = " | ".join(f"{value:.2f}" for value in figures[kind].values())
            lines.append(f"| {figures['queries']} {name} | {kind.removesuffix('_ms')} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    options = read_options()
    with opened(options) as collection:
        lines = list(dict.fromkeys(options.queries.read_text(encoding="utf-8").splitlines()))
        collection.engine.warm()
        asked(collection, lines[options.count : 2 * options.count] or lines[: options.count], options.profile)
        results = {"real": asked(collection, lines[: options.count], options.profile)}
        if options.random:
            results["random"] = asked(collection, random_strings(options.random), options.profile)
        documents = collection.status()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(table(results))
    print(f"\n{documents}\nfigures: {options.json}", file=sys.stderr)


if __name__ == "__main__":
    main()
