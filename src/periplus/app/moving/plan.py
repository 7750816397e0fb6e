"""What is moved where, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection

    Progress = Callable[[int, int, str], None]  # how much is done, of how much, and what is done now

STORES: Final = ("s3://", "file://")


class Moved(Struct, frozen=True):
    """What went over."""

    to: str
    files: int
    bytes: int
    tables: int
    rows: int
    kept: str  # where what was at the old place is, for people


def move(collection: Collection, to: str, database: str = "", progress: Progress | None = None) -> Moved:
    """Move a collection to an object store and a database, or to a folder; it is closed then, to be opened anew."""
    told = progress or (lambda _done, _total, _what: None)
    if to.startswith(STORES):
        if not database:
            raise UsageError("name the database as well: periplus move --to s3://bucket/prefix postgresql://…")
        if collection.settings.storage.files:
            raise UsageError(f"{collection.folder} has its files in {collection.settings.storage.files} already")
        from periplus.app.moving.to_machines import to_machines

        return to_machines(collection, to, database, told)
    if database or "://" in to:
        raise UsageError(f"{to!r} is no place for files; give s3://bucket/prefix, file:///folder, or a folder alone")
    if not collection.settings.storage.files:
        raise UsageError(f"{collection.folder} is a folder by itself already; copy it while nothing is at work in it")
    from periplus.app.moving.to_folder import to_folder

    return to_folder(collection, Path(to), told)
