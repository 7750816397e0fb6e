"""What a backup consists of, and where that lies.

    backups/00000007.json     the inventory of one backup: every file with its chunks; sealed, written last
    chunks/ab/abcdef…         up to ``CHUNK_BYTES`` of a file, named by their SHA-256

A chunk is written once under the name of what it holds, so what did not change since the last backup is there already,
and a backup counts from the moment that its inventory is there. Whatever is killed before leaves only chunks that no
inventory names, and the last backup whole.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus.errors import Corrupt, Incompatible, NotFound, UsageError
from periplus.storage import open_objects, schema_version, sealed, unsealed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.storage import Objects

FORMAT: Final = 1
CHUNK_BYTES: Final = 8 << 20
INVENTORIES: Final = "backups/"
CHUNKS: Final = "chunks/"


class KeptFile(Struct, frozen=True):
    """One file of a collection as it was; ``stamp`` tells whether it can have changed since, empty: look again."""

    name: str
    size: int
    chunks: tuple[str, ...]  # SHA-256 of each
    stamp: str = ""


class Inventory(Struct, frozen=True):
    """One backup."""

    number: int
    made: float
    collection: str  # its identity
    version: str  # of Periplus
    schema: int  # of the state
    takedowns: str  # what was taken down until then; backups of before hold what must not be kept
    files: tuple[KeptFile, ...]
    format: int = FORMAT

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def chunks(self) -> frozenset[str]:
        return frozenset(chunk for file in self.files for chunk in file.chunks)


def open_store(where: str) -> Objects:
    """Where backups go to: a folder, or ``s3://bucket/prefix``."""
    if where.startswith(("s3://", "file://")):
        return open_objects(where)
    if "://" in where:
        raise UsageError(f"{where!r} is no place for backups; name a folder, or s3://bucket/prefix")
    return open_objects(f"file://{_quoted(Path(where).absolute())}")


def _quoted(path: Path) -> str:
    return path.as_uri().removeprefix("file://")


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def chunk_name(digest: str) -> str:
    return f"{CHUNKS}{digest[:2]}/{digest}"


def inventory_name(number: int) -> str:
    return f"{INVENTORIES}{number:08d}.json"


def numbers(objects: Objects) -> list[int]:
    """Of the backups that are there, in order."""
    stems = (name.removeprefix(INVENTORIES).removesuffix(".json") for name in objects.names(INVENTORIES))
    return sorted(int(stem) for stem in stems if stem.isdigit())


def read_inventory(objects: Objects, number: int = 0) -> Inventory:
    """The backup of that number, or the newest one; one of a newer version is refused."""
    there = numbers(objects)
    if not there or (number and number not in there):
        which = f"backup {number}" if number else "a backup"
        known = f"; there are {', '.join(map(str, there))}" if there else "; periplus backup makes one"
        raise NotFound(f"{which} is not in {objects.address}{known}")
    name = inventory_name(number or there[-1])
    try:
        found = unsealed(objects.get(name), Inventory)
    except Corrupt as error:
        raise Corrupt(f"{objects.address}/{name} is damaged ({error}); name another backup by --number") from error
    newest = schema_version()
    if found.format > FORMAT or found.schema > newest:
        raise Incompatible(
            f"{objects.address}/{name} was made by Periplus {found.version} (schema {found.schema}, this version knows"
            f" {newest}); install {found.version} or later, state never goes back to an older version"
        )
    return found


def write_inventory(objects: Objects, inventory: Inventory) -> None:
    objects.put(inventory_name(inventory.number), sealed(inventory))


def places_of_chunks(inventory: Inventory) -> Iterator[tuple[str, KeptFile, int]]:
    """Each chunk with its file and where it begins there."""
    for file in inventory.files:
        for place, chunk in enumerate(file.chunks):
            yield chunk, file, place * CHUNK_BYTES
