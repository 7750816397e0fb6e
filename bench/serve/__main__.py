"""``make bench-serve``: searches a second and their times over HTTP, at 1, 8 and 64 connections, server on one core.

    make bench-serve ARGS="--documents passages.jsonl"            # what ../shared/localweb/passages makes
    make bench-serve ARGS="--documents passages.jsonl --quick"    # short rounds, to see that it works

wrk (Debian: ``apt install wrk``) asks from another core. Without the cache every query of 10,000 is asked in turn; with
it, the same 500 again and again, after a round that fills it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.request import urlopen

from bench.serve.servers import build_tantivy

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-serve"
QUERIES = ROOT.parent / "shared" / "data" / "queries" / "million-query-10000.txt"
SCRIPT = Path(__file__).with_name("requests.lua")
CONNECTIONS = (1, 8, 64)
JSON_PATH, PAGE_PATH = "/api/v1/search?q=", "/search?q="
FEW = 500  # queries of a round with the cache on
SERVER_CORE, CLIENT_CORE = 0, 1


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-serve", description=__doc__)
    options.add_argument("--documents", type=Path, required=True, help="documents as .jsonl: id, url, title, text")
    options.add_argument("--collection", type=Path, help="a collection of the same documents that is there already")
    options.add_argument("--queries", type=Path, default=QUERIES, help="one query a line")
    options.add_argument("--seconds", type=int, default=20, help="of one round")
    options.add_argument("--quick", action="store_true", help="rounds of 3 seconds")
    options.add_argument("--only", nargs="*", default=[], help="names of contenders")
    options.add_argument("--connections", nargs="*", type=int, default=CONNECTIONS, help="connections of a round")
    options.add_argument("--repeat", type=int, default=1, help="rounds of each, contenders in turn; the medians count")
    options.add_argument("--json", type=Path, default=CACHE / "result.json")
    return options.parse_args()


def prepared(documents: Path, collection: Path | None = None) -> tuple[Path, Path]:
    """The collection and the peer's index of these documents, built once."""
    ours, theirs = collection or CACHE / f"{documents.stem}-periplus", CACHE / f"{documents.stem}-tantivy"
    if not (ours / "index" / "manifest.json").exists():
        from periplus.app import Collection
        from periplus.app.importing import import_paths

        with Collection(ours) as fresh:
            import_paths(fresh, [documents])
            fresh.index()
    if not theirs.exists():
        with documents.open(encoding="utf-8") as lines:
            build_tantivy((json.loads(line) for line in lines), theirs)
    return ours, theirs


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """The address of a server that runs until the end of the block."""
    command = [sys.executable, "-m", "bench.serve.servers", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line:
                raise SystemExit(f"{arguments[0]} did not start")
            yield json.loads(line)["address"].rstrip("/")
        finally:
            server.terminate()


def ask(address: str, path: str, queries: Path, connections: int, seconds: int, few: bool) -> dict[str, Any]:
    first, count = (1, FEW) if few else (1, 10_000)
    command = ["taskset", "-c", str(CLIENT_CORE), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPT)]
    command += [address, "--", path, str(queries), str(first), str(count)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    found["a_second"] = round(found["requests"] / found["seconds"], 1)
    return found


def warm_up(address: str, path: str, queries: Path, seconds: int, few: bool) -> None:
    """One round; with the cache on, every query of a round once, so that it is in the cache."""
    if not few:
        ask(address, path, queries, 4, seconds, few)
        return
    with queries.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, FEW):
            with urlopen(f"{address}{path}{quote(line.strip())}") as answer:
                answer.read()


def contenders(ours: Path, theirs: Path) -> dict[str, tuple[tuple[str, ...], str, bool]]:
    """Name → how the server is started, what is asked, whether the cache is on."""
    core = str(SERVER_CORE)
    cached, plain = ("periplus", str(ours), core), ("periplus", str(ours), core, "--no-cache")
    return {
        "periplus JSON": (plain, JSON_PATH, False),
        "tantivy JSON": (("tantivy", str(theirs), core), JSON_PATH, False),
        "periplus page": (plain, PAGE_PATH, False),
        "periplus JSON, cache": (cached, JSON_PATH, True),
        "periplus page, cache": (cached, PAGE_PATH, True),
    }


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Contenders in turn, since the speed of a machine differs from minute to minute; servers wait meanwhile."""
    seconds = 3 if options.quick else options.seconds
    known = contenders(*prepared(options.documents, options.collection))
    chosen = {name: row for name, row in known.items() if not options.only or name in options.only}
    rounds: dict[tuple[str, int], list[dict[str, Any]]] = {}
    with ExitStack() as servers:
        addresses: dict[tuple[str, ...], str] = {}
        for arguments, path, few in chosen.values():
            if arguments not in addresses:
                addresses[arguments] = servers.enter_context(running(*arguments))
            warm_up(addresses[arguments], path, options.queries, seconds, few)
        for _ in range(options.repeat):
            for connections, (name, (arguments, path, few)) in itertools.product(options.connections, chosen.items()):
                figures = ask(addresses[arguments], path, options.queries, connections, seconds, few)
                rounds.setdefault((name, connections), []).append(figures)
    return [
        {"contender": name, "connections": connections, **middle(rounds[name, connections])}
        for name, connections in itertools.product(chosen, options.connections)
    ]


def middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure; errors add up."""
    found = {name: median(figures[name] for figures in rounds) for name in rounds[0]}
    return {**found, "wrong": sum(figures["wrong"] for figures in rounds)}


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| server | connections | requests/s | p50 ms | p99 ms | KB an answer | errors |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        size = row["bytes"] / max(row["requests"], 1) / 1000
        lines.append(
            f"| {row['contender']} | {row['connections']} | {row['a_second']:.0f} | {row['p50_ms']:.1f} |"
            f" {row['p99_ms']:.1f} | {size:.1f} | {row['wrong']} |"
        )
    return "\n".join(lines)


def main() -> None:
    options = read_options()
    for tool in ("wrk", "taskset"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is missing; on Debian: apt install {'wrk' if tool == 'wrk' else 'util-linux'}")
    load = os.getloadavg()[0]
    rows = measured(options)
    print(table(rows))
    print(f"\nload before: {load:.1f} on {os.cpu_count()} cores")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"load": load, "rows": rows}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
