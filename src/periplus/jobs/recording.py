"""A runner that writes down what is done, so that a job which was stopped goes on instead of beginning anew.

Inputs have a ``name`` that says all that the result depends on; results are plain data that ``msgspec`` can write. Rows
are claimed when their turn comes: a crash leaves few claims behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from periplus.errors import StorageBusy, StorageError
from periplus.storage import TaskOutcome, named_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from periplus.jobs.tasks import ClaimedTask, TaskTable
    from periplus.storage import Runner


class RecordingRunner:
    """Runs what is not done yet by another runner; what failed is tried again, ``MOST_TRIES`` times in all.

    A single input is run as it is, without a row.
    """

    def __init__(self, table: TaskTable, job: str, runner: Runner) -> None:
        self._table = table
        self._job = job
        self._runner = runner
        self._opened: set[str] = set()

    @property
    def workers(self) -> int:
        return self._runner.workers

    @property
    def is_local(self) -> bool:
        return self._runner.is_local

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        given = list(inputs)
        if len(given) < 2:  # rows would cost more than they save
            yield from self._runner.run(function, given)
            return
        self._opened.add(function)
        known = self._table.open(self._job, function, [one.name for one in given])
        kind = get_type_hints(named_function(function))["return"]
        for place, one in enumerate(given):
            if one.name in known:
                yield TaskOutcome(place, msgspec.msgpack.decode(known[one.name], type=kind))
        left = [place for place, one in enumerate(given) if one.name not in known]
        while left:
            again: list[int] = []
            yield from self._round(function, given, left, again)
            left = again

    def close(self) -> None:
        """Forget what is done: the job is over."""
        for function in self._opened:
            self._table.close(self._job, function)
        self._opened.clear()

    def _round(self, function: str, given: Sequence[Any], left: list[int], again: list[int]) -> Iterator[TaskOutcome]:
        """Each of ``left`` once; those that failed and have tries left come ``again``."""
        claims: list[ClaimedTask] = []
        places: list[int] = []
        open_claims: dict[int, ClaimedTask] = {}
        refused: list[int] = []

        def claimed() -> Iterator[Any]:
            for place in left:
                task = self._table.claim(self._job, function, given[place].name)
                if task is None:
                    refused.append(place)
                    continue
                open_claims[len(claims)] = task
                claims.append(task)
                places.append(place)
                yield given[place]

        try:
            for outcome in self._runner.run(function, claimed()):
                task, place = open_claims.pop(outcome.place), places[outcome.place]
                self._table.renew(list(open_claims.values()))
                if outcome.error is None:
                    self._table.finish(task, msgspec.msgpack.encode(outcome.result))
                    yield TaskOutcome(place, outcome.result)
                elif self._table.fail(task, _line(outcome.error)):
                    again.append(place)
                else:
                    yield TaskOutcome(place, None, outcome.error)
        finally:
            for task in open_claims.values():  # nobody works on them any more
                self._table.release(task)
        for place in refused:
            yield TaskOutcome(place, None, self._refusal(function, given[place].name))

    def _refusal(self, function: str, name: str) -> Exception:
        error = self._table.error(self._job, function, name)
        if error:
            return StorageError(f"{name}: {error}; look into it, and run the same again")
        return StorageBusy(f"another process works on {name}; wait for it, or end it")


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
