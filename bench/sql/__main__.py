"""``periplus export --to postgresql://…`` over one connection and over several, in turns.

    make bench-export-sql                                         # 5,000 made documents, three rounds
    make bench-export-sql ARGS="--documents 20000 --passages passages.jsonl --connections 1 2 4"

Each export goes into an empty schema of one PostgreSQL server on the same machine. ``--before TREE`` has another
checkout take turns, by its own Python; it must know ``export --to``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg
from bench.frontier.server import postgresql
from bench.scale.corpus import pages, read_sentences

PERIPLUS = Path(sys.executable).with_name("periplus")
PROSE = Path(__file__).resolve().parents[1] / "index" / "prose.txt"
OUT = Path("build/bench-export-sql.json")


class Turn(NamedTuple):
    name: str
    seconds: float
    cpu: float  # of our processes; those of PostgreSQL are not in it
    rows: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-export-sql", description=__doc__)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--passages", type=Path, help="lines of JSON with a text each; without, sentences of ours")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--before", type=Path, help="another checkout, with its environment")
    asked = parser.parse_args()
    turns: list[Turn] = []
    with tempfile.TemporaryDirectory(prefix="bench-export-sql-") as temporary, postgresql(None) as address:
        collection = Path(temporary) / "collection"
        make_collection(collection, asked.passages, asked.documents)
        for number in range(asked.rounds):
            for count in asked.connections:
                flags = ["--connections", str(count)]
                turns.append(export(str(count), PERIPLUS, collection, address, f"s{number}_{count}", flags))
            if asked.before is not None:
                before = asked.before / ".venv/bin/periplus"
                turns.append(export("before", before, collection, address, f"s{number}_before", []))
    report(turns, asked.documents)


def make_collection(folder: Path, passages: Path | None, documents: int) -> None:
    if passages is not None:
        sentences = read_sentences(passages)
    else:
        sentences = [[line] for line in PROSE.read_text(encoding="utf-8").splitlines() if line]
    rows = folder.with_name("rows.jsonl")
    with rows.open("w", encoding="utf-8") as file:
        for page in pages(sentences, documents):
            file.write(json.dumps({"id": page.url, **page._asdict()}) + "\n")
    for verb in (["import", str(rows)], ["index"]):
        subprocess.run([PERIPLUS, *verb, "--dir", str(folder)], check=True, capture_output=True)


def export(name: str, program: Path, folder: Path, address: str, schema: str, flags: list[str]) -> Turn:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        target = f"{address}&options=-csearch_path%3D{schema}"
        words = [program, "export", "--to", target, "--dir", str(folder), "--json", *flags]
        before, began = used(), time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
        seconds = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(done.stderr)
        rows = sum(table["rows"] for table in json.loads(done.stdout))
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    return Turn(name, seconds, used() - before, rows)


def used() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def report(turns: list[Turn], documents: int) -> None:
    names = list(dict.fromkeys(turn.name for turn in turns))
    print(f"{documents:,} documents, {len(turns) // len(names)} rounds in turns, medians; {os.cpu_count()} cores\n")
    print("| connections | rows | s | documents/s | our CPU s | beside the first |\n|--:|--:|--:|--:|--:|--:|")
    first = 0.0
    for name in names:
        mine = [turn for turn in turns if turn.name == name]
        wall, cpu = median(turn.seconds for turn in mine), median(turn.cpu for turn in mine)
        first = first or wall
        print(f"| {name} | {mine[0].rows:,} | {wall:.1f} | {documents / wall:.0f} | {cpu:.1f} | {first / wall:.2f} |")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([turn._asdict() for turn in turns], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
