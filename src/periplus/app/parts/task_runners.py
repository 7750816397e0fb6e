"""Who runs the tasks of a step: all machines of a cluster, where this one is of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.cluster import GUESTS, Nodes, reach, read_token
from periplus.cluster.rays import connect, disconnect
from periplus.errors import NotFound
from periplus.jobs.ray_runner import RayRunner
from periplus.storage import is_here, write_event

if TYPE_CHECKING:
    from periplus.app.collection import Collection

FEWEST_MACHINES = 2  # alone, a machine has its own processes, which need not ask anybody


def task_runner(collection: Collection) -> RayRunner | None:
    """Runs tasks on all machines; None where this is none of them, or Ray's head does not answer."""
    folder, nodes = collection.folder.resolve(), Nodes(collection.database)
    alive = nodes.alive()
    own = next(
        (one for one in alive if one.folder == str(folder) and (one.process == GUESTS or is_here(one.process))), None
    )
    if own is None or len(alive) < FEWEST_MACHINES:
        return None
    head = nodes.head().address
    if not _answers(head):
        with collection.database.write() as tx:
            write_event(tx, "cluster", f"Ray's head at {head} does not answer: tasks run on this machine", "warning")
        return None
    token, address = ("", "") if own.process == GUESTS else (read_token(folder), own.address)
    return RayRunner(
        lambda: connect(head, token, address), folder, disconnect=disconnect, is_there=lambda: _answers(head)
    )


def _answers(head: str) -> bool:
    if head == "auto":  # a Ray of somebody else, which this machine knows
        return True
    try:
        reach(head)
    except NotFound:
        return False
    return True
