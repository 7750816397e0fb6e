"""Folders of HTML files: which files are read, and under which addresses.

Nothing outside the folder is read, wherever links lead. Names are bytes, as the system has them; an address is made of
them as a web server would, but for a question mark, which mirroring programs put where the query begins.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct

from periplus import addresses
from periplus.app.importing.items import FilePortion, Item, LeftOut, bad
from periplus.app.importing.opening import FileAsked, refused, regular
from periplus.documents import bounds
from periplus.documents.kinds import HTML, kind_of
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from periplus.app.importing.items import Entry
    from periplus.app.importing.opening import Opener

HTML_SUFFIXES: Final = {".html", ".htm", ".xhtml", ".shtml"}
FILES: Final = 1_000  # of a portion
PORTION: Final = 32_000_000  # bytes of a portion, or one file
DEPTH: Final = 100  # folders below each other
_SHOWN: Final = (".well-known",)  # the one hidden name that is published
_PATH_SIGNS: Final = "/:@!$&'()*+,;=~"
_LOOKED_AT: Final = 1_024


class File(Struct, frozen=True):
    """A regular file inside the folder; ``real`` is where it lies, ``name`` what it is called there."""

    name: bytes
    real: bytes


class Files(FilePortion, frozen=True):
    """Some files of a folder."""

    folder: bytes
    base: str
    files: list[File]
    size: int

    @property
    def count(self) -> int:
        return len(self.files)

    @property
    def place(self) -> tuple[str, str]:
        return _shown(self.folder), ""

    @contextmanager
    def opening(self) -> Iterator[Opener]:
        names = {file.real for file in self.files}

        def opened(asked: FileAsked) -> BinaryIO:
            if asked.name not in names:
                raise refused(asked)
            return regular(asked.name, os.O_NOFOLLOW)

        yield opened

    def entries(self, opened: Opener) -> Iterator[Entry]:
        for file in self.files:
            yield _entry(file, self.folder, self.base, opened)


class PassedFile(FilePortion, frozen=True):
    """What is left out without being read."""

    left_out: list[LeftOut]
    size: int = 0

    @property
    def count(self) -> int:
        return len(self.left_out)

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        yield from self.left_out


def portions(folder: Path, base_url: str) -> Iterator[Files | PassedFile]:
    """What a folder holds, by name."""
    base = addresses.canonical(base_url.rstrip("/") + "/")
    files: list[File] = []
    passed: list[LeftOut] = []
    size = 0
    for found, length in _walk(os.fsencode(folder), os.path.realpath(os.fsencode(folder)), DEPTH):
        if isinstance(found, LeftOut):
            passed.append(found)
        else:
            files.append(found)
            size += length
        if len(files) >= FILES or size >= PORTION:
            yield Files(os.fsencode(folder), base, files, size)
            files, size = [], 0
        if len(passed) >= FILES:
            yield PassedFile(passed)
            passed = []
    if files:
        yield Files(os.fsencode(folder), base, files, size)
    if passed:
        yield PassedFile(passed)


def _walk(folder: bytes, root: bytes, depth: int) -> Iterator[tuple[File | LeftOut, int]]:
    """Files below ``folder`` in the order of their names, and how many bytes they have."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield _unreadable(folder, error), 0
        return
    for entry in entries:
        try:
            if _is_hidden(entry.name):
                yield LeftOut("hidden-file"), 0
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk_below(entry.path, root, depth)
            else:
                yield _file(entry, root)
        except OSError as error:
            yield _unreadable(entry.path, error), 0


def _walk_below(folder: bytes, root: bytes, depth: int) -> Iterator[tuple[File | LeftOut, int]]:
    if depth <= 0:
        yield bad(_shown(folder), "", f"more than {DEPTH} folders below each other", "folder-too-deep"), 0
        return
    yield from _walk(folder, root, depth - 1)


def _file(entry: os.DirEntry[bytes], root: bytes) -> tuple[File | LeftOut, int]:
    real = entry.path
    if entry.is_symlink():
        real = os.path.realpath(entry.path)
        if real != root and not real.startswith(root.rstrip(b"/") + b"/"):
            return bad(_shown(entry.path), "", f"a link that leads to {_shown(real)}", "link-out-of-folder"), 0
    found = entry.stat()
    if stat.S_ISDIR(found.st_mode):
        return LeftOut("link-to-folder"), 0
    if not stat.S_ISREG(found.st_mode):
        return bad(_shown(entry.path), "", "no file but a pipe, socket or device", "file-unreadable"), 0
    if found.st_size > bounds.BODY_BYTES:
        what = f"{found.st_size} bytes; at most {bounds.BODY_BYTES} are read"
        return bad(_shown(entry.path), "", what, "too-large"), 0
    return File(entry.path, real), found.st_size


def _entry(file: File, folder: bytes, base: str, opened: Opener) -> Entry:
    """The page in a file; one without a telling name is known by its first bytes."""
    relative = os.path.relpath(file.name, folder)
    path, mark, query = relative.partition(b"?")
    address = f"./{quote(path, _PATH_SIGNS)}{mark.decode()}{quote(query, _PATH_SIGNS + '?%')}"
    url = addresses.try_canonical(address, base)
    if url is None:
        return bad(_shown(file.name), "", "its name makes no address", "invalid-address")
    try:
        return _page(file, url, opened)
    except OSError as error:
        return _unreadable(file.name, error)


def _page(file: File, url: str, opened: Opener) -> Entry:
    with opened(FileAsked(file.real)) as source:
        body = source.read(_LOOKED_AT)
        moment = os.fstat(source.fileno()).st_mtime
        if _suffix(file.name) not in HTML_SUFFIXES and kind_of(Page(url, body)) != HTML:
            return LeftOut("not-html")
        body += source.read(bounds.BODY_BYTES)
    return Item(Page(url, body, "text/html", fetched=moment))


def _suffix(name: bytes) -> str:
    return Path(os.fsdecode(name.partition(b"?")[0])).suffix.lower()


def _is_hidden(name: bytes) -> bool:
    return name.startswith(b".") and os.fsdecode(name) not in _SHOWN


def _unreadable(path: bytes, error: OSError) -> LeftOut:
    return bad(_shown(path), "", error.strerror or str(error), "file-unreadable")


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")
