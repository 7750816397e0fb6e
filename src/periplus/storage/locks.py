"""A lock on a folder that the operating system lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from periplus.errors import StorageBusy, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def folder_lock(path: Path, doing: str) -> Iterator[None]:
    """Hold ``path`` alone while ``doing`` something; raises ``StorageBusy`` when another process has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"{path} cannot be opened: {error.strerror}; check the folder's owner") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageBusy(f"another process is {doing} in {path.parent}; wait for it or stop it") from error
        yield
    finally:
        os.close(handle)
