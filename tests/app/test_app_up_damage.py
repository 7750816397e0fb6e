"""``up`` goes on when a file of its index is damaged: the index is made of the documents, so it is made again."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.up import build_until
from periplus.errors import Corrupt, PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
LIMIT = 60.0


@pytest.fixture
def web() -> Iterator[MockWeb]:
    with MockWeb() as played:
        yield played


def crawled(made: Collection, web: MockWeb, url: str) -> None:
    web.page(url, f"<p>A harbour at {url}")
    made.crawl([url], scope="any", delay=0.0, ip_delay=0.0, workers=1, icons=False, resolve=list(web.resolve))


def damaged(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        data = path.read_bytes()
        path.unlink()  # who has it open goes on with what was written
        path.write_bytes(data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])


@pytest.mark.parametrize("pattern", ["index/segments/*/segment.json", "index/manifest.json"])
def test_an_index_that_is_damaged_is_made_again_by_up(tmp_path: Path, web: MockWeb, pattern: str) -> None:
    stopping = threading.Event()
    with Collection(tmp_path) as made:
        made.create("[index]\nworkers = 1\n")
        crawled(made, web, "http://a.test/")
        made.index()
        damaged(tmp_path, pattern)
        crawled(made, web, "http://b.test/")

    builder = threading.Thread(target=build_until, args=(stopping, str(tmp_path), {}), daemon=True)
    builder.start()
    limit = time.monotonic() + LIMIT
    while (found := hosts(tmp_path)) != {"a.test", "b.test"} and time.monotonic() < limit:
        time.sleep(0.1)
    stopping.set()
    builder.join()

    assert found == {"a.test", "b.test"}
    with Collection(tmp_path) as made, made.database.read() as tx:
        assert [one for (one,) in tx.rows("SELECT text FROM events WHERE level = 'warning'") if "from nothing" in one]


def test_damage_that_stays_ends_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[bool] = []

    class Hopeless:
        def due(self) -> None:
            raise Corrupt("everything is damaged")

        def index(self, *, rebuild: bool) -> None:
            built.append(rebuild)

    monkeypatch.setattr(Collection, "pipeline", Hopeless())
    with Collection(tmp_path) as made:
        made.create("")
    with pytest.raises(Corrupt, match="everything is damaged"):
        build_until(threading.Event(), str(tmp_path), {})
    assert built == [True]


def hosts(folder: Path) -> set[str]:
    """Of the pages that a search finds."""
    try:
        with Collection(folder) as made:
            answer = made.search("harbour")
    except PeriplusError:
        return set()
    return {result.url.split("/")[2] for result in answer.results} if not answer.degraded else set()
