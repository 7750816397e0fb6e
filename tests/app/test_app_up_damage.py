"""``up`` beside damaged files: its index is made again of the documents, all else is said once and waits."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app import build_until
from periplus.app.running import building
from periplus.app.running.building import Builder
from periplus.app.serving.server import Reloader
from periplus.errors import INDEX_PART, Corrupt, PeriplusError
from periplus.index.format.files import FIRST_OFFSET
from support.servers import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETTINGS = "[index]\nworkers = 1\n"
OLD, NEW = "a.test", "b.test"
OF_THE_INDEX = [
    "index/segments/*/segment.json",
    "index/segments/*/postings*",
    "index/segments/*/terms*",
    "index/segments/*/texts*",
    "index/overlays/*",
    "index/manifest.json",
]


@pytest.fixture
def web() -> Iterator[MockWeb]:
    with MockWeb() as played:
        yield played


@pytest.fixture
def folder(tmp_path: Path, web: MockWeb) -> Path:
    """A collection with one page that is indexed and ranked."""
    with Collection(tmp_path) as made:
        made.create(SETTINGS)
        crawled(made, web, OLD)
        made.rank()
        made.index()
        made.rank()  # an overlay with priors
    return tmp_path


@pytest.mark.parametrize("pattern", OF_THE_INDEX)
def test_an_index_that_is_damaged_is_made_again(folder: Path, web: MockWeb, pattern: str) -> None:
    damage(folder, pattern)
    add(folder, web)
    with building_in(folder) as told:
        wait_for(lambda: hosts(folder) == {OLD, NEW})
    assert len(rebuilds(folder)) == 1
    assert told() == []


@pytest.mark.parametrize("pattern", ["ranks/*/page_ranks.npy", "ranks/*/*.json", "ranks/*.json"])
def test_ranks_that_are_damaged_are_made_again_without_a_rebuild(folder: Path, web: MockWeb, pattern: str) -> None:
    damage(folder, pattern)
    add(folder, web)
    with building_in(folder) as told:
        wait_for(lambda: hosts(folder) == {OLD, NEW} and whole_ranks(folder))
    assert rebuilds(folder) == []
    assert told() == []


@pytest.mark.parametrize("pattern", ["documents/*.parquet", "links/*.parquet"])
def test_a_crawled_batch_that_is_damaged_is_made_again_of_the_archive(folder: Path, web: MockWeb, pattern: str) -> None:
    add(folder, web)
    damage(folder, pattern.replace("*", "00000001"))
    (folder / "index" / "manifest.json").unlink()  # so that the batch has to be read again
    with building_in(folder) as told:
        wait_for(lambda: hosts(folder) == {OLD, NEW})
    assert len(rebuilds(folder)) == 1
    assert told() == []


def test_damaged_archives_are_said_and_nothing_is_built_again(folder: Path, web: MockWeb) -> None:
    with Collection(folder, flags={"crawl.documents": "later"}) as made:
        crawled(made, web, NEW)
    spoil(folder, "archive/*.warc.gz")
    with building_in(folder):
        wait_for(lambda: lost(folder))
    (said,) = lost(folder)
    assert said.startswith("archive/")
    assert "the next crawl asks for them again" in said
    assert hosts(folder) == {OLD}
    assert rebuilds(folder) == []


def test_damaged_batches_of_a_whole_index_are_said_and_nothing_is_built_again(
    folder: Path, web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(folder, web)
    damage(folder, "documents/*.parquet")
    looks = counted_looks(monkeypatch)
    with building_in(folder) as told:
        wait_for(lambda: len(looks) > 3)
    (said,) = told()
    assert said.startswith("index and ranks wait: documents/")
    assert rebuilds(folder) == []
    assert hosts(folder) == {OLD}


def test_a_log_without_a_whole_batch_is_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    damage(folder, "documents/*.parquet")
    damage(folder, "index/manifest.json")
    looks = counted_looks(monkeypatch)
    with building_in(folder) as told:
        wait_for(lambda: len(looks) > 5)
    assert [one.split("; ")[1] for one in told()] == [
        "periplus doctor --repair makes it again from the archive where it can",
        "run periplus index --rebuild",
    ]
    assert len(rebuilds(folder)) == 1
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("periplus: ")]
    assert [one.partition("; ")[2] for one in said] == [one.partition("; ")[2] for one in told()]


def test_a_damaged_state_is_said_once_and_searches_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    looks = counted_looks(monkeypatch)
    before = (folder / "index" / "manifest.json").read_bytes()
    with Collection(folder) as server, Reloader(server):
        assert server.search("harbour").results
        damage_table(folder / "state.db", "batches")
        with building_in(folder):
            wait_for(lambda: len(looks) > 3)
        assert server.search("harbour").results
    (said,) = [line for line in capfd.readouterr().err.splitlines() if "state.db" in line]
    assert said.startswith("periplus: ")
    assert "periplus doctor --repair" in said
    assert (folder / "index" / "manifest.json").read_bytes() == before


def test_an_index_whose_merges_meet_damage_is_made_again(tmp_path: Path, web: MockWeb) -> None:
    """Stored texts are compared when they are read: updates go by them, merges do not."""
    pages = [f"{letter}.test" for letter in "abcdefgh"]
    with Collection(tmp_path) as made:
        made.create(SETTINGS)
        for host in pages[:-1]:
            crawled(made, web, host)
            made.pipeline.index(merge=False)
        damage(tmp_path, "index/segments/*/texts*", at=FIRST_OFFSET)
        crawled(made, web, pages[-1])
    with building_in(tmp_path) as told:
        wait_for(lambda: rebuilds(tmp_path) and hosts(tmp_path) == set(pages))
    (why,) = rebuilds(tmp_path)
    assert "a block of stored text is damaged" in why or "does not match its checksum" in why
    assert told() == []
    assert verified(tmp_path)


@pytest.mark.parametrize(("took", "pause"), [(0.0, building.REBUILD_PAUSE), (10.0, building.REST * 10.0)])
def test_an_index_that_is_damaged_again_and_again_is_not_built_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took: float, pause: float
) -> None:
    built: list[str] = []

    class BadDisk:
        """Whatever is written to it is damaged."""

        def due(self) -> None:
            raise Corrupt("a segment is damaged", INDEX_PART)

        def index(self, *, rebuild: bool, why: str) -> None:
            assert rebuild
            now[0] += took
            built.append(why)

    now = [1_000.0]
    monkeypatch.setattr(Collection, "pipeline", BadDisk())
    monkeypatch.setattr(building.time, "monotonic", lambda: now[0])
    with Collection(tmp_path) as made:
        builder = Builder(made.create(SETTINGS))
        builder.look()
        now[0] += pause - 1.0
        with pytest.raises(Corrupt, match="a segment is damaged"):
            builder.look()
        assert built == ["a segment is damaged"]
        now[0] += 2.0
        builder.look()
    assert len(built) == 2


def crawled(made: Collection, web: MockWeb, host: str) -> None:
    url = f"http://{host}/"
    web.page(url, f"<p>A harbour at {url}")
    made.crawl([url], scope="any", delay=0.0, ip_delay=0.0, workers=1, icons=False, resolve=list(web.resolve))


def add(folder: Path, web: MockWeb) -> None:
    with Collection(folder) as made:
        crawled(made, web, NEW)


def damage(folder: Path, pattern: str, at: int = -20) -> None:
    """One bit of each file."""
    paths = list(folder.glob(pattern))
    assert paths, pattern
    for path in paths:
        data = bytearray(path.read_bytes())
        data[max(at, -len(data))] ^= 1
        path.unlink()  # who has it open goes on with what was written
        path.write_bytes(data)


def damage_table(state: Path, table: str) -> None:
    """The first page of a table."""
    with closing(sqlite3.connect(state)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with state.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def spoil(folder: Path, pattern: str) -> None:
    """A bit of every hundredth byte of each file, so that no record of it is whole."""
    for path in folder.glob(pattern):
        data = bytearray(path.read_bytes())
        data[::100] = bytes(byte ^ 1 for byte in data[::100])
        path.write_bytes(data)


@contextmanager
def building_in(folder: Path) -> Iterator[Callable[[], list[str]]]:
    """What ``up`` does beside the crawl, for as long as the block lasts; it must not end by itself."""
    stopping = threading.Event()
    thread = threading.Thread(target=build_until, args=(stopping, str(folder), {}), daemon=True)
    thread.start()
    try:
        yield lambda: [text for text in events(folder, "error") if "wait" in text]
        assert thread.is_alive()
    finally:
        stopping.set()
        thread.join()


def counted_looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    looks: list[bool] = []
    look = Builder.look

    def counted(builder: Builder) -> None:
        looks.append(True)
        look(builder)

    monkeypatch.setattr(Builder, "look", counted)
    monkeypatch.setattr(building, "DAMAGE_PAUSE", 0.05)
    return looks


def events(folder: Path, level: str) -> list[str]:
    with Collection(folder) as made, made.database.read() as tx:
        return [str(text) for (text,) in tx.rows("SELECT text FROM events WHERE level = ?", (level,))]


def lost(folder: Path) -> list[str]:
    return [text for text in events(folder, "warning") if "lacks" in text]


def rebuilds(folder: Path) -> list[str]:
    return [text for text in events(folder, "warning") if "from nothing" in text]


def verified(folder: Path) -> int:
    with Collection(folder) as made:
        return made.stores.index.verify().generation


def whole_ranks(folder: Path) -> bool:
    with Collection(folder) as made:
        return made.stores.ranks.whole() is not None


def hosts(folder: Path) -> set[str]:
    """Of the pages that a search finds."""
    try:
        with Collection(folder) as made:
            answer = made.search("harbour")
    except PeriplusError:
        return set()
    return {result.url.split("/")[2] for result in answer.results} if "index" not in answer.degraded else set()
