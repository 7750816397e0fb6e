"""Commands to the crawl of a collection, wherever it runs: refused in words when there is nothing to obey them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import crawl
from periplus.app.parts.occupancy import is_up
from periplus.errors import WrongState

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection


def command(collection: Collection, name: str, go_on: Callable[[], None] | None = None) -> None:
    """Pause, resume or stop a crawl, or change its workers; ``go_on`` starts one that was stopped again."""
    if crawl.is_running(collection.database):
        if name == "resume" and not crawl.is_paused(collection.database):
            raise WrongState("nothing to resume: the crawl is running; it can be paused or stopped")
        crawl.send_command(collection.database, name)
    elif name == "resume":
        _resume(collection, go_on)
    else:
        raise WrongState(f"no crawl is running in {collection.folder}; periplus crawl or periplus up starts one")


def _resume(collection: Collection, go_on: Callable[[], None] | None) -> None:
    """A crawl that was stopped or interrupted: ``up`` hears the command; a server starts a process for it."""
    folder = collection.folder
    if not crawl.is_unfinished(collection.database):
        raise WrongState(f"nothing to resume: no crawl is running in {folder}, and none was stopped; name addresses")
    if is_up(folder):
        crawl.send_command(collection.database, "resume")
    elif go_on is not None:
        go_on()
    else:
        raise WrongState(
            f"no crawl is running in {folder}; go on with the one that was stopped: periplus crawl --dir {folder}"
        )
