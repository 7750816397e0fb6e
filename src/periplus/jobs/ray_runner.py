"""Tasks of Ray Core, on all machines of a cluster. Ray is given, connected: nothing here imports it."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from periplus.errors import StorageError
from periplus.jobs.packing import packed, unpacked
from periplus.jobs.runners import sendable
from periplus.storage import SerialRunner, TaskOutcome, named_function, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

WAIT_SECONDS: Final = 10.0  # without an outcome, after which it is looked whether Ray is still there
GONE: Final = "Ray's head does not answer any more; periplus cluster start makes another one"


class RayRunner:
    """Runs tasks wherever the cluster has a free core; a task that is lost with its process or machine is an error.

    Ray is connected when there is something for two machines to do.
    """

    is_local = False  # other machines do not see our folders

    def __init__(
        self,
        connect: Callable[[], Any],
        home: Path,
        *,
        disconnect: Callable[[], None] = lambda: None,
        is_there: Callable[[], bool] = lambda: True,
    ) -> None:
        """``connect`` gives the module of Ray after its ``init``, and ``is_there`` says whether its head answers.

        ``home`` is the working copy of this machine; tasks work in that of theirs.
        """
        self._connect, self._disconnect, self._is_there = connect, disconnect, is_there
        self._home = home
        self._connected: Any = None
        self._task: Any = None

    @property
    def workers(self) -> int:
        """As many as there are cores; machines come and go."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        waiting = iter(inputs)
        first = list(islice(waiting, 2))
        return self._run(function, chain(first, waiting)) if len(first) > 1 else SerialRunner().run(function, first)

    def close(self) -> None:
        if self._connected is not None:
            self._connected = self._task = None
            self._disconnect()

    def __enter__(self) -> RayRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _ray(self) -> Any:
        if self._connected is None:
            self._connected = self._connect()
            # Ray's own retries would hide what the rows of tasks count.
            self._task = self._connected.remote(run_task).options(max_retries=0, num_cpus=1)
        return self._connected

    def _run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        ray = self._ray
        waiting = iter(enumerate(inputs))
        busy: dict[Any, int] = {}  # places of inputs, by the reference to what comes of them
        try:
            while True:
                while len(busy) < self.workers and (following := next(waiting, None)) is not None:
                    place, given = following
                    busy[self._task.remote(function, place, packed(given, self._home), str(self._home))] = place
                if not busy:
                    return
                ready, _ = ray.wait(list(busy), num_returns=1, timeout=WAIT_SECONDS)
                for reference in ready:
                    yield self._outcome(reference, busy.pop(reference))
                if not ready and not self._is_there():
                    raise StorageError(GONE)
        finally:
            for reference in busy:  # nobody waits for what they do
                ray.cancel(reference, force=True)

    def _outcome(self, reference: Any, place: int) -> TaskOutcome:
        try:
            outcome: TaskOutcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            return TaskOutcome(place, None, StorageError(f"a task of the cluster was lost ({line}); try again"))
        return outcome


def run_task(function: str, place: int, data: bytes, home: str) -> TaskOutcome:
    """What a machine does: an error is an outcome like another."""
    return sendable(outcome_of(lambda given: named_function(function)(unpacked(given, home)), place, data))
