"""Engines build their indexes in turns, a stretch of passages each, so that all meet the machine in the same state.

    python -m bench.index.turns PASSAGES CACHE [NAME ...]      # documents a CPU-second of each, and times the last

Each engine is a process of its own, and waits while another has its turn. What an engine does behind its caller's back
(tantivy indexes and merges on threads of its own) goes on meanwhile, and counts as its own time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.index import corpus
from bench.index.contenders import BUILDERS, BUILT_ONLY


class Engine:
    """A build that goes on when it is told to."""

    def __init__(self, name: str, passages: Path, cache: Path) -> None:
        command = [sys.executable, "-m", "bench.index.build", name, str(passages), str(cache), "--turns"]
        self._process = subprocess.Popen(
            command, cwd=corpus.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.result: dict[str, Any] | None = None
        self._hear()

    def go_on(self) -> None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._hear()

    def _hear(self) -> None:
        """Wait until it asks for its next turn, or is done."""
        line = self._process.stdout.readline()
        if line != "turn\n":
            self._process.stdin.close()
            if self._process.wait():
                raise SystemExit(f"{self._process.args[3]} failed")
            self.result = json.loads(line)


def in_turns(names: list[str], passages: Path, cache: Path) -> dict[str, dict[str, Any]]:
    engines = {name: Engine(name, passages, cache) for name in names}
    while any(engine.result is None for engine in engines.values()):
        for engine in engines.values():
            if engine.result is None:
                engine.go_on()
    return {name: engine.result or {} for name, engine in engines.items()}


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.index.turns", description=__doc__)
    options.add_argument("passages", type=Path)
    options.add_argument("cache", type=Path)
    options.add_argument("names", nargs="*", default=["periplus", "tantivy"], metavar="NAME")
    found = options.parse_args()
    if unknown := set(found.names) - {*BUILDERS, *BUILT_ONLY}:
        options.error(f"no such engine: {', '.join(sorted(unknown))}")
    results = in_turns(found.names, found.passages.resolve(), found.cache.resolve())
    peer = results[found.names[-1]]
    for name, built in results.items():
        speed = built["documents"] / built["cpu"]
        times = speed / (peer["documents"] / peer["cpu"])
        print(f"{name}: {speed:,.0f} documents a CPU-second, {times:.2f} times; {json.dumps(built)}")


if __name__ == "__main__":
    main()
