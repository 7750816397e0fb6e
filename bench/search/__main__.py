"""``make bench-search``: latency of ``Engine.search`` with the result cache off, one thread; ``make soak-search``.

    make bench-search ARGS="--documents passages.jsonl --peer"
    make soak-search ARGS="--documents passages.jsonl"

From the string to ten finished results with snippets. Time is what the thread itself computed (``thread_time``), so
that a busy machine counts less, and beside it the time on the wall. The corpus is a ``.jsonl`` of documents, imported
and indexed below ``build/``, or a collection. ``--peer`` asks tantivy the same queries, ``--turn`` of them after as
many of ours, so that both meet the same machine and each has the processor's caches to itself for a while, as when it
serves alone. ``--soak`` asks 10,000 real queries and 10,000 random byte strings, and fails when one raises, takes
longer than the budget or memory grows.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.search.peer import Tantivy

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.app.thrift import settle
from periplus.records import SearchRequest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-search"
QUERIES = ROOT.parent / "shared" / "data" / "queries" / "million-query-10000.txt"
SHARES = (0.5, 0.9, 0.95, 0.99, 1.0)
SEED = 11
SOAKED = 10_000
TURN = 50
GROWTH = 100_000_000  # bytes of memory that the second half of a soak may add


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-search", description=__doc__)
    options.add_argument("--collection", type=Path, help="a collection that is indexed already")
    options.add_argument("--documents", type=Path, help="documents as .jsonl")
    options.add_argument("--queries", type=Path, default=QUERIES, help="one query a line")
    options.add_argument("--count", type=int, default=1_000, help="queries asked, after as many to warm up")
    options.add_argument("--random", type=int, default=0, help="also so many random byte strings")
    options.add_argument("--peer", action="store_true", help="ask tantivy, too; needs --documents")
    options.add_argument("--turn", type=int, default=TURN, help="queries in a row before the peer has its turn")
    options.add_argument("--soak", action="store_true", help=f"{SOAKED} real and {SOAKED} random queries, with bounds")
    options.add_argument("--profile", default="", help="the usual one unless another is named")
    options.add_argument("--json", type=Path, default=CACHE / "result.json")
    chosen = options.parse_args()
    if chosen.turn < 1:
        options.error("--turn takes a number from 1 on")
    if not (chosen.collection or chosen.documents) or (chosen.peer and not chosen.documents):
        options.error("name the corpus with --documents FILE (or --collection FOLDER, without --peer)")
    return chosen


def opened(options: argparse.Namespace) -> Collection:
    if options.collection:
        return Collection.existing(options.collection)
    folder = CACHE / options.documents.stem
    if not (folder / "index" / "manifest.json").exists():
        with Collection(folder) as fresh:
            fresh.create()
            import_paths(fresh, [options.documents])
            fresh.index()
    return Collection.existing(folder)


def random_strings(count: int) -> list[str]:
    chance = random.Random(SEED)
    return [chance.randbytes(chance.randrange(1, 80)).decode("utf-8", "surrogateescape") for _ in range(count)]


def asked(
    collection: Collection, queries: list[str], profile: str, peer: Tantivy | None = None, turn: int = TURN
) -> dict[str, Any]:
    """Every query once, each different from the last so that no answer comes from the cache."""
    computed, waited, theirs, found, degraded = [], [], [], 0, 0
    for first in range(0, len(queries), turn):
        several = queries[first : first + turn]
        for query in several:
            began, thread = time.perf_counter(), time.thread_time()
            answer = collection.engine.search(SearchRequest(query, profile=profile))
            computed.append((time.thread_time() - thread) * 1000)
            waited.append((time.perf_counter() - began) * 1000)
            found += bool(answer.results)
            degraded += "budget" in answer.degraded
        if peer is not None:
            theirs += [_asked_of(peer, query) for query in several]
    result: dict[str, Any] = {"queries": len(queries), "found": found, "over_budget": degraded} | {
        "computed_ms": _shares(computed),
        "wall_ms": _shares(waited),
    }
    if theirs:
        result["tantivy_ms"] = _shares(theirs)
    return result


def _asked_of(peer: Tantivy, query: str) -> float:
    thread = time.thread_time()
    peer.ask(query)
    return (time.thread_time() - thread) * 1000


def _shares(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    shares = {f"p{share * 100:g}": ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in SHARES}
    return {"mean": sum(times) / max(len(times), 1), **shares}


def table(results: dict[str, Any]) -> str:
    lines = ["| queries | time, ms | mean | p50 | p90 | p95 | p99 | most |", "|---|---|---|---|---|---|---|---|"]
    for name, figures in results.items():
        for kind in ("computed_ms", "wall_ms", "tantivy_ms"):
            if kind in figures:
                cells = " | ".join(f"{value:.2f}" for value in figures[kind].values())
                lines.append(f"| {figures['queries']} {name} | {kind.removesuffix('_ms')} | {cells} |")
    return "\n".join(lines)


def soak(collection: Collection, real: list[str], profile: str) -> tuple[dict[str, Any], list[str]]:
    """All queries, real and random in turn, with the figures and what went wrong."""
    budget = collection.settings.search.budget_ms
    queries = [query for pair in zip(real, random_strings(len(real)), strict=True) for query in pair]
    half = len(queries) // 2
    first = asked(collection, queries[:half], profile)
    before = _resident()
    second = asked(collection, queries[half:], profile)
    grown = _resident() - before
    slowest = max(part["computed_ms"]["p100"] for part in (first, second))
    wrong = [f"an answer took {slowest:.0f} ms, over the budget of {budget}"] if slowest > budget else []
    wrong += [f"memory grew by {grown} bytes in the second half"] if grown > GROWTH else []
    figures = {"first half": first, "second half": second, "grown": grown, "peak": _peak(), "budget_ms": budget}
    return figures, wrong


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    options = read_options()
    wrong: list[str] = []
    with opened(options) as collection:
        lines = list(dict.fromkeys(options.queries.read_text(encoding="utf-8").splitlines()))
        collection.engine.warm()
        settle()  # as the server does
        if options.soak:
            results, wrong = soak(collection, lines[:SOAKED], options.profile)
            print(table({name: value for name, value in results.items() if isinstance(value, dict)}))
            print(f"memory: {results['grown']:,} bytes more in the second half, {results['peak']:,} at the peak")
        else:
            peer = Tantivy(CACHE / f"{options.documents.stem}-tantivy", options.documents) if options.peer else None
            asked(collection, lines[options.count : 2 * options.count] or lines, options.profile, peer, options.turn)
            results = {"real": asked(collection, lines[: options.count], options.profile, peer, options.turn)}
            if options.random:
                results["random"] = asked(collection, random_strings(options.random), options.profile)
            print(table(results))
            if peer is not None:
                ratio = results["real"]["tantivy_ms"]["mean"] / results["real"]["computed_ms"]["mean"]
                print(f"\ntantivy's mean over ours: {ratio:.2f}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(f"\nfigures: {options.json}", file=sys.stderr)
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
