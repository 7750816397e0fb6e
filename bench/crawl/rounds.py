"""Interleaved rounds: every contender once a round, each in a fresh folder, each fully counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from bench.crawl.contenders import Contender, Task
from bench.crawl.web import ROOT, Served
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.crawl.web import LocalWeb


class Run(Struct):
    """One contender's run. ``cpu`` is user and system time of all its processes; the server's is apart."""

    name: str
    round: int
    served: Served
    wall: float
    user: float
    system: float
    rss_mb: float
    processes: int
    server_cpu: float
    load: float
    parser_seconds: float = 0.0
    said: dict[str, object] = {}

    @property
    def pages(self) -> int:
        return self.served.pages

    @property
    def cpu(self) -> float:
        return self.user + self.system

    @property
    def pages_a_cpu_second(self) -> float:
        return self.pages / self.cpu

    @property
    def milliseconds(self) -> float:
        """CPU a page."""
        return 1000 * self.cpu / self.pages

    @property
    def outside_parser(self) -> float:
        """CPU milliseconds a page that are not the parser's; only where a clock was around it."""
        return 1000 * (self.cpu - self.parser_seconds) / self.pages


class Failed(Exception):
    """A contender did not do its work."""


def run_once(contender: Contender, number: int, pages: int, web: LocalWeb, work: Path) -> Run:
    """Run ``contender`` for ``pages`` pages; raises ``Failed`` when it ended badly or fetched too little."""
    folder = work / contender.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds) + "\n", encoding="utf-8")
    task = Task(pages, web.port, seeds, folder)
    server_before = web.cpu()
    cost = _metered(contender.command(task), folder)
    run = Run(
        contender.name, number, web.served(), cost["wall"], cost["user"], cost["system"], cost["rss_mb"],
        int(cost["processes"]), web.cpu() - server_before, os.getloadavg()[0], *_figures(task),
    )  # fmt: skip
    if cost["status"] or run.pages < pages * 0.9:
        raise Failed(f"{contender.name}: status {cost['status']}, {run.pages} of {pages} pages; see {folder}")
    return run


def environment() -> dict[str, str]:
    """Ours, but compiled modules are kept: those of installed packages are compiled beforehand, ours should be too."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _metered(command: list[str], folder: Path) -> dict[str, float]:
    result = folder / "cost.json"
    with (folder / "output.txt").open("wb") as output:
        subprocess.run(
            [sys.executable, "-m", "bench.crawl.meter", str(result), *command],
            cwd=ROOT, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=False, env=environment(),
        )  # fmt: skip
    figures: dict[str, float] = json.loads(result.read_text(encoding="utf-8"))
    return figures


def _figures(task: Task) -> tuple[float, dict[str, object]]:
    """Seconds in the parser where they were taken, and what the contender says of itself."""
    said = json.loads(task.figures.read_text(encoding="utf-8")) if task.figures.exists() else {}
    return float(said.get("parser_seconds", 0.0)), said


def run_rounds(
    contenders: list[Contender], rounds: int, pages: int, web: LocalWeb, work: Path, tell: Callable[[Run], None]
) -> list[Run]:
    """All rounds; the order turns from round to round, so that nobody always runs first."""
    runs = []
    for number in range(rounds):
        turn = number % len(contenders)
        for contender in (*contenders[turn:], *contenders[:turn]):
            run = run_once(contender, number, pages, web, work)
            tell(run)
            runs.append(run)
    return runs
