"""Several processes build what one would have built."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from index_world import StoredBatch, make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.errors import StorageError
from periplus.index import Group, IndexQuery, IndexStore, TermForm, team

WORDS = [f"w{number}" for number in range(60)]


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def batches():
    """Documents, newer versions of some, and refusals of others, in an order that no process sees whole."""
    random = np.random.default_rng(11)
    rows = [random_document(random, int(number), WORDS) for number in random.integers(0, 80, 200)]
    rows += [make_document(number, refusal="gone") for number in (3, 7, 40)]
    rows += [make_document(7, "w1 w1 back again")]
    return [(1, rows[:90]), (2, rows[90:150]), (3, rows[150:])]


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


def contents(folder, names=None):
    """What the segments hold, whatever their names."""
    return sorted(
        tuple((path.name, path.read_bytes()) for path in sorted(segment.iterdir()))
        for segment in (folder / "segments").iterdir()
        if names is None or segment.name in names
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The same index twice, each by two processes and in several rounds."""
    folders = [tmp_path_factory.mktemp("team") / "index" for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(team, "CHUNK", 7)
        patch.setattr(threading, "active_count", lambda: 2)  # so that processes are fresh
        for folder in folders:
            IndexStore(folder, memory=400_000, workers=2).update(batches(), prior=prior_of_keys, merge=False)
    return folders


def test_two_processes_find_what_one_finds(built):
    store = IndexStore(built[0])
    assert store.manifest().last_batch == 3
    assert len(store.manifest().segments) >= 2
    check(store, newest([row for _, rows in batches() for row in rows]))


def test_what_they_write_does_not_depend_on_who_is_faster(built):
    assert contents(built[0]) == contents(built[1])


COPIES = """
import os, signal, sys, threading
from pathlib import Path
from test_index_team import batches
from index_world import prior_of_keys
from periplus.errors import StorageError
from periplus.index import IndexStore, processes, team

assert threading.active_count() == 1
team.CHUNK = 7
folder = Path(sys.argv[1])
IndexStore(folder, memory=400_000, workers=2).update(batches(), prior=prior_of_keys, merge=False)

real = team.Team.totals
def killing(self):
    assert isinstance(self._helpers[0]._process, processes._Copy)
    os.kill(self._helpers[0]._process.pid, signal.SIGKILL)
    return real(self)
team.Team.totals = killing
try:
    IndexStore(folder, workers=2).update([(4, batches()[0][1])])
except StorageError as error:
    print(error)
team.Team.totals = real
assert IndexStore(folder).manifest().last_batch == 3
"""


def test_copies_of_a_process_without_threads_write_the_same(built, tmp_path):
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", COPIES, str(tmp_path / "index")],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "try again" in done.stdout
    names = [entry.name for entry in IndexStore(tmp_path / "index").manifest().segments]
    assert len(names) == len(IndexStore(built[0]).manifest().segments)
    assert contents(tmp_path / "index", names) == contents(built[0])


def test_batches_are_read_where_they_are_indexed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    store = IndexStore(tmp_path / "index", workers=2)
    sources = [(number, StoredBatch(10 * number, 10)) for number in (1, 2, 3)]
    told = []
    store.update(sources, anchors=StoredBatch.anchors, progress=told.append)
    assert store.manifest().documents == 30
    with store.open() as snapshot:
        assert snapshot.frequency("haven") == 30
        assert snapshot.frequency("tide") == 30


def test_a_process_that_fails_is_told_and_nothing_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    store = IndexStore(tmp_path / "index", workers=2)
    store.update([(1, StoredBatch(0, 5))])
    with pytest.raises(ZeroDivisionError):
        store.update([(2, StoredBatch(10, 5)), (3, StoredBatch(20, -1))])
    assert store.manifest().last_batch == 1
    assert store.update([(2, StoredBatch(10, 5))]).documents == 10


def test_a_process_that_is_killed_is_told_and_nothing_changes(tmp_path, monkeypatch):
    store = IndexStore(tmp_path / "index", workers=2)
    store.update([(1, [make_document(1, "tide")])])
    real = team.Team.totals

    def killing(self):
        os.kill(self._helpers[0]._process.pid, signal.SIGKILL)
        return real(self)

    monkeypatch.setattr(team.Team, "totals", killing)
    with pytest.raises(StorageError, match="try again"):
        store.update([(2, [make_document(2, "port")])])
    monkeypatch.undo()
    assert store.manifest().last_batch == 1
    assert store.update([(2, [make_document(2, "port")])]).documents == 2
    assert {path.name for path in (tmp_path / "index" / "segments").iterdir()} == {
        entry.name for entry in store.manifest().segments
    }


def test_the_latest_turn_wins():
    first = team.Written("a", np.array([1, 2, 3]), np.array([0, 4, 2]))
    second = team.Written("b", np.array([2, 3, 9]), np.array([3, 5, 1]))
    assert [keys.tolist() for keys in team.losers([first, second])] == [[3], [2]]
