"""What is done on a disk that fails, and what must hold afterwards."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from periplus import Collection, archive
from periplus.app import doctor
from periplus.errors import NotReady
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mockweb.mock_web import MockWeb

OPERATIONS = ("crawl", "index", "rank", "takedown")
HOSTS, PAGES, FIRST_PAGES = ("a.test", "b.test"), 7, 6
VICTIM = "http://a.test/2"
QUERIES = ("harbour", "lantern of page", "prosperous voyage")
SETTINGS = "[index]\nworkers = 1\n"


def lay_out(web: MockWeb) -> None:
    for number, host in enumerate(HOSTS):
        web.site(host, PAGES, words=("Harbour lantern", "A prosperous voyage")[number])
        web.redirect(f"http://{host}/moved", "/1")
    web.page("http://a.test/3", "<p>Harbour of page 3.", links=["/moved", "http://b.test/", "http://b.test/moved"])


def crawl(folder: Path, resolve: str, pages: int = 100) -> None:
    with Collection(folder) as made:
        made.create(SETTINGS)
        made.crawl(
            ["http://a.test/"], max_pages=pages, scope="any", delay=0.0, ip_delay=0.0, workers=1, icons=False,
            resolve=[resolve], commit_pages=4, commit_seconds=0.1, allow_private=True, retries=1,
        )  # fmt: skip


def index(folder: Path) -> None:
    with Collection(folder) as made:
        made.index()


def rank(folder: Path) -> None:
    with Collection(folder) as made:
        made.rank()


def take_down(folder: Path) -> None:
    with Collection(folder) as made:
        made.remove(VICTIM)


def prepare(operation: str, folder: Path, resolve: str) -> None:
    """The collection as it is when the operation begins."""
    if operation == "crawl":
        with Collection(folder) as made:
            made.create(SETTINGS)
        return
    crawl(folder, resolve, FIRST_PAGES)
    index(folder)
    rank(folder)
    crawl(folder, resolve)
    if operation in ("rank", "takedown"):
        index(folder)


def work(operation: str, folder: Path, resolve: str) -> None:
    done: dict[str, Callable[[], None]] = {
        "crawl": lambda: crawl(folder, resolve),
        "index": lambda: index(folder),
        "rank": lambda: rank(folder),
        "takedown": lambda: take_down(folder),
    }
    done[operation]()


def finish(operation: str, folder: Path, resolve: str) -> None:
    """The next run: the operation once more, and what follows it."""
    work(operation, folder, resolve)
    index(folder)
    rank(folder)


def picture(folder: Path) -> dict[str, Any]:
    """What is acknowledged and what is found, without times."""
    with Collection(folder) as made:
        with made.database.read() as tx:
            rows = tx.rows("SELECT url, state, reason, refusal FROM urls ORDER BY url")
        documents = {document.url: document.refusal for document in made.documents()}
        return {"rows": [list(row) for row in rows], "documents": documents, "answers": _answers(made)}


def answers(folder: Path) -> dict[str, Any]:
    with Collection(folder) as made:
        return _answers(made)


def _answers(made: Collection) -> dict[str, Any]:
    try:
        found = {query: made.search(query, k=30) for query in QUERIES}
    except NotReady:
        return {}
    return {
        query: [[hit.url, float(f"{hit.score:.4g}")] for hit in answer.results] + list(answer.degraded)
        for query, answer in found.items()
    }


def acknowledged(folder: Path) -> list[str]:
    """Addresses that count as fetched; raises where the archive has not what their rows name."""
    with Collection(folder) as made:
        with made.database.read() as tx:
            rows = tx.rows("SELECT url, file, place, length FROM urls WHERE state = 1 AND file <> ''")
        for url, file, place, length in rows:
            assert archive.read(folder / "archive", ArchiveLocation(file, place, length)).url == url
        return [row[0] for row in rows]


def faults(folder: Path) -> list[str]:
    """What the doctor and the audit find wrong."""
    with Collection(folder) as made:
        found = [f"{one.check}: {one.detail}" for one in doctor.examine(made) if one.state == "failed"]
        return found + [str(one) for one in made.politeness().violations]


def copied(base: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return shutil.copytree(base, to)
