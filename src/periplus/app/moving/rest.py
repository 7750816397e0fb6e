"""That nobody else is at work in a collection while it is moved."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from periplus.crawl import TAKEDOWN_LOCK
from periplus.errors import StorageBusy
from periplus.storage import Leases, folder_lock, kept_lease

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.storage import Database, Transaction

DOING: Final = "moving"
LOCKS: Final = {
    "up.lock": "running periplus up",
    "crawl.lock": "crawling",
    "building.lock": "indexing or ranking",
    TAKEDOWN_LOCK: "taking down pages",
    "index/writer.lock": "writing the index",
    "index/merger.lock": "merging the index",
}
CLUSTER: Final = "cluster."  # how leases of a cluster's processes begin
LEASES: Final = ("building", "index.writer", "index.merger", "ranks.writer")


@contextmanager
def folder_at_rest(folder: Path) -> Iterator[None]:
    """Keep all others on this machine from writing; ``StorageBusy`` when somebody is at work."""
    with ExitStack() as stack:
        for name, doing in LOCKS.items():
            stack.enter_context(folder_lock(folder / name, doing))
        yield


@contextmanager
def state_at_rest(database: Database) -> Iterator[None]:
    """Keep all others on other machines from writing; ``StorageBusy`` when somebody is at work."""
    with ExitStack() as stack:
        busy = [lease for lease in Leases(database).held() if lease.name not in LEASES]
        if busy:
            owner = busy[0].owner.partition(" ")[0]
            raise StorageBusy(_who(busy[0].name, owner))
        for name in LEASES:
            stack.enter_context(kept_lease(database, name, DOING))
        yield


def _who(lease: str, owner: str) -> str:
    if lease.startswith(CLUSTER):
        return (
            f"a cluster is at work ({lease}, {owner}), or was a moment ago: periplus cluster stop,"
            " and again when its lease is over, within half a minute"
        )
    return f"a crawl is at work ({lease}, {owner}); stop it: periplus stop"


def sign_of_life(tx: Transaction) -> list[tuple[object, ...]]:
    """Changes whenever somebody else writes."""
    marks = ", ".join("?" * len(LEASES))
    return [
        *tx.rows("SELECT name, value FROM counters ORDER BY name"),
        *tx.rows(f"SELECT name, token FROM leases WHERE name NOT IN ({marks}) ORDER BY name", LEASES),  # noqa: S608
        *tx.rows("SELECT COUNT(*) FROM urls"),
        *tx.rows("SELECT COUNT(*) FROM removed"),
    ]
