"""Archives: in stretches that other processes read by themselves, or read here where a file cannot be cut."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from periplus import addresses, archive
from periplus.app.importing.items import Entry, FilePortion, Item, LeftOut, bad
from periplus.app.importing.opening import AskedFolder, beside
from periplus.documents import bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.app.importing.opening import Opener
    from periplus.records import Page

PAGES: Final = 1_000  # of a portion
PORTION: Final = 32_000_000  # bytes of a portion, or one page


class ArchiveStretch(FilePortion, frozen=True):
    """A stretch of an archive. Reading it raises ``Truncated`` where it was cut wrongly."""

    stretch: archive.Stretch
    count: int = PAGES

    @property
    def size(self) -> int:
        return self.stretch.end - self.stretch.start

    @property
    def place(self) -> tuple[str, str]:
        return self.stretch.path, f"byte {self.stretch.start}, {self.size} bytes"

    @contextmanager
    def opening(self) -> Iterator[Opener]:
        yield beside(Path(self.stretch.path))

    def entries(self, opened: Opener) -> Iterator[Entry]:
        part = self.stretch
        source = AskedFolder(Path(part.path).parent, opened)
        found = archive.contents(part.path, part.start, part.end, is_last=part.is_last, source=source)
        return _entries(found, part.path)


def entries_of_file(path: Path, name: str, opened: Opener) -> Iterator[Entry]:
    """Everything in a file, which problems call by ``name``."""
    return _entries(archive.contents(path, source=AskedFolder(path.parent, opened)), name)


class ReadPages(FilePortion, frozen=True):
    """Records that were read already."""

    read: list[Entry]
    size: int
    file: str = ""

    @property
    def count(self) -> int:
        return len(self.read)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, ""

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        yield from self.read


def parts(
    path: Path, opened: Opener, length_at: Callable[[int], int], start: int, least: int
) -> Iterator[ArchiveStretch | ReadPages]:
    """The file from ``start`` on, in stretches as far as it can be cut; ``least`` bytes are in the first."""
    end = start
    for stretch in archive.stretches(path, length_at, start, least, AskedFolder(path.parent, opened)):
        if stretch is None:
            yield from portions(path, opened, end)
            return
        end = stretch.end
        yield ArchiveStretch(stretch)


def portions(path: Path, opened: Opener, start: int = 0) -> Iterator[ReadPages]:
    """What a file holds from ``start`` on, read here; raises where there is no record in it at all."""
    read: list[Entry] = []
    size = 0
    for entry in _entries(archive.contents(path, start, source=AskedFolder(path.parent, opened)), str(path)):
        read.append(_sent(entry))
        size += entry.size if isinstance(entry, Item) else 0
        if len(read) >= PAGES or size >= PORTION:
            yield ReadPages(read, size, str(path))
            read, size = [], 0
    if read:
        yield ReadPages(read, size, str(path))


def _sent(entry: Entry) -> Entry:
    """A page as it is sent to whoever parses it: of a body that is too long, as much as shows that it is."""
    if not isinstance(entry, Item) or entry.size <= bounds.BODY_BYTES:
        return entry
    return Item(msgspec.structs.replace(entry.page, body=entry.page.body[: bounds.BODY_BYTES + 1]))


def _entries(contents: Iterator[Page | archive.Passed | archive.Damaged], file: str) -> Iterator[Entry]:
    for found in contents:
        if isinstance(found, archive.Damaged):
            yield bad(file, str(found.place), found.what, "damaged")
        elif isinstance(found, archive.Passed):
            yield LeftOut(found.reason)
        elif (url := addresses.try_canonical(found.url)) is None:
            yield LeftOut("invalid-address")
        else:
            yield Item(msgspec.structs.replace(found, url=url))
