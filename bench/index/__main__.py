"""``make bench-index``: the same passages and questions for every engine; prints the tables."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.index import corpus, report, rounds
from bench.index.contenders import BUILDERS, CONTENDERS, folder_of, single_thread

CACHE = corpus.ROOT / "build" / "bench-index"
HOURS = 2 * 3600


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-index", description=__doc__)
    options.add_argument("--web", type=Path, help="a local web; without it, ../shared/localweb/get makes a large one")
    options.add_argument("--documents", type=int, default=sys.maxsize, help="at most so many passages")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), metavar="NAME")
    options.add_argument("--no-build", action="store_true", help="ask the indexes of the last run")
    options.add_argument("--cache", type=Path, default=CACHE, help="where passages and indexes are kept")
    options.add_argument("--json", type=Path, default=None, help="where the figures go")
    return options.parse_args()


def build(name: str, passages: Path, cache: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.index.build", name, str(passages), str(cache)]
    done = subprocess.run(command, cwd=corpus.ROOT, capture_output=True, text=True, timeout=HOURS, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def opened(names: list[str], cache: Path) -> dict[str, Any]:
    engines = {}
    for name in names:
        engines[name] = CONTENDERS[name]()
        engines[name].open(folder_of(name, cache))
    return engines


def main() -> None:
    options = read_options()
    single_thread()
    web = options.web or made_web(options.cache)
    passages = options.cache / "passages.jsonl"
    corpus.make(web, passages, options.documents)
    asked, prose = corpus.queries(passages)
    builds = {}
    for name in [] if options.no_build else [name for name in BUILDERS if name in options.only]:
        builds[name] = build(name, passages, options.cache)
        print(f"built {name}: {json.dumps(builds[name])}", file=sys.stderr, flush=True)
    names = [name for name in options.only if "failed" not in builds.get(name, {})]
    engines = opened(names, options.cache)
    found = {
        "asked": rounds.measure(engines, asked, options.rounds),
        "prose": rounds.measure(engines, prose, options.rounds),
    }
    result = {"builds": builds, "queries": found}
    target = options.json or options.cache / "result.json"
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.tables(result))


def made_web(cache: Path) -> Path:
    web = cache / "web"
    if not web.exists():
        subprocess.run([corpus.SHARED / "localweb" / "get", web, "large"], check=True)
    return web


if __name__ == "__main__":
    main()
