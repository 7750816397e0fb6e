"""Segments built on other machines: what tasks need and make travels as objects."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec
import pytest

from periplus import addresses
from periplus.documents import BatchLog
from periplus.errors import StorageError
from periplus.graph import RankStore, blocks, runs
from periplus.index import IndexStore
from periplus.index.building import segment_tasks
from periplus.jobs import Pipeline
from periplus.jobs.packing import HOME_VARIABLE, packed, unpacked
from periplus.records import Document, Link
from periplus.settings import RankSettings, Settings
from periplus.storage import Catalogs, Database, Depot, LocalFiles, SerialRunner, TaskOutcome, open_objects


def page(number: int) -> Document:
    url = f"http://h{number % 7}.test/{number}"
    links = tuple(
        Link(f"http://h{other % 7}.test/{other}", f"the famous {other}") for other in (number + 1, number + 9)
    )
    text = f"harbour {number} tide {number % 5} chart " * 5
    return Document(url=url, key=addresses.key(url), fetched=1.0, title=f"page {number}", text=text, links=links)


class Elsewhere:
    """A machine whose working copy is in another folder, where it has nothing when a task begins.

    As many tasks as in ``kills`` are lost on their way.
    """

    is_local = False
    workers = 2

    def __init__(self, folder: Path, kills: int = 0) -> None:
        self._folder, self._away, self._kills = folder, folder.with_name("away"), kills
        self.ran: list[str] = []

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, function, inputs):
        for place, given in enumerate(inputs):
            data = packed(given, self._folder)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(HOME_VARIABLE, str(self._away))
                (outcome,) = SerialRunner().run(function, [unpacked(data, str(self._folder))])
            self.ran.append(function.rpartition(":")[2])
            shutil.rmtree(self._away, ignore_errors=True)
            if self._kills:
                self._kills -= 1
                outcome = TaskOutcome(0, None, StorageError("a task was lost"))
            yield outcome._replace(place=place)


def digests(folder: Path, manifest) -> list[str]:
    segments = [folder / "index" / "segments" / entry.name for entry in manifest.segments]
    return [
        hashlib.sha256(b"".join(path.read_bytes() for path in sorted(segment.iterdir()))).hexdigest()
        for segment in segments
    ]


@pytest.fixture(autouse=True)
def each_batch_is_a_task(monkeypatch):
    monkeypatch.setattr(segment_tasks, "LEAST_BYTES", 1)
    monkeypatch.setattr(segment_tasks, "MEMORY_A_BYTE", 10_000_000)


def collection(folder: Path, runner: Elsewhere | None, settings: Settings | None = None):
    """Four batches, and the steps over them."""
    objects = open_objects(f"file://{folder.parent}/objects")
    database = Database.open(folder.parent / "state.db")
    depot = Depot(LocalFiles(folder), objects)
    log = BatchLog(LocalFiles(folder), database, depot)
    for start in range(0, 40, 10):
        log.append([page(number) for number in range(start, start + 10)])
    return database, depot, Pipeline(folder, database, settings or Settings(), depot, lambda: runner)


def made(folder: Path, name: str) -> tuple[Path, Elsewhere | None]:
    folder = folder / name / "c"
    folder.mkdir(parents=True)
    return folder, Elsewhere(folder, kills=1) if name == "elsewhere" else None


def test_segments_from_elsewhere_are_those_that_are_built_here(tmp_path) -> None:
    found = {}
    for name in ("here", "elsewhere"):
        folder, runner = made(tmp_path, name)
        database, depot, pipeline = collection(folder, runner)
        with database:
            pipeline.rank()
            manifest = pipeline.index(merge=False)
            assert (manifest.documents, len(manifest.segments)) == (40, 4)
            found[name] = digests(folder, manifest)
            assert not list(depot.objects.names("index/built"))
            store = IndexStore(folder / "index", catalog=Catalogs(database, depot).index)
            with store.open() as snapshot:
                assert snapshot.frequency("famous") > 0  # texts of links were had there, too
            if runner is not None:
                # The first was built here, since it freezes the averages; of the others one was lost, and done again.
                assert runner.ran == ["build_segments"] * 4
    assert found["here"] == found["elsewhere"]


def test_ranks_from_elsewhere_are_those_that_are_computed_here(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(runs, "MANY", 2)
    monkeypatch.setattr(runs, "AT_ONCE", 2)
    monkeypatch.setattr(blocks, "BLOCK_EDGES", 30)
    found = {}
    settings = msgspec.structs.replace(Settings(), rank=RankSettings(memory=1))
    for name in ("here", "elsewhere"):
        folder, runner = made(tmp_path, name)
        database, depot, pipeline = collection(folder, runner, settings)
        with database:
            pipeline.rank()
            table = RankStore(folder / "ranks", Catalogs(database, depot).ranks).current()
            found[name] = (table.page_keys.tobytes(), table.page(table.page_keys).tobytes())
            assert not list(depot.objects.names("ranks/sent"))
            if runner is not None:
                assert runner.ran.count("keep_runs") == 3  # two, of which one was lost
                assert runner.ran.count("sweep_block") > 4
    assert found["here"] == found["elsewhere"]
