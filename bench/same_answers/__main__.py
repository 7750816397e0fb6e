"""The same answers from two versions: ``make same-answers BEFORE=REVISION AFTER=REVISION``.

Either may be a revision or the folder of a checkout; without AFTER it is this one. Needs a local web (``--web``, as
../shared/localweb/get makes one) and the judged sets of ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from bench.same_answers.compare import ASPECTS, bad_sums, differences
from bench.same_answers.corpora import CORPORA, build, make

ROOT = Path(__file__).parents[2]
ASK = Path(__file__).with_name("ask.py")
REQUESTS = Path(__file__).with_name("requests")
PROCESSOR = "PERIPLUS_PROCESSOR"
SHOWN = 3  # requests of each kind and aspect that are printed


def main() -> None:
    options = _options()
    work = options.work
    before, after = _checkout(options.before, work), _checkout(options.after, work)
    report = Report()
    for corpus in CORPORA:
        if options.only and corpus.name not in options.only:
            continue
        stored = work / "stored" / corpus.name
        make(corpus, stored, before, options.web, options.data)
        sides = [
            _answers(before, corpus.name, stored, work / "before", keep=options.keep),
            _answers(after, corpus.name, stored, work / "after", keep=False, options=options),
        ]
        requests = [json.loads(line) for line in _lines(REQUESTS / f"{corpus.name}.jsonl")]
        for request, *answers in zip(requests, *sides, strict=True):
            report.add(corpus.name, request, *answers)
    report.show()
    sys.exit(1 if report.differs else 0)


class Report:
    """How many requests of each kind are answered alike, and examples of those that are not."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._differing: dict[str, Counter[str]] = defaultdict(Counter)
        self._examples: list[str] = []
        self._bad_sums: Counter[str] = Counter()

    @property
    def differs(self) -> bool:
        return bool(self._differing or self._bad_sums)

    def add(self, corpus: str, request: dict[str, Any], before: Any, after: Any) -> None:
        kind = request["kind"]
        self._asked[kind] += 1
        if bad_sums(after):
            self._bad_sums[kind] += 1
        for aspect in differences(before, after):
            self._differing[kind][aspect] += 1
            if self._differing[kind][aspect] <= SHOWN:
                self._examples.append(f"{kind}, {aspect}, {corpus}: {json.dumps(request, ensure_ascii=False)}")

    def show(self) -> None:
        print(f"| kind | requests | {' | '.join(ASPECTS)} | sums |\n|---|--:|{'--:|' * (len(ASPECTS) + 1)}")
        for kind, count in self._asked.items():
            cells = " | ".join(
                str(self._differing[kind][aspect] if kind in self._differing else 0) for aspect in ASPECTS
            )
            print(f"| {kind} | {count} | {cells} | {self._bad_sums[kind]} |")
        print(f"\n{sum(self._asked.values())} requests; columns count those that differ.")
        print("\n".join(self._examples))


def _answers(
    checkout: Path, name: str, stored: Path, work: Path, *, keep: bool, options: argparse.Namespace | None = None
) -> list[Any]:
    """What the version in ``checkout`` answers; an earlier run's where ``keep`` says so."""
    folder = work / checkout.name / name
    answers = folder.with_suffix(".answers")
    if not (keep and answers.exists()):
        build(stored, folder, checkout)
        command = [checkout / ".venv/bin/python", ASK, folder, REQUESTS / f"{name}.jsonl", answers]
        more, environment = [], dict(os.environ)
        if options is not None and options.shards > 1:
            more += [str(options.shards), *(["http"] if options.over_http else [])]
        if options is not None and options.processor:
            environment[PROCESSOR] = options.processor
        subprocess.run([*command, *more], check=True, env=environment)
    return [json.loads(line) for line in _lines(answers)]


def _checkout(named: str, work: Path) -> Path:
    """The folder of a version with its environment; a revision is checked out below ``work``."""
    folder = Path(named).resolve()
    if not (folder / "pyproject.toml").exists():
        commit = _git("rev-parse", "--short", f"{named}^{{commit}}")
        folder = work / "checkouts" / commit
        if not folder.exists():
            _git("worktree", "add", "--detach", str(folder), commit)
    subprocess.run([folder / "scripts/environment", "base"], check=True)
    return folder


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout.strip()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.same_answers", description=__doc__)
    parser.add_argument("--before", required=True, help="a revision, or the folder of a checkout")
    parser.add_argument("--after", default=str(ROOT), help="the same; this checkout when not given")
    parser.add_argument("--web", type=Path, default=ROOT / "build/web", help="a local web")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="the judged sets")
    parser.add_argument("--work", type=Path, default=ROOT / "build/same-answers", help="where collections are kept")
    parser.add_argument("--shards", type=int, default=1, help="the later version answers by so many shards")
    parser.add_argument("--over-http", action="store_true", help="these shards are processes of their own")
    parser.add_argument("--processor", default="", help="the later version is compiled for it: x86-64")
    parser.add_argument("--only", nargs="*", help="these collections")
    parser.add_argument("--keep", action="store_true", help="take answers of an earlier run where there are any")
    return parser.parse_args()


if __name__ == "__main__":
    main()
