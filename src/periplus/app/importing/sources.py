"""What can be imported: each kind of file, checked before anything is read, and then in portions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus import addresses, archive
from periplus.app.importing import archives, lines, listings, mailboxes, tables, wikis
from periplus.app.importing.archives import ArchiveStretch, ReadPages
from periplus.app.importing.folders import Files, PassedFile
from periplus.app.importing.items import Outcome, given_up, outcome_of
from periplus.app.importing.lines import Lines, TooLong
from periplus.app.importing.listings import ListedArchive, ListedRecords, OddPath
from periplus.app.importing.mailboxes import Messages
from periplus.app.importing.opening import AskedFolder, ask_for, beside
from periplus.app.importing.sizes import Sizes
from periplus.app.importing.tables import LostRows, PackedRows
from periplus.app.importing.wikis import Articles
from periplus.errors import Incompatible, NotFound, StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from periplus.app.importing.opening import Opener

Portion = (
    ArchiveStretch
    | ReadPages
    | Files
    | PassedFile
    | Lines
    | TooLong
    | PackedRows
    | LostRows
    | Messages
    | Articles
    | ListedRecords
    | ListedArchive
    | OddPath
)

_SUFFIXES: Final = (
    *archive.SUFFIXES,
    *lines.SUFFIXES,
    *mailboxes.SUFFIXES,
    *wikis.SUFFIXES,
    tables.SUFFIX,
)
_HINTS: Final = {
    ".json": "put each record on a line of its own, in a .jsonl file",
    ".csv": "convert it to Parquet, or to a .jsonl file with a record a line",
    ".tsv": "convert it to Parquet, or to a .jsonl file with a record a line",
    ".zip": "unpack it and import the folder; a web archive in a ZIP file is named .wacz",
    ".html": "import the folder that it lies in, with --base-url",
    ".htm": "import the folder that it lies in, with --base-url",
}


def check(path: Path, base_url: str) -> None:
    """Raise at once what keeps a path from being imported, whatever is in it."""
    if path.is_dir():
        if not base_url:
            raise UsageError(f"{path} is a folder: its pages need --base-url, the address they are published under")
        addresses.canonical(base_url)
        return
    if not path.exists():
        raise NotFound(f"{path} does not exist; check the name")
    if not path.is_file():
        raise Incompatible(f"{path} is neither a file nor a folder; write it to a file first")
    if not _is_text(path):
        raise Incompatible(f"{os.fsencode(path)!r} is no name in UTF-8; give the file another one")
    if listings.is_list(path.name.lower()):
        listings.check(base_url)
    elif not path.name.lower().endswith(_SUFFIXES):
        raise _unknown(path)
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _unknown(path: Path) -> Incompatible:
    kinds = (".warc", ".wet", ".arc", ".wacz", ".jsonl", ".ndjson", tables.SUFFIX, ".mbox", ".xml", ".cdxj", ".paths")
    known = f"{', '.join(kinds)} (most also packed: .gz, .zst, .lz4)"
    hint = _HINTS.get(path.suffix.lower(), f"known are {known} and folders of HTML files")
    return Incompatible(f"{path}: unknown kind of file; {hint}")


# What a reader is asked about a file (``reader_process.py``). Each has ``opening``, which opens files on this side of
# the fence, and ``answers``, which is called on the other.


class _AboutFile(Struct, frozen=True):
    path: str

    @property
    def place(self) -> tuple[str, str]:
        return self.path, ""

    def opening(self) -> AbstractContextManager[Opener]:
        return _beside(self.path)


class FileCheck(_AboutFile, frozen=True, tag=True):
    """Is the file what its name says? Gives nothing; raises what is wrong with it."""

    def answers(self, opened: Opener) -> Iterator[Portion]:
        path = Path(self.path)
        name = path.name.lower()
        if name.endswith(lines.SUFFIXES):
            lines.check(path, opened)
        elif name.endswith(tables.SUFFIX):
            tables.check(path, opened)
        elif name.endswith(wikis.SUFFIXES):
            wikis.check(path, opened)
        yield from ()


class FileContents(_AboutFile, frozen=True, tag=True):
    """What does a file hold, in portions? A large archive is cut from ``start`` on, first into ``least`` bytes."""

    base_url: str = ""
    workers: int = 1
    start: int = 0
    least: int = 1
    sizes: Sizes = Sizes()

    def answers(self, opened: Opener) -> Iterator[Portion]:
        path = Path(self.path)
        name = path.name.lower()
        if name.endswith(lines.SUFFIXES):
            return lines.portions(path, opened, self.sizes)
        if name.endswith(tables.SUFFIX):
            return tables.portions(path, opened, self.sizes)
        if name.endswith(mailboxes.SUFFIXES):
            return mailboxes.portions(path, opened)
        if name.endswith(wikis.SUFFIXES):
            return wikis.portions(path, self.base_url, opened)
        if listings.is_list(name):
            return listings.portions(path, self.base_url, opened, self.sizes)
        if self.start or self._is_cut(path, opened):
            return archives.parts(path, opened, self._length_at, self.start, self.least)
        return archives.portions(path, opened)

    def _is_cut(self, path: Path, opened: Opener) -> bool:
        if self.workers < 2:
            return False
        with ask_for(opened, path) as file:
            size = os.fstat(file.fileno()).st_size
        return size >= 2 * self.sizes.shortest and archive.can_be_cut(path, AskedFolder(path.parent, opened))

    def _length_at(self, left: int) -> int:
        sizes = self.sizes
        return min(sizes.longest, max(sizes.shortest, left // (sizes.shares * self.workers)))


class PortionRecords(Struct, frozen=True, tag=True):
    """What comes of each record of a portion? Those that were ``told`` are not told again.

    ``is_careful``: the reader broke off, so each record is told before the next one is touched. ``is_doubted``: it then
    broke off at the one that follows, so that is not parsed again.
    """

    portion: Portion
    told: int = 0
    is_careful: bool = False
    is_doubted: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.portion.place

    def opening(self) -> AbstractContextManager[Opener]:
        return self.portion.opening()

    def answers(self, opened: Opener) -> Iterator[Outcome | None]:
        """Each outcome; nothing in place of one that was told."""
        for number, entry in enumerate(self.portion.entries(opened)):
            if number < self.told:
                yield None
            elif self.is_doubted and number == self.told:
                yield given_up(self.place, entry)
            else:
                yield outcome_of(entry)


Question = FileCheck | FileContents | PortionRecords


@contextmanager
def _beside(path: str) -> Iterator[Opener]:
    yield beside(Path(path))
