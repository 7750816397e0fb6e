"""Segments built on other machines: what tasks need and make travels as objects."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from periplus import addresses
from periplus.documents import BatchLog
from periplus.index import IndexStore, segment_tasks
from periplus.jobs import Pipeline
from periplus.records import Document, Link
from periplus.settings import Settings
from periplus.storage import Catalogs, Database, Depot, LocalFiles, SerialRunner, open_objects


def page(number: int) -> Document:
    url = f"http://h{number % 7}.test/{number}"
    links = tuple(
        Link(f"http://h{other % 7}.test/{other}", f"the famous {other}") for other in (number + 1, number + 9)
    )
    text = f"harbour {number} tide {number % 5} chart " * 5
    return Document(url=url, key=addresses.key(url), fetched=1.0, title=f"page {number}", text=text, links=links)


class Elsewhere(SerialRunner):
    """A machine with a folder of its own: it has nothing when a task begins, and nothing of it is seen here."""

    is_local = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ran = 0

    def run(self, function, inputs):
        for place, given in enumerate(inputs):
            away = self._folder.with_name("away")
            self._folder.rename(away)
            (outcome,) = super().run(function, [given])
            self.ran += 1
            shutil.rmtree(self._folder)
            away.rename(self._folder)
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


def test_segments_from_elsewhere_are_those_that_are_built_here(tmp_path) -> None:
    found = {}
    for name in ("here", "elsewhere"):
        folder = tmp_path / name / "c"
        folder.mkdir(parents=True)
        objects = open_objects(f"file://{tmp_path}/{name}/objects")
        with Database.open(tmp_path / name / "state.db") as database:
            depot = Depot(LocalFiles(folder), objects)
            log = BatchLog(LocalFiles(folder), database, depot)
            for start in range(0, 40, 10):
                log.append([page(number) for number in range(start, start + 10)])
            runner = Elsewhere(folder) if name == "elsewhere" else None
            pipeline = Pipeline(folder, database, Settings(), depot, runner)
            pipeline.rank()
            manifest = pipeline.index(merge=False)
            assert (manifest.documents, len(manifest.segments)) == (40, 4)
            found[name] = digests(folder, manifest)
            assert not list(objects.names("index/built"))
            store = IndexStore(folder / "index", catalog=Catalogs(database, depot).index)
            with store.open() as snapshot:
                assert snapshot.frequency("famous") > 0  # texts of links were had there, too
            if runner is not None:
                assert runner.ran == 4
    assert found["here"] == found["elsewhere"]
