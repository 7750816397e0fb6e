"""Ray as a runner: what it gives is what this process gives, to the byte."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
for room in ("index", "graph", "jobs"):
    sys.path.insert(0, str(TESTS / room))

from ray_tasks import FUNCTION, Errand  # noqa: E402
from test_graph_blocks import in_blocks, web  # noqa: E402
from test_index_segment_tasks import MEMORY, batches, digests  # noqa: E402

from periplus.errors import Corrupt, StorageError  # noqa: E402
from periplus.graph import block_pagerank, blocks  # noqa: E402
from periplus.index import IndexStore  # noqa: E402
from periplus.jobs.ray_runner import RayRunner  # noqa: E402
from periplus.jobs.recording import RecordingRunner  # noqa: E402
from periplus.jobs.tasks import MOST_TRIES, TaskTable, failed_tasks  # noqa: E402
from periplus.storage import Database, SerialRunner, results  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
TASKS = "test_jobs_runners"


@pytest.fixture
def runner(ray, tmp_path):
    return RayRunner(lambda: ray, tmp_path)


def test_there_is_a_task_for_every_core(runner) -> None:
    assert runner.workers == 2
    assert not runner.is_local


def test_every_input_has_one_outcome(runner) -> None:
    assert results(runner.run(f"{TASKS}:double", range(9))) == [2 * number for number in range(9)]
    assert list(runner.run(f"{TASKS}:double", [])) == []


def test_a_bad_input_is_told_and_the_rest_goes_on(runner) -> None:
    outcomes = sorted(runner.run(f"{TASKS}:double", [1, -2, 3]), key=lambda outcome: outcome.place)
    assert [outcome.result for outcome in outcomes] == [2, None, 6]
    assert isinstance(outcomes[1].error, Corrupt)
    assert str(outcomes[1].error) == "-2 is too small; give another"


def test_an_error_that_cannot_be_sent_is_told_in_words(runner) -> None:
    outcomes = list(runner.run(f"{TASKS}:unsendable", [7, 8]))
    assert sorted(str(outcome.error)[-4:] for outcome in outcomes) == ["of 7", "of 8"]


def test_a_task_that_kills_its_process_costs_itself_only(runner) -> None:
    outcomes = sorted(runner.run(f"{TASKS}:die_at_three", range(5)), key=lambda outcome: outcome.place)
    assert [outcome.result for outcome in outcomes] == [0, 1, 2, None, 4]
    assert isinstance(outcomes[3].error, StorageError)
    assert "\n" not in str(outcomes[3].error)


def test_one_that_is_killed_is_done_again_a_bad_one_listed_and_the_rest_goes_on(runner, tmp_path) -> None:
    errands = [Errand(name, tmp_path) for name in ("first", "killed", "bad", "last")]
    with Database.open(tmp_path / "state.db") as database:
        recording = RecordingRunner(TaskTable(database), "job", runner)
        outcomes = {outcome.place: outcome for outcome in recording.run(FUNCTION, errands)}
        assert [outcomes[place].result for place in range(4)] == ["FIRST", "KILLED", None, "LAST"]
        assert [one.times() for one in errands] == [1, 2, MOST_TRIES, 1]
        (failed,) = failed_tasks(database, 9)
        assert (failed.input, failed.error) == ("bad", "Corrupt: bad is damaged; restore it")
        assert len(list(recording.run(FUNCTION, errands))) == 4
        assert [one.times() for one in errands] == [1, 2, 2 * MOST_TRIES, 1]  # what is done is not done again


def test_what_nobody_waits_for_is_not_taken_for_something_else(runner) -> None:
    next(iter(runner.run(f"{TASKS}:double", range(9))))
    assert results(runner.run(f"{TASKS}:double", [5, 6, 7])) == [10, 12, 14]


@pytest.mark.parametrize("shards", [1, 3])
def test_segments_have_the_bytes_of_one_process(runner, tmp_path, shards) -> None:
    for name, one in (("ray", runner), ("serial", SerialRunner())):
        store = IndexStore(tmp_path / name, memory=MEMORY, runner=one, shards=shards)
        store.update(batches(), merge=False)
    assert len(digests(tmp_path / "ray")) > 5
    assert digests(tmp_path / "ray") == digests(tmp_path / "serial")


def test_ranks_over_blocks_have_the_bits_of_one_process(runner, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_EDGES", 8_000)
    sources, targets, pairs = web(3_000, 20_000, 3)
    found = []
    for name, one in (("ray", runner), ("serial", SerialRunner())):
        made = in_blocks(tmp_path / name, sources, targets, np.ones(len(pairs)), 3_000)
        assert len(made.blocks) > 1
        found.append(block_pagerank(made, runner=one).ranks.tobytes())
    assert found[0] == found[1]
