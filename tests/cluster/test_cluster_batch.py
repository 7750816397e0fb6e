"""Tasks of the index and of ranks on all machines, while some are killed: the bytes of one folder."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from cluster.three_machines import ThreeMachines
from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.graph import RankStore, blocks, runs
from periplus.index.building import segment_tasks
from periplus.jobs.ray_runner import RayRunner
from periplus.jobs.tasks import TaskTable
from periplus.records import Document, Link
from support.object_store import ObjectServer
from support.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
BATCHES, PAGES = 6, 400
WORDS = [f"{start}{end}" for start in ("tide", "reef", "buoy", "knot", "quay") for end in range(200)]
SETTINGS = "[index]\nshards = 2\n[rank]\nmemory = 1\n"


def documents() -> Iterator[list[Document]]:
    drawn = random.Random(21)
    urls = [f"http://h{number % 9}.test/{number}" for number in range(BATCHES * PAGES)]
    for start in range(0, len(urls), PAGES):
        yield [
            Document(
                url=url,
                key=addresses.key(url),
                fetched=1.0,
                title=" ".join(drawn.choices(WORDS, k=4)),
                text=" ".join(drawn.choices(WORDS, k=200)),
                links=tuple(Link(drawn.choice(urls), drawn.choice(WORDS)) for _ in range(8)),
            )
            for url in urls[start : start + PAGES]
        ]


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task a batch; many blocks. Whoever shares work out decides this, so the machines need not know."""
    monkeypatch.setattr(segment_tasks, "LEAST_BYTES", 1)
    monkeypatch.setattr(segment_tasks, "MEMORY_A_BYTE", 10_000_000)
    monkeypatch.setattr(runs, "MANY", 2)
    monkeypatch.setattr(runs, "AT_ONCE", 2)
    monkeypatch.setattr(blocks, "BLOCK_EDGES", 5_000)


@pytest.fixture(scope="module")
def machines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMachines]:
    postgres, objects = server(request.config), ObjectServer()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in objects.environment().items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("batch")
        with ThreeMachines(folder, postgres.create(), f"s3://{objects.bucket()}/main", SETTINGS) as made:
            for name, value in made.environment().items():
                patch.setenv(name, value)  # this process is on the first machine
            made.begin(2)
            yield made
    objects.stop()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("embedded")
    (folder / "periplus.toml").write_text(SETTINGS)
    fill(folder)
    return folder


def fill(folder: Path) -> None:
    with Collection(folder) as collection:
        log = BatchLog(collection.files, collection.create().database, collection.depot)
        for some in documents():
            log.append(some)


def segments(folder: Path, names: list[str]) -> list[str]:
    """Checksums of what was built, in its order."""
    paths = [sorted((folder / "index" / "segments" / name).iterdir()) for name in names]
    return [hashlib.sha256(b"".join(path.read_bytes() for path in some)).hexdigest() for some in paths]


def test_segments_built_on_machines_have_the_bytes_of_one_folder(
    machines: ThreeMachines, embedded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(machines.home("m1"))
    with Collection(embedded) as collection:
        expected = collection.pipeline.index(merge=False)
    with (
        Collection(machines.home("m1")) as collection,
        mock.patch.object(TaskTable, "finish", autospec=True, side_effect=TaskTable.finish) as finished,
        mock.patch.object(TaskTable, "fail", autospec=True, side_effect=TaskTable.fail) as failed,
        machines.one_task_killed() as killed,
    ):
        found = collection.pipeline.index(merge=False)
    assert len(killed) == 1
    names = [entry.name for entry in found.segments]
    assert len(names) == BATCHES * 2
    assert segments(machines.home("m1"), names) == segments(embedded, [entry.name for entry in expected.segments])
    # The first freezes the averages and is built here; each of the others was done once, one after it was killed.
    assert (finished.call_count, failed.call_count) == (BATCHES - 1, 1)
    assert "a task of the cluster was lost" in failed.call_args.args[2]
    assert capsys.readouterr().out == ""  # what Ray says of a lost task is not for whoever reads our output
    assert not [path for path in (machines.home("m2") / "index" / "built").glob("*") if path.is_dir()]


def test_ranks_computed_on_machines_have_the_bits_of_one_folder(machines: ThreeMachines, embedded: Path) -> None:
    with (
        Collection(machines.home("m1")) as collection,
        mock.patch.object(RayRunner, "run", autospec=True, side_effect=RayRunner.run) as ran,
        machines.one_task_killed() as killed,
    ):
        collection.rank()
        ours = RankStore(machines.home("m1") / "ranks", collection.catalogs.ranks).current()
    with Collection(embedded) as collection:
        collection.rank()
    theirs = RankStore(embedded / "ranks").current()
    assert len(killed) == 1
    assert {call.args[1].rpartition(":")[2] for call in ran.call_args_list} == {"keep_runs", "sweep_block"}
    assert ours.page_keys.tobytes() == theirs.page_keys.tobytes()
    assert ours.page(ours.page_keys).tobytes() == theirs.page(theirs.page_keys).tobytes()
