"""Who is at work in a collection: at most one ``up``, and at most one crawl, each known by its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.errors import StorageBusy
from periplus.storage import folder_lock, holder_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from periplus.storage.locks import HeldLock

UP_LOCK = "up.lock"
CRAWL_LOCK = "crawl.lock"


def hold_up(folder: Path) -> AbstractContextManager[HeldLock]:
    """The lock of ``periplus up``; raises ``StorageBusy`` while another one has it."""
    refuse_second_up(folder)
    return folder_lock(folder / UP_LOCK, "running periplus up")


def is_up(folder: Path) -> bool:
    """Whether ``periplus up`` looks after the collection."""
    return holder_of(folder / UP_LOCK) is not None


def refuse_second_up(folder: Path) -> None:
    first = holder_of(folder / UP_LOCK)
    if first is not None:
        raise StorageBusy(
            f"periplus up is at work in {folder} already{first}; add addresses at its console, or stop it first"
        )


def refuse_second_crawl(folder: Path) -> None:
    """Raise ``StorageBusy`` with the name of the first while a crawl is at work."""
    first = holder_of(folder / CRAWL_LOCK)
    if first is None:
        return
    up = holder_of(folder / UP_LOCK)
    if up is not None:
        raise StorageBusy(
            f"periplus up is crawling in {folder} already{up}; add addresses at its console, or stop it first"
        )
    raise StorageBusy(
        f"a crawl is at work in {folder} already{first}; wait for its end, or stop it: periplus stop --dir {folder}"
    )
