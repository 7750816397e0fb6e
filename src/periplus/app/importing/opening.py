"""Files for a reader that may open none: it asks for them by name, and whoever asked the reader opens them.

A reader of strangers' bytes is confined (``reader_process.py``). What it may have is decided on this side of the fence,
by what it was asked to read: the file itself, and what belongs to that.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from periplus import archive
from periplus.errors import NotFound, StorageError


class FileAsked(Struct, frozen=True, array_like=True):
    """A file that is asked for; over HTTP, with a ``length``, so many of its bytes."""

    name: bytes
    offset: int = 0
    length: int = 0

    @property
    def path(self) -> Path:
        return Path(os.fsdecode(self.name))


Opener = Callable[[FileAsked], BinaryIO]  # raises OSError, or an error of ours


def ask_for(opened: Opener, path: Path) -> BinaryIO:
    return opened(FileAsked(os.fsencode(path)))


class AskedFolder:
    """The files of a folder, as an ``archive.ArchiveSource``."""

    def __init__(self, folder: Path, opened: Opener) -> None:
        self._folder, self._opened = folder, opened

    def opened(self, name: str) -> BinaryIO:
        """A file by its name there, or by its path."""
        path = Path(name)
        try:
            return ask_for(self._opened, self._folder / path if path.parent == Path() else path)
        except FileNotFoundError as error:
            raise NotFound(f"it cannot be read: {error.strerror}") from error
        except OSError as error:
            raise StorageError(f"it cannot be read: {error.strerror or error}") from error


def nothing(asked: FileAsked) -> BinaryIO:
    """An opener for what is read already."""
    raise refused(asked)


def beside(path: Path) -> Opener:
    """Opens a file, and the archives in its folder, which it may refer to."""

    def opened(asked: FileAsked) -> BinaryIO:
        if asked.path != path and not (asked.path.parent == path.parent and _is_archive(asked.path)):
            raise refused(asked)
        return regular(asked.name)

    return opened


def below(folder: Path) -> Opener:
    """Opens the archives in a folder and below it."""

    def opened(asked: FileAsked) -> BinaryIO:
        if not (asked.path.is_relative_to(folder) and ".." not in asked.path.parts and _is_archive(asked.path)):
            raise refused(asked)
        return regular(asked.name)

    return opened


def regular(path: bytes, flags: int = 0) -> BinaryIO:
    """A regular file; a pipe or device would have the reader wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "no file but a pipe, socket or device")
    return file


def refused(asked: FileAsked) -> OSError:
    what = f"{asked.name.decode('utf-8', 'backslashreplace')} is none of the files that are imported"
    return FileNotFoundError(errno.ENOENT, what)


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(archive.SUFFIXES)
