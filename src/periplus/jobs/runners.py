"""Runners of tasks (``storage.Runner``): several processes on this machine, and one that tries again.

Which one runs is a matter of time only: tasks are cut by what there is to do, never by how many work on it.
"""

from __future__ import annotations

import os
import pickle
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from periplus.errors import StorageError
from periplus.jobs.tasks import MOST_TRIES
from periplus.storage import SerialRunner, TaskOutcome, named_function, outcome_of
from periplus.storage.helper_processes import HelperProcess, answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection

    from periplus.storage import Runner


class ProcessRunner:
    """Several processes on this machine, started when there is something for two of them to do.

    A process that dies takes the task that it had with it, as an error; another one goes on with the next.
    """

    def __init__(self, workers: int = 0, *, may_copy: bool = True) -> None:
        """As many processes as ``workers``, or as there are cores; ``may_copy`` as of ``HelperProcess``."""
        self.workers = workers or len(os.sched_getaffinity(0))
        self._may_copy = may_copy
        self._idle: list[HelperProcess] = []

    @property
    def is_local(self) -> bool:
        return True

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        if self.workers == 1:
            return SerialRunner().run(function, inputs)
        waiting = iter(inputs)
        first = list(islice(waiting, 2))
        if len(first) < 2:
            return SerialRunner().run(function, first)
        return self._run(function, chain(first, waiting))

    def close(self) -> None:
        helpers, self._idle = self._idle, []
        for helper in helpers:
            helper.close()

    def __enter__(self) -> ProcessRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        waiting = iter(enumerate(inputs))
        busy: dict[int, HelperProcess] = {}  # by the place of its input
        try:
            while True:
                while len(busy) < self.workers and (following := next(waiting, None)) is not None:
                    place, given = following
                    busy[place] = self._idle.pop() if self._idle else self._started()
                    busy[place].send(function, place, given)
                if not busy:
                    return
                yield self._next_outcome(busy)
        finally:
            for helper in busy.values():  # nobody waits for what they do
                helper.close()

    def _started(self) -> HelperProcess:
        return HelperProcess(f"{__name__}:work", may_copy=self._may_copy)

    def _next_outcome(self, busy: dict[int, HelperProcess]) -> TaskOutcome:
        places = list(busy)
        place = places[answered(list(busy.values()))[0]]
        helper = busy.pop(place)
        try:
            outcome: TaskOutcome = helper.receive()
        except StorageError as error:
            helper.close()
            return TaskOutcome(place, None, error)
        self._idle.append(helper)
        return outcome


class RetryingRunner:
    """Runs by another runner, and again what failed there, ``MOST_TRIES`` times in all; for tasks without rows."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def workers(self) -> int:
        return self._runner.workers

    @property
    def is_local(self) -> bool:
        return self._runner.is_local

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        given = list(inputs)
        left = list(range(len(given)))
        for tries in range(1, MOST_TRIES + 1):
            failed = []
            for outcome in self._runner.run(function, [given[place] for place in left]):
                if outcome.error is None or tries == MOST_TRIES:
                    yield outcome._replace(place=left[outcome.place])
                else:
                    failed.append(left[outcome.place])
            left = failed


def work(connection: Connection[Any, Any]) -> None:
    """The function that a process runs: tasks come one at a time, and each is answered."""
    while True:
        function, place, given = connection.recv()
        connection.send(sendable(outcome_of(named_function(function), place, given)))


def sendable(outcome: TaskOutcome) -> TaskOutcome:
    """The outcome itself, or in words what cannot leave its process."""
    try:
        pickle.loads(pickle.dumps(outcome.error))  # noqa: S301 - our own
    except Exception as error:  # noqa: BLE001 - classes of others may do anything
        told = outcome.error or error
        return TaskOutcome(outcome.place, None, StorageError(f"{type(told).__name__}: {told}"))
    return outcome
