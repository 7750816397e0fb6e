"""Is every byte of every backup what was written? Reads all of them and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.app.backups.inventory import numbers, places_of_chunks, read_inventory
from periplus.app.backups.returning import checked_chunk
from periplus.app.findings import Finding
from periplus.errors import Corrupt, Incompatible, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.app.backups.inventory import Inventory
    from periplus.storage import Objects

    Progress = Callable[[int, int, str], None]


def check_backups(objects: Objects, progress: Progress | None = None) -> list[Finding]:
    """A finding a backup that is whole, and one for each damaged piece, which names its file."""
    there = numbers(objects)
    if not there:
        raise NotFound(f"no backup is in {objects.address}; periplus backup makes one")
    looked: dict[str, str] = {}  # what is wrong with a chunk; empty: nothing
    return [finding for number in there for finding in _of(objects, number, looked, progress)]


def _of(objects: Objects, number: int, looked: dict[str, str], progress: Progress | None) -> Iterator[Finding]:
    name = f"backup {number}"
    try:
        inventory = read_inventory(objects, number)
    except (Corrupt, Incompatible) as error:
        said, _, advice = str(error).partition("; ")
        yield Finding(name, "failed", said, advice)
        return
    bad = list(dict.fromkeys(_damage(objects, inventory, looked, progress)))
    for one in bad:
        said, _, advice = one.partition("; ")
        yield Finding(name, "failed", said, advice)
    if not bad:
        yield Finding(name, "ok", f"{len(inventory.files):,} files, {inventory.size:,} bytes, all digests right")


def _damage(objects: Objects, inventory: Inventory, looked: dict[str, str], progress: Progress | None) -> Iterator[str]:
    every = len(inventory.chunks)
    for done, (chunk, file, offset) in enumerate(places_of_chunks(inventory)):
        if chunk not in looked:
            if progress is not None:
                progress(min(done, every), every, file.name)
            try:
                checked_chunk(objects, chunk, file, offset)
                looked[chunk] = ""
            except Corrupt as error:
                looked[chunk] = str(error)
        if looked[chunk]:
            yield looked[chunk]
