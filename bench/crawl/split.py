"""Where Periplus' CPU time goes: a run under py-spy, each sample given to one step.

A sample is a stack of one running thread. It belongs to the step of its innermost frame that a rule knows, so the
address of a link counts as address work although the parser asked for it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.crawl.contenders import PERIPLUS, PYTHON, Task, periplus_arguments
from bench.crawl.rounds import environment
from bench.crawl.web import ROOT

if TYPE_CHECKING:
    from bench.crawl.web import LocalWeb

PROFILED = {"periplus": "now", "periplus-later": "later"}  # contenders, and when they make documents
RATE = 200  # samples a second
WAITING = re.compile(
    r"^(_worker \(.*concurrent/futures/thread|wait \(.*threading|select \(.*selectors)"
)  # idle, not work

# The first rule that knows a frame, from the innermost frame outwards, names the step.
RULES = tuple(
    (re.compile(pattern), step)
    for pattern, step in (
        (r"importlib|<frozen runpy|site\.py|<module>", "start: imports"),
        (r"periplus/addresses/", "addresses"),
        (r"periplus/documents/(batches|schema)\.py", "document batches"),
        (r"periplus/documents/outline", "outline"),
        (r"periplus/documents/fingerprint", "parse: fingerprint"),
        (r"periplus/documents/language|pycld2|py3langid", "parse: language"),
        (r"periplus/documents/", "parse: the rest"),
        (r"periplus/archive/", "archive"),
        (r"periplus/crawl/fetching/unpack", "unpack"),
        (r"periplus/crawl/rules/(links|scope|traps)\.py", "link filter, scope, traps"),
        (r"periplus/crawl/frontier/(frontier|arrivals)\.py|periplus/storage/|sqlite", "frontier in SQL"),
        (r"periplus/crawl/working/committer", "group commit"),
        (r"periplus/crawl/(rules/(robots|politeness)|working/robots_visit)", "robots, politeness"),
        (r"periplus/crawl/working/(engine|hosts|visitor|requests|ledger|counters)", "engine"),
        (r"periplus/crawl/(rules/(interpretation|schedule)|frontier/journal)", "engine"),
        (r"periplus/crawl/fetching/(fetcher|connections|proxied|resolver)", "fetch"),
        (r"aiohttp/|yarl/|multidict|aiosignal|uvloop", "fetch"),
        (r"asyncio/|concurrent/|threading\.py", "event loop, threads"),
        (r"periplus/(cli|app)|rich/|typer/|click/", "command line, progress"),
    )
)


def steps(
    web: LocalWeb, pages: int, work: Path, documents: str = "now"
) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """Share of each step in a crawl of ``pages``; and the innermost functions with the largest shares."""
    folder = work / "profile"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds), encoding="utf-8")
    stacks = folder / "stacks.txt"
    spy = Path(sys.executable).with_name("py-spy")
    with (folder / "output.txt").open("wb") as output:
        subprocess.run(
            [str(spy), "record", "--format", "raw", "--rate", str(RATE), "--full-filenames", "--subprocesses",
             "--output", str(stacks), "--",
             str(PYTHON), str(PERIPLUS), *periplus_arguments(Task(pages, web.port, seeds, folder), 1, documents)],
            cwd=ROOT, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=True, env=environment(),
        )  # fmt: skip
    web.served()
    return shares(stacks.read_text(encoding="utf-8"))


def shares(stacks: str) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """From py-spy's raw lines (``outer;inner 12``) to shares of steps and of innermost functions."""
    by_step: Counter[str] = Counter()
    by_function: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if WAITING.match(frames[-1]):
            continue
        by_step[_step(frames)] += int(count)
        by_function[_short(frames[-1])] += int(count)
    total = by_step.total() or 1
    ordered = {step: count / total for step, count in by_step.most_common()}
    return ordered, [(name, count / total) for name, count in by_function.most_common(40)]


def _step(frames: list[str]) -> str:
    for frame in reversed(frames):
        for pattern, step in RULES:
            if pattern.search(frame):
                return step
    return "other"


def _short(frame: str) -> str:
    """``function (file:line)`` without the line and with the end of the path only."""
    name, _, place = frame.partition(" (")
    path = place.rpartition(":")[0] or place
    return f"{name} ({'/'.join(path.split('/')[-2:])})"
