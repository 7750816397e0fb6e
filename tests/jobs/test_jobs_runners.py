"""Runners: the same outcomes from one process and from several, whatever happens to a task."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from periplus.errors import Corrupt, StorageError
from periplus.jobs.runners import ProcessRunner
from periplus.storage import SerialRunner, results

HERE = "test_jobs_runners"


def double(number: int) -> int:
    if number < 0:
        raise Corrupt(f"{number} is too small; give another")
    return 2 * number


class Unsendable(Exception):
    def __init__(self, number: int) -> None:
        super().__init__(f"of {number}")
        self.lock = threading.Lock()


def unsendable(number: int) -> int:
    raise Unsendable(number)


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def process_of(_: int) -> int:
    return os.getpid()


@pytest.fixture(params=[0, 2, 4])
def runner(request, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    if not request.param:
        yield SerialRunner()
        return
    with ProcessRunner(request.param) as runner:
        yield runner


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_every_input_has_one_outcome(runner, count) -> None:
    outcomes = list(runner.run(f"{HERE}:double", range(count)))
    assert sorted(outcome.place for outcome in outcomes) == list(range(count))
    assert results(outcomes) == [2 * number for number in range(count)]


def test_a_bad_input_is_told_and_the_rest_goes_on(runner) -> None:
    outcomes = sorted(runner.run(f"{HERE}:double", [1, -2, 3]), key=lambda outcome: outcome.place)
    assert [outcome.result for outcome in outcomes] == [2, None, 6]
    assert isinstance(outcomes[1].error, Corrupt)
    assert str(outcomes[1].error) == "-2 is too small; give another"
    with pytest.raises(Corrupt):
        results(outcomes)


def test_an_error_that_cannot_be_sent_is_told_in_words(runner) -> None:
    errors = [str(outcome.error) for outcome in runner.run(f"{HERE}:unsendable", [7, 7])]
    assert all("of 7" in error for error in errors)


def test_processes_that_die_cost_their_task_only(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with ProcessRunner(2) as runner:
        for _ in range(2):
            outcomes = sorted(runner.run(f"{HERE}:die_at_three", range(6)), key=lambda outcome: outcome.place)
            assert [outcome.result for outcome in outcomes] == [0, 1, 2, None, 4, 5]
            assert isinstance(outcomes[3].error, StorageError)
            assert "ended with code -9" in str(outcomes[3].error)


def test_tasks_run_in_as_many_processes_as_asked_for_and_these_are_kept(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with ProcessRunner(3) as runner:
        first = set(results(runner.run(f"{HERE}:process_of", range(30))))
        second = set(results(runner.run(f"{HERE}:process_of", range(30))))
    assert os.getpid() not in first
    assert len(first | second) <= 3


def test_what_nobody_waits_for_is_not_taken_for_something_else(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with ProcessRunner(2) as runner:
        next(iter(runner.run(f"{HERE}:double", range(9))))
        assert results(runner.run(f"{HERE}:double", [5, 6, 7])) == [10, 12, 14]


EMBEDDED = """
import sys
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.records import Document
with Collection(sys.argv[1]).create() as collection:
    url = "http://a.test/"
    BatchLog(collection.files, collection.database).append([Document(url=url, key=1, fetched=1.0, text="tide")])
    collection.rank()
    collection.index()
    collection.status()
import periplus.jobs.ray_runner
assert "ray" not in sys.modules
"""


def test_the_embedded_steps_never_import_ray(tmp_path) -> None:
    subprocess.run([sys.executable, "-c", EMBEDDED, str(tmp_path / "c")], check=True, timeout=120)
