"""Tasks with rows: batch work that goes on where it was stopped, whoever goes on with it.

    waiting → running → done
                     ↘ waiting again, or failed after ``MOST_TRIES``

A task is known by its job, its kind and what names its input. Whoever works on it has claimed its row: a token that no
other has, until a time by the database's clock. One whose holder is dead, or silent for that long, may be claimed by
another, and what the first one says later is refused (``LeaseLost``). A try counts when it begins, so that an input
that kills its process is given up, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus.errors import LeaseLost
from periplus.storage import database_time, is_dead, process_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.storage import Database, Transaction

MOST_TRIES: Final = 3
LEASE_SECONDS: Final = 300.0  # a claim that was neither finished nor renewed for so long is free
ERROR_LENGTH: Final = 500  # characters of an error that are kept
GIVEN_UP: Final = f"whoever worked on it ended {MOST_TRIES} times"

_CLAIM: Final = (
    "UPDATE tasks SET state = 'running', owner = ?, token = token + 1, tries = tries + 1, expires = ?, changed = ?"
    " WHERE id = ? RETURNING id, input, token, tries"
)
_ROWS: Final = "SELECT input, id, state, output FROM tasks WHERE job = ? AND kind = ?"
_RUNNING: Final = "SELECT id, owner, expires, tries FROM tasks WHERE job = ? AND kind = ? AND state = 'running'"
_AGAIN: Final = "UPDATE tasks SET state = 'waiting', tries = 0 WHERE job = ? AND kind = ? AND state = 'failed'"
_WAITING: Final = "SELECT id FROM tasks WHERE job = ? AND kind = ? AND input = ? AND state = 'waiting'"
_SETTLE: Final = (
    "UPDATE tasks SET state = ?, output = ?, error = ?, expires = 0, changed = ?, tries = tries - ?"
    " WHERE id = ? AND token = ? AND state = 'running'"
)


class ClaimedTask(Struct, frozen=True):
    """A row that is ours while its token is the row's."""

    id: int
    input: str
    token: int
    tries: int


class FailedTask(Struct, frozen=True):
    """A task that was given up, as the status shows it."""

    job: str
    input: str
    tries: int
    error: str
    at: float


class TaskTable:
    """The table ``tasks`` of one collection, as one process works with it."""

    def __init__(self, database: Database, owner: str = "", clock: Callable[[], float] | None = None) -> None:
        """``clock`` replaces the database's in tests."""
        self._database = database
        self._owner = owner or process_name()
        self._clock = clock

    def open(self, job: str, kind: str, inputs: Sequence[str]) -> dict[str, bytes]:
        """Have a row for each input, and none for others; what came of those that are done already.

        What failed before may be tried again: somebody runs the job anew.
        """
        done: dict[str, bytes] = {}
        with self._database.write() as tx:
            now = self._now(tx)
            known = {}
            for name, row, state, output in tx.rows(f"{_ROWS}{tx.row_lock}", (job, kind)):
                known[str(name)] = int(row)
                if state == "done":
                    done[str(name)] = bytes(output)
            gone = [(known[name],) for name in known.keys() - set(inputs)]
            tx.executemany("DELETE FROM tasks WHERE id = ?", gone)
            tx.execute(_AGAIN, (job, kind))
            new = [(job, kind, name, now) for name in dict.fromkeys(inputs) if name not in known]
            tx.executemany("INSERT INTO tasks (job, kind, input, state, changed) VALUES (?, ?, ?, 'waiting', ?)", new)
        return {name: output for name, output in done.items() if name in set(inputs)}

    def claim(self, job: str, kind: str, name: str) -> ClaimedTask | None:
        """The row of one input, if nobody else has it and it has tries left."""
        with self._database.write() as tx:
            now = self._now(tx)
            self._free(tx, job, kind, now)
            found = tx.value(f"{_WAITING}{tx.row_lock}", (job, kind, name))
            if found is None:
                return None
            row = tx.row(_CLAIM, (self._owner, now + LEASE_SECONDS, now, found))
            return ClaimedTask(*row) if row else None

    def renew(self, tasks: Sequence[ClaimedTask]) -> None:
        """Claims with their full time again; those that were lost are found out when they are settled."""
        with self._database.write() as tx:
            expires = self._now(tx) + LEASE_SECONDS
            sql = "UPDATE tasks SET expires = ? WHERE id = ? AND token = ? AND state = 'running'"
            tx.executemany(sql, [(expires, task.id, task.token) for task in tasks])

    def finish(self, task: ClaimedTask, output: bytes) -> None:
        self._settle(task, "done", output=output)

    def fail(self, task: ClaimedTask, error: str) -> bool:
        """Write down why it failed; whether it may be tried again."""
        is_left = task.tries < MOST_TRIES
        self._settle(task, "waiting" if is_left else "failed", error=error[:ERROR_LENGTH])
        return is_left

    def release(self, task: ClaimedTask) -> None:
        """Give a claim back; the try does not count."""
        self._settle(task, "waiting", uncounted=1)

    def close(self, job: str, kind: str) -> None:
        """The job is over: forget what is done."""
        with self._database.write() as tx:
            tx.execute("DELETE FROM tasks WHERE job = ? AND kind = ? AND state = 'done'", (job, kind))

    def error(self, job: str, kind: str, name: str) -> str:
        with self._database.read() as tx:
            sql = "SELECT error FROM tasks WHERE job = ? AND kind = ? AND input = ?"
            return str(tx.value(sql, (job, kind, name)) or "")

    def _settle(
        self, task: ClaimedTask, state: str, *, output: bytes = b"", error: str = "", uncounted: int = 0
    ) -> None:
        with self._database.write() as tx:
            values = (state, output, error, self._now(tx), uncounted, task.id, task.token)
            if tx.execute(_SETTLE, values) != 1:
                raise LeaseLost(f"{task.input} was taken over by another; what was made of it here does not count")

    def _free(self, tx: Transaction, job: str, kind: str, now: float) -> None:
        """Let go of claims whose holders are gone; those without tries left are given up."""
        for row, owner, expires, tries in tx.rows(f"{_RUNNING}{tx.row_lock}", (job, kind)):
            if expires <= now or is_dead(str(owner)):
                state, error = ("waiting", "") if tries < MOST_TRIES else ("failed", GIVEN_UP)
                change = (
                    "UPDATE tasks SET state = ?, error = ?, expires = 0, token = token + 1, changed = ? WHERE id = ?"
                )
                tx.execute(change, (state, error, now, row))

    def _now(self, tx: Transaction) -> float:
        return self._clock() if self._clock is not None else database_time(tx)


def failed_tasks(database: Database, limit: int) -> list[FailedTask]:
    """The tasks that were given up, newest first."""
    sql = "SELECT job, input, tries, error, changed FROM tasks WHERE state = 'failed' ORDER BY changed DESC, id LIMIT ?"
    with database.read() as tx:
        return [FailedTask(*row) for row in tx.rows(sql, (limit,))]
