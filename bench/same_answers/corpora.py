"""The three collections that requests are asked of, made once and copied for each side.

Batches are written by the earlier of the two versions; each version builds its own index and ranks from a copy of them.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

LENS = """\
[lenses.chosen]
raise = [{raised}]
lower = [{lowered}]
"""
PINS = """\
[[synonyms]]
words = ["lighthouse", "beacon"]

[[pinned]]
queries = ["{pinned}"]
urls = [{urls}]

"""


class Corpus(NamedTuple):
    """What one collection is made of."""

    name: str
    hosts: tuple[str, ...]  # the first is raised by the lens ``chosen``, the second lowered
    pinned: str = ""  # a query with pinned results …
    urls: tuple[str, ...] = ()  # … and these are pinned


CORPORA = (
    Corpus(
        "demo",
        ("lighthouses.localhost:8640", "almanac.localhost:8640", "galley.localhost:8640"),
        "opening hours",
        ("http://almanac.localhost:8640/", "http://galley.localhost:8640/"),
    ),
    Corpus(
        "manuals",
        ("docs.python.test", "django.test", "postgresql.test", "sqlite.test", "git.test", "handbook.debian.test"),
    ),
    Corpus("judged", ()),
)


def make(corpus: Corpus, folder: Path, checkout: Path, web: Path, data: Path) -> None:
    """Store the documents of ``corpus`` in ``folder`` with the ``periplus`` of ``checkout``; kept if already there."""
    done = folder / "made"
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    _MAKERS[corpus.name](folder, checkout, web, data)
    (folder / "rules.toml").write_text(_rules(corpus))
    with (folder / "periplus.toml").open("a") as settings:
        settings.write('\n[search]\nrules = "rules.toml"\npast_queries = false\n')
    done.touch()


def build(stored: Path, folder: Path, checkout: Path) -> None:
    """Copy ``stored`` and let the ``periplus`` of ``checkout`` build its own index and ranks there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(stored, folder, ignore=shutil.ignore_patterns("index", "ranks"))
    _run(checkout, "index", "--rebuild", "--dir", str(folder))
    _run(checkout, "rank", "--dir", str(folder))


def _demo(folder: Path, checkout: Path, _web: Path, _data: Path) -> None:
    _run(checkout, "demo", "--once", "--dir", str(folder))


def _manuals(folder: Path, checkout: Path, web: Path, _data: Path) -> None:
    for host in CORPORA[1].hosts:
        _run(checkout, "import", str(web / host), "--base-url", f"http://{host}/", "--dir", str(folder))


def _judged(folder: Path, checkout: Path, _web: Path, data: Path) -> None:
    for path in sorted((data / "relevance").glob("*/docs.jsonl")):
        _run(checkout, "import", str(path), "--dir", str(folder))


_MAKERS = {"demo": _demo, "manuals": _manuals, "judged": _judged}


def _rules(corpus: Corpus) -> str:
    """A lens for all; synonyms and pinned results in one collection, since they change the way of every query."""
    first, second = (f'"{host.partition(":")[0]}"' for host in (*corpus.hosts, "a.invalid", "b.invalid")[:2])
    urls = ", ".join(f'"{url}"' for url in corpus.urls)
    pins = PINS.format(pinned=corpus.pinned, urls=urls) if corpus.pinned else ""
    return pins + LENS.format(raised=first, lowered=second)


def _run(checkout: Path, *words: str) -> None:
    subprocess.run([checkout / ".venv/bin/periplus", *words], check=True, stdout=subprocess.DEVNULL)
