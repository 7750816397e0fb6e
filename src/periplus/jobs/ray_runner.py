"""Tasks of Ray Core, on all machines of a cluster. Ray is given, connected: nothing here imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from periplus.errors import StorageError
from periplus.jobs.runners import sendable
from periplus.storage import TaskOutcome, named_function, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WAIT_SECONDS: Final = 60.0  # after which it is looked again; a wait without an end gives up after days


class RayRunner:
    """Runs tasks wherever the cluster has a free core; a task that is lost with its machine is an error."""

    is_local = False  # other machines do not see our folders

    def __init__(self, ray: Any, workers: int = 0) -> None:
        """``ray`` is the module after its ``init``; ``workers`` tasks at once, or as many as there are cores."""
        self._ray = ray
        self._workers = workers
        # Ray's own retries would hide what the rows of tasks count.
        self._task = ray.remote(run_task).options(max_retries=0, num_cpus=1)

    @property
    def workers(self) -> int:
        """Machines come and go."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        waiting = iter(enumerate(inputs))
        busy: dict[Any, int] = {}  # places of inputs, by the reference to what comes of them
        try:
            while True:
                while len(busy) < self.workers and (following := next(waiting, None)) is not None:
                    place, given = following
                    busy[self._task.remote(function, place, given)] = place
                if not busy:
                    return
                ready, _ = self._ray.wait(list(busy), num_returns=1, timeout=WAIT_SECONDS)
                for reference in ready:
                    yield self._outcome(reference, busy.pop(reference))
        finally:
            for reference in busy:  # nobody waits for what they do
                self._ray.cancel(reference, force=True)

    def _outcome(self, reference: Any, place: int) -> TaskOutcome:
        try:
            outcome: TaskOutcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            return TaskOutcome(place, None, StorageError(f"a task of the cluster was lost ({line}); try again"))
        return outcome


def run_task(function: str, place: int, given: Any) -> TaskOutcome:
    """What a machine does: an error is an outcome like another."""
    return sendable(outcome_of(named_function(function), place, given))
