"""Tasks with rows: claimed once, done once, given up after a few tries; a job that was stopped goes on."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from msgspec import Struct

from periplus.app import Collection
from periplus.cli.status_verb import status
from periplus.errors import Corrupt, LeaseLost, StorageBusy, StorageError
from periplus.jobs import operator_view
from periplus.jobs.recording import RecordingRunner
from periplus.jobs.tasks import GIVEN_UP, LEASE_SECONDS, MOST_TRIES, TaskTable, failed_tasks
from periplus.storage import SerialRunner
from support.databases import database, postgres_address  # noqa: F401 (fixtures)

JOB, KIND = "index", "test_jobs_tasks:square"


class Number(Struct, frozen=True):
    value: int

    @property
    def name(self) -> str:
        return f"number {self.value}"


class Square(Struct, frozen=True):
    value: int
    keys: bytes = b""


called: list[int] = []
broken: set[int] = set()


def square(given: Number) -> Square:
    called.append(given.value)
    if given.value in broken:
        raise Corrupt(f"{given.value} is damaged; restore it\nand more")
    return Square(given.value**2, b"\0\xff")


@pytest.fixture(autouse=True)
def nothing_called():
    called.clear()
    broken.clear()


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def table(database, clock):  # noqa: F811
    return TaskTable(database, "one", clock)


def test_a_row_is_claimed_once_and_done_once(table, database, clock) -> None:  # noqa: F811
    other = TaskTable(database, "two", clock)
    assert table.open(JOB, KIND, ["a", "b"]) == {}
    task = table.claim(JOB, KIND, "a")
    assert task is not None
    assert table.claim(JOB, KIND, "a") is None
    assert other.claim(JOB, KIND, "a") is None
    assert other.claim(JOB, KIND, "b") is not None
    table.finish(task, b"\0result")
    assert table.claim(JOB, KIND, "a") is None
    assert table.open(JOB, KIND, ["a", "b"]) == {"a": b"\0result"}
    with pytest.raises(LeaseLost):
        table.finish(task, b"twice")
    table.close(JOB, KIND)
    assert table.open(JOB, KIND, ["a"]) == {}


def test_rows_of_other_inputs_go_and_other_jobs_stay(table) -> None:
    table.open(JOB, KIND, ["a", "b"])
    table.open("rank", KIND, ["a"])
    table.finish(table.claim(JOB, KIND, "a"), b"1")
    table.finish(table.claim("rank", KIND, "a"), b"2")
    assert table.open(JOB, KIND, ["b"]) == {}
    assert table.open(JOB, KIND, ["a"]) == {}
    assert table.open("rank", KIND, ["a"]) == {"a": b"2"}


def test_a_silent_holder_loses_its_claim_and_its_late_word_does_not_count(table, database, clock) -> None:  # noqa: F811
    other = TaskTable(database, "two", clock)
    table.open(JOB, KIND, ["a"])
    mine = table.claim(JOB, KIND, "a")
    clock.now += LEASE_SECONDS - 1
    assert other.claim(JOB, KIND, "a") is None
    table.renew([mine])
    clock.now += LEASE_SECONDS - 1
    assert other.claim(JOB, KIND, "a") is None
    clock.now += 1
    theirs = other.claim(JOB, KIND, "a")
    assert theirs is not None
    assert theirs.token > mine.token
    for late in (lambda: table.finish(mine, b"late"), lambda: table.fail(mine, "late"), lambda: table.release(mine)):
        with pytest.raises(LeaseLost):
            late()
    other.finish(theirs, b"theirs")
    assert table.open(JOB, KIND, ["a"]) == {"a": b"theirs"}


def test_an_expired_claim_that_nobody_took_still_counts(table, clock) -> None:
    table.open(JOB, KIND, ["a"])
    task = table.claim(JOB, KIND, "a")
    clock.now += 10 * LEASE_SECONDS
    table.finish(task, b"late but ours")
    assert table.open(JOB, KIND, ["a"]) == {"a": b"late but ours"}


def test_tries_are_bounded_and_a_new_run_is_a_new_chance(table, database) -> None:  # noqa: F811
    table.open(JOB, KIND, ["a"])
    for number in range(1, MOST_TRIES + 1):
        task = table.claim(JOB, KIND, "a")
        assert task.tries == number
        assert table.fail(task, f"try {number}") == (number < MOST_TRIES)
    assert table.claim(JOB, KIND, "a") is None
    (failed,) = failed_tasks(database, 9)
    assert (failed.job, failed.input, failed.tries, failed.error) == (JOB, "a", MOST_TRIES, f"try {MOST_TRIES}")
    table.open(JOB, KIND, ["a"])
    assert failed_tasks(database, 9) == []
    assert table.claim(JOB, KIND, "a").tries == 1


def test_an_input_that_kills_its_process_is_given_up(table, database, clock) -> None:  # noqa: F811
    table.open(JOB, KIND, ["a"])
    for _ in range(MOST_TRIES):
        assert table.claim(JOB, KIND, "a") is not None
        clock.now += LEASE_SECONDS
    assert table.claim(JOB, KIND, "a") is None
    assert [failed.error for failed in failed_tasks(database, 9)] == [GIVEN_UP]


def test_a_release_is_no_try(table) -> None:
    table.open(JOB, KIND, ["a"])
    for _ in range(2 * MOST_TRIES):
        task = table.claim(JOB, KIND, "a")
        assert task.tries == 1
        table.release(task)


def test_claims_of_a_dead_process_are_free_at_once(database, clock) -> None:  # noqa: F811
    script = "from periplus.storage import process_name; print(process_name())"
    dead = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    before = TaskTable(database, dead, clock)
    before.open(JOB, KIND, ["a"])
    assert before.claim(JOB, KIND, "a") is not None
    assert TaskTable(database, "two", clock).claim(JOB, KIND, "a") is not None


def test_the_clock_is_the_database_s(database) -> None:  # noqa: F811
    table = TaskTable(database)
    table.open(JOB, KIND, ["a"])
    assert table.claim(JOB, KIND, "a") is not None
    assert table.claim(JOB, KIND, "a") is None


# The runner


def numbers(*values: int) -> list[Number]:
    return [Number(value) for value in values]


def found(outcomes) -> dict[int, int | None]:
    return {outcome.place: outcome.result.value if outcome.result else None for outcome in outcomes}


@pytest.fixture
def runner(table):
    return RecordingRunner(table, JOB, SerialRunner())


def test_what_is_done_is_not_done_again(runner) -> None:
    outcomes = iter(runner.run(KIND, numbers(1, 2, 3, 4)))
    next(outcomes), next(outcomes)
    outcomes.close()  # stopped half-way
    done = len(called)
    assert done < 4
    outcomes = list(runner.run(KIND, numbers(1, 2, 3, 4, 5)))
    assert found(outcomes) == {0: 1, 1: 4, 2: 9, 3: 16, 4: 25}
    assert {outcome.result.keys for outcome in outcomes} == {b"\0\xff"}
    assert len(called) <= 5 + 1  # the one under way at the stop, at most, twice
    called.clear()
    assert len(list(runner.run(KIND, numbers(1, 2)))) == 2
    assert called == []
    runner.close()
    list(runner.run(KIND, numbers(1, 2)))
    assert called == [1, 2]


def test_a_bad_input_is_listed_and_the_rest_goes_on(runner, database) -> None:  # noqa: F811
    broken.add(2)
    outcomes = list(runner.run(KIND, numbers(1, 2, 3)))
    assert found(outcomes) == {0: 1, 1: None, 2: 9}
    (error,) = [outcome.error for outcome in outcomes if outcome.error]
    assert isinstance(error, Corrupt)
    assert called.count(2) == MOST_TRIES
    (failed,) = failed_tasks(database, 9)
    assert (failed.input, failed.error) == ("number 2", "Corrupt: 2 is damaged; restore it")
    assert operator_view(database).failed_tasks == (failed,)
    broken.clear()
    called.clear()
    assert found(runner.run(KIND, numbers(1, 2, 3))) == {0: 1, 1: 4, 2: 9}
    assert called == [2]
    assert failed_tasks(database, 9) == []


def test_what_another_works_on_is_not_done_twice(runner, database, clock) -> None:  # noqa: F811
    other = TaskTable(database, "two", clock)
    other.open(JOB, KIND, ["number 1", "number 2"])
    other.claim(JOB, KIND, "number 1")
    outcomes = {outcome.place: outcome for outcome in runner.run(KIND, numbers(1, 2))}
    assert isinstance(outcomes[0].error, StorageBusy)
    assert outcomes[1].result == Square(4, b"\0\xff")
    assert called == [2]


def test_one_that_was_given_up_meanwhile_says_why(runner, database, clock, monkeypatch) -> None:  # noqa: F811
    other = TaskTable(database, "two", clock)
    opened = TaskTable.open

    def open_and_give_up(self, job, kind, inputs):
        known = opened(self, job, kind, inputs)
        while task := other.claim(JOB, KIND, "number 1"):
            other.fail(task, "no such disk")
        return known

    monkeypatch.setattr(TaskTable, "open", open_and_give_up)
    (error,) = [outcome.error for outcome in runner.run(KIND, numbers(1, 2)) if outcome.error]
    assert isinstance(error, StorageError)
    assert "no such disk" in str(error)


def test_the_status_lists_what_failed(tmp_path, capsys) -> None:
    with Collection(tmp_path / "c").create() as collection:
        table = TaskTable(collection.database)
        table.open(JOB, KIND, ["batches 3 to 9"])
        while task := table.claim(JOB, KIND, "batches 3 to 9"):
            table.fail(task, "Corrupt: documents/00000004.parquet is damaged")
    status(tmp_path / "c")
    shown = " ".join(capsys.readouterr().out.split())
    assert "batches 3 to 9" in shown
    assert "00000004.parquet is damaged" in shown
    status(tmp_path / "c", json=True)
    assert json.loads(capsys.readouterr().out)["failed_tasks"][0]["tries"] == MOST_TRIES
