"""Archives: in stretches that other processes read by themselves, or read here where a file cannot be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from periplus import addresses, archive
from periplus.app.importing.items import Entry, Item, LeftOut, bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.records import Page

PAGES: Final = 1_000  # of a portion
PORTION: Final = 32_000_000  # bytes of a portion, or one page


class ArchiveStretch(Struct, frozen=True):
    """A stretch of an archive. Reading it raises ``Truncated`` where it was cut wrongly."""

    stretch: archive.Stretch
    count: int = PAGES

    @property
    def size(self) -> int:
        return self.stretch.end - self.stretch.start

    def entries(self) -> Iterator[Entry]:
        part = self.stretch
        return _entries(archive.contents(part.path, part.start, part.end, is_last=part.is_last), part.path)


def entries_of_file(path: Path, name: str) -> Iterator[Entry]:
    """Everything in a file, which problems call by ``name``."""
    return _entries(archive.contents(path), name)


class ReadPages(Struct, frozen=True):
    """Records that were read already."""

    read: list[Entry]
    size: int

    @property
    def count(self) -> int:
        return len(self.read)

    def entries(self) -> Iterator[Entry]:
        yield from self.read


def parts(path: Path, length_at: Callable[[int], int], start: int, least: int) -> Iterator[ArchiveStretch | ReadPages]:
    """The file from ``start`` on, in stretches as far as it can be cut; ``least`` bytes are in the first."""
    end = start
    for stretch in archive.stretches(path, length_at, start, least):
        if stretch is None:
            yield from portions(path, end)
            return
        end = stretch.end
        yield ArchiveStretch(stretch)


def portions(path: Path, start: int = 0) -> Iterator[ReadPages]:
    """What a file holds from ``start`` on, read here; raises where there is no record in it at all."""
    read: list[Entry] = []
    size = 0
    for entry in _entries(archive.contents(path, start), str(path)):
        read.append(entry)
        size += entry.size if isinstance(entry, Item) else 0
        if len(read) >= PAGES or size >= PORTION:
            yield ReadPages(read, size)
            read, size = [], 0
    if read:
        yield ReadPages(read, size)


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
