"""A SQLite file that this process may read and not write: on a read-only disk, or of another owner.

Reading a database in WAL mode takes a file of shared memory beside it. Where another process has made one, it is used,
and what that process writes is seen. Where there is none and the log is empty, nobody writes: the file is read as it is
(``immutable``). Where a log was left behind that only a writer could fold in, a copy in a temporary folder is read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MARKS = ("-wal", "-shm")


class ReadOnlyFile:
    """Where and how to read the database at ``path``; a copy is removed with this object."""

    def __init__(self, path: Path) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        wal, shared = (path.with_name(path.name + mark) for mark in MARKS)
        if wal.exists() and shared.exists():
            self.uri = f"{path.absolute().as_uri()}?mode=ro"
        elif wal.exists() and wal.stat().st_size:
            self._folder = tempfile.TemporaryDirectory(prefix="periplus-")
            copy = Path(self._folder.name) / path.name
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, copy.with_name(wal.name))
            self.uri = f"{copy.as_uri()}?mode=rw"
        else:
            self.uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def cannot_be_written(path: Path) -> bool:
    """Whether a database that is there lacks the rights, on itself or on its folder, that a writer needs."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
