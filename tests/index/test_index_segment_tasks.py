"""Segments by tasks: whoever builds them, in whatever number, the bytes are the same."""

import hashlib
import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import StoredBatch, StoredRows, make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.errors import StorageError
from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.building.segment_tasks import FUNCTION, LEAST_BYTES, MEMORY_A_BYTE, cut
from periplus.jobs.recording import RecordingRunner
from periplus.jobs.runners import ProcessRunner
from periplus.jobs.tasks import TaskTable, failed_tasks
from periplus.storage import Database, SerialRunner

WORDS = [f"w{number}" for number in range(60)]
SIZE = LEAST_BYTES  # of each batch, so that each is a task
MEMORY = 30_000_000  # so little that each batch is a task of its own


@pytest.fixture(autouse=True)
def modules_of_this_folder(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def all_rows():
    """Documents, newer versions of some, and refusals of others, over all batches."""
    random = np.random.default_rng(11)
    rows = [random_document(random, int(number), WORDS) for number in random.integers(0, 80, 200)]
    rows += [make_document(number, refusal="gone") for number in (3, 7, 40)]
    return [*rows, make_document(7, "w1 w1 back again")]


def batches(size=SIZE):
    rows = all_rows()
    return [(1 + start // 34, StoredRows(rows[start : start + 34], size)) for start in range(0, len(rows), 34)]


def newest(rows):
    kept = {document.key: document for document in rows}
    return [document for document in kept.values() if document.indexable]


def check(store, documents):
    with store.open() as snapshot:
        oracle = Oracle(documents, snapshot.manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        assert snapshot.live == len(documents)
        for query in (word("w0", "w5"), word("w1"), word("again")):
            expected = sorted(oracle.search(query).items(), key=lambda pair: (-pair[1], pair[0]))
            hits = snapshot.top(query, 200)
            assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in expected]


def digests(folder):
    """Of the files of every segment and of its live documents, in the order of the manifest, whatever the names."""
    found = []
    for entry in IndexStore(folder).manifest().segments:
        files = sorted((folder / "segments" / entry.name).iterdir())
        live = (folder / "overlays" / entry.live_file).read_bytes() if entry.live_file else b""
        found.append([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files])
        found[-1].append(("live", hashlib.sha256(live).hexdigest()))
    return found


def built(folder, runner, shards=1, memory=MEMORY):
    store = IndexStore(folder, memory=memory, runner=runner, shards=shards)
    store.update(batches(), prior=prior_of_keys, merge=False)
    return store


@pytest.mark.parametrize("shards", [1, 3])
def test_one_two_and_four_processes_write_the_same_bytes(tmp_path, shards):
    found = {}
    for workers in (1, 2, 4):
        with ProcessRunner(workers) as runner:
            store = built(tmp_path / str(workers), runner, shards)
        found[workers] = digests(tmp_path / str(workers))
        assert store.manifest().last_batch == 6
        if shards == 1:
            check(store, newest(all_rows()))
    assert len(found[1]) > 5
    assert found[1] == found[2] == found[4]


def test_a_task_that_outgrows_the_memory_writes_several_segments(tmp_path):
    """Versions of one page may be in two of them."""
    store = built(tmp_path / "index", SerialRunner(), memory=100_000)
    assert len(store.manifest().segments) > 6
    check(store, newest(all_rows()))
    with ProcessRunner(2) as runner:
        built(tmp_path / "two", runner, memory=100_000)
    assert digests(tmp_path / "two") == digests(tmp_path / "index")


def test_small_batches_are_one_task_and_what_it_freezes_is_of_all_of_them(tmp_path):
    with ProcessRunner(2) as runner:
        store = IndexStore(tmp_path / "index", runner=runner)
        store.update(batches(size=1), merge=False)
    manifest = store.manifest()
    assert len(manifest.segments) == 1
    assert manifest.epoch.documents == manifest.documents


def test_the_first_task_with_documents_freezes_the_averages(tmp_path):
    gone = [(number, StoredRows([make_document(number, refusal="gone")], SIZE)) for number in (1, 2)]
    later = [(number + 2, source) for number, source in batches()]
    for workers in (1, 2, 4):
        with ProcessRunner(workers) as runner:
            store = IndexStore(tmp_path / str(workers), memory=MEMORY, runner=runner)
            store.update([*gone, *later], merge=False)
        assert store.manifest().epoch.documents == len(newest(batches()[0][1]))
        assert store.manifest().epoch.number == 2
    assert digests(tmp_path / "1") == digests(tmp_path / "2") == digests(tmp_path / "4")


def test_runners_that_do_not_see_the_folder_write_the_same(tmp_path):
    class Elsewhere(SerialRunner):
        is_local = False

    gone = [(1, StoredRows([make_document(1, refusal="gone")], SIZE))]
    later = [(number + 1, source) for number, source in batches()]
    for name, runner in (("here", SerialRunner()), ("elsewhere", Elsewhere())):
        IndexStore(tmp_path / name, memory=MEMORY, runner=runner).update([*gone, *later], merge=False)
    assert digests(tmp_path / "here") == digests(tmp_path / "elsewhere")


def test_a_rebuild_is_the_same_and_an_update_goes_on_in_its_epoch(tmp_path):
    with ProcessRunner(2) as runner:
        store = built(tmp_path / "index", runner)
        first = digests(tmp_path / "index")
        store.rebuild(batches(), prior=prior_of_keys, merge=False)
        again = digests(tmp_path / "index")
        assert [set(some) - set(others) for some, others in zip(first, again, strict=True)] == [
            {one for one in some if one[0] == "segment.json"} for some in first
        ]  # which has the number of the epoch
        epoch = store.manifest().epoch
        store.update([(7, StoredRows([make_document(90, "w1")], SIZE))], merge=False)
    assert store.manifest().epoch == epoch
    assert not (tmp_path / "index" / "built").exists() or not any((tmp_path / "index" / "built").iterdir())


def test_batches_are_read_where_they_are_indexed(tmp_path):
    with ProcessRunner(2) as runner:
        store = IndexStore(tmp_path / "index", runner=runner)
        told = []
        sources = [(number, StoredBatch(10 * number, 10)) for number in (1, 2, 3)]
        store.update(sources, anchors=StoredBatch.anchors, progress=told.append)
    assert store.manifest().documents == 30
    assert told == [30]
    with store.open() as snapshot:
        assert snapshot.frequency("haven") == 30
        assert snapshot.frequency("tide") == 30


class Failing(StoredRows):
    """One that cannot be read, while a file is there."""

    def __init__(self, rows, path):
        super().__init__(rows, SIZE)
        self.path = path

    def __iter__(self):
        if Path(self.path).exists():
            if Path(self.path).read_text():
                os.kill(os.getpid(), signal.SIGKILL)
            raise ZeroDivisionError("no such disk")
        return super().__iter__()


@pytest.fixture
def trouble(tmp_path):
    path = tmp_path / "trouble"
    path.touch()
    return path


def test_what_fails_is_told_with_everything_before_it_published(tmp_path, trouble):
    rows = batches()
    rows[3] = (4, Failing(rows[3][1].rows, str(trouble)))
    with ProcessRunner(2) as runner:
        store = IndexStore(tmp_path / "index", memory=MEMORY, runner=runner)
        with pytest.raises(ZeroDivisionError):
            store.update(rows, merge=False)
        assert store.manifest().last_batch == 3
        trouble.unlink()
        store.update(rows, prior=prior_of_keys, merge=False)
    check(store, newest(all_rows()))


def test_a_process_that_is_killed_is_told(tmp_path, trouble):
    trouble.write_text("kill")
    rows = batches()
    rows[1] = (2, Failing(rows[1][1].rows, str(trouble)))
    with ProcessRunner(2) as runner:
        store = IndexStore(tmp_path / "index", memory=MEMORY, runner=runner)
        with pytest.raises(StorageError, match="try again"):
            store.update(rows, merge=False)
        trouble.unlink()
        store.update(rows, prior=prior_of_keys, merge=False)
    check(store, newest(all_rows()))


class Counting(SerialRunner):
    def __init__(self):
        self.begun = []

    def run(self, function, inputs):
        def counted():
            for task in inputs:
                self.begun.append(task.last)
                yield task

        return super().run(function, counted())


def test_with_rows_what_is_done_is_not_done_again(tmp_path, trouble):
    rows = batches()
    rows[3] = (4, Failing(rows[3][1].rows, str(trouble)))
    counting = Counting()
    with Database.open(tmp_path / "state.db") as database:
        runner = RecordingRunner(TaskTable(database), "index", counting)
        store = IndexStore(tmp_path / "index", memory=MEMORY, runner=runner)
        with pytest.raises(ZeroDivisionError):
            store.rebuild(rows, merge=False)
        assert [task.input.partition(" (")[0] for task in failed_tasks(database, 9)] == ["batch 4"]
        assert sorted(set(counting.begun)) == [1, 2, 3, 4, 5, 6]
        counting.begun.clear()
        trouble.unlink()
        store.rebuild(rows, prior=prior_of_keys, merge=False)
        runner.close()
        assert counting.begun[0] == 4
        assert failed_tasks(database, 9) == []
        with database.read() as tx:
            assert tx.value("SELECT COUNT(*) FROM tasks") == 0
    check(store, newest(all_rows()))
    built(tmp_path / "other", SerialRunner())
    assert digests(tmp_path / "index") == digests(tmp_path / "other")


def test_what_was_built_and_is_gone_is_built_again(tmp_path, trouble):
    rows = batches()
    rows[5] = (6, Failing(rows[5][1].rows, str(trouble)))
    with Database.open(tmp_path / "state.db") as database:
        runner = RecordingRunner(TaskTable(database), "index", SerialRunner())
        store = IndexStore(tmp_path / "index", memory=MEMORY, runner=runner)
        with pytest.raises(ZeroDivisionError):
            store.rebuild(rows, merge=False)
        trouble.unlink()
        shutil.rmtree(tmp_path / "index" / "built")
        store.rebuild(rows, prior=prior_of_keys, merge=False)
    check(store, newest(all_rows()))


sizes = st.lists(st.integers(0, 3 * LEAST_BYTES), min_size=1, max_size=40)


@given(sizes, st.integers(1, 400_000_000))
def test_tasks_are_cut_by_bytes_alone(sizes, memory):
    parts = cut(sizes, memory)
    assert [place for part in parts for place in part] == list(range(len(sizes)))
    assert all(part for part in parts)
    total = sum(sizes)
    if total < 2 * LEAST_BYTES:
        assert len(parts) == 1
        return
    for part in parts:
        assert sum(sizes[place] for place in part) <= max(LEAST_BYTES, memory // MEMORY_A_BYTE) * 2 + max(sizes)
    for part, other in pairwise(parts):
        assert part.stop == other.start


def test_the_function_is_the_one_that_tasks_name():
    module, _, name = FUNCTION.partition(":")
    assert (module, name) == ("periplus.index.building.segment_tasks", "build_segments")
