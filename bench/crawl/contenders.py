"""Who takes part, with which work, and the command that runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

# Each contender has what it needs installed and no more: several libraries import what else they find.
PYTHON = Path(__file__).resolve().parents[2] / ".venv-plain" / "bin" / "python"
PERIPLUS = PYTHON.with_name("periplus")
CONCURRENCY = 32


class Task(NamedTuple):
    """One run: how many pages, where the server is, and a fresh folder to work in."""

    pages: int
    port: int
    seeds: Path
    folder: Path

    @property
    def figures(self) -> Path:
        return self.folder / "figures.json"


class Contender(NamedTuple):
    name: str
    work: str
    command: Callable[[Task], list[str]]


def _periplus(workers: int, documents: str = "now") -> Callable[[Task], list[str]]:
    def command(task: Task) -> list[str]:
        return [str(PERIPLUS), *periplus_arguments(task, workers, documents)]

    return command


def periplus_arguments(task: Task, workers: int = 1, documents: str = "now") -> list[str]:
    """The crawl as anyone would ask for it; the local server counts as many hosts, so no gap is asked for."""
    return [
        "crawl", "--dir", str(task.folder / "collection"), "--seeds", str(task.seeds), "--scope", "host",
        "--delay", "0", "--resolve", f"*.test=127.0.0.1:{task.port}", "--max-pages", str(task.pages),
        "--concurrency", str(CONCURRENCY), "--workers", str(workers), "--documents", documents, "--json",
    ]  # fmt: skip


def _periplus_timed(task: Task) -> list[str]:
    return [str(PYTHON), "-m", "bench.crawl.periplus_timed", str(task.figures), *periplus_arguments(task)]


def _scrapy(work: str) -> Callable[[Task], list[str]]:
    def command(task: Task) -> list[str]:
        return [
            sys.executable, "-m", "bench.crawl.scrapy_contender", "--work", work, "--seeds", str(task.seeds),
            "--pages", str(task.pages), "--port", str(task.port), "--store", str(task.folder / "store"),
            "--figures", str(task.figures),
        ]  # fmt: skip

    return command


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("periplus", "everything: links, documents, archive, journal, state", _periplus(1)),
        Contender("periplus-2", "the same, two workers", _periplus(2)),
        Contender(
            "periplus-later", "links, archive, journal, state; documents are left for later", _periplus(1, "later")
        ),
        Contender("periplus-later-2", "the same, two workers", _periplus(2, "later")),
        Contender("periplus-timed", "the same, one worker, a clock around the parser", _periplus_timed),
        Contender("scrapy-links", "links and dedup, nothing kept", _scrapy("links")),
        Contender("scrapy-selectors", "links, text, title, language, stored page", _scrapy("selectors")),
        Contender("scrapy-parser", "all of Periplus' parser, stored document and page", _scrapy("parser")),
    )
}
