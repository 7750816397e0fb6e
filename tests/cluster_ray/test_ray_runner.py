"""Ray as a runner: what it gives is what this process gives, to the byte."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
for room in ("index", "graph", "jobs"):
    sys.path.insert(0, str(TESTS / room))

from test_graph_blocks import in_blocks, web  # noqa: E402
from test_index_segment_tasks import MEMORY, batches, digests  # noqa: E402

from periplus.errors import Corrupt, StorageError  # noqa: E402
from periplus.graph import block_pagerank, blocks  # noqa: E402
from periplus.index import IndexStore  # noqa: E402
from periplus.jobs.ray_runner import RayRunner  # noqa: E402
from periplus.storage import SerialRunner, results  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
TASKS = "test_jobs_runners"


@pytest.fixture
def runner(ray):
    return RayRunner(ray)


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
    (outcome,) = runner.run(f"{TASKS}:unsendable", [7])
    assert "of 7" in str(outcome.error)


def test_a_task_that_kills_its_process_costs_itself_only(runner) -> None:
    outcomes = sorted(runner.run(f"{TASKS}:die_at_three", range(5)), key=lambda outcome: outcome.place)
    assert [outcome.result for outcome in outcomes] == [0, 1, 2, None, 4]
    assert isinstance(outcomes[3].error, StorageError)
    assert "\n" not in str(outcomes[3].error)


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
