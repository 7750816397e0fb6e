"""Files of a folder as objects, each read back and compared; what an earlier try uploaded is not sent again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

import xxhash

from periplus.errors import Corrupt
from periplus.storage import Stored, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.storage import LocalFiles, Objects

AT_ONCE: Final = 4
READ_BYTES: Final = 16 << 20


class Upload(NamedTuple):
    """A file by its name in the folder, and the object that it becomes."""

    local: str
    name: str


def upload(
    files: LocalFiles, objects: Objects, wanted: Sequence[Upload], told: Callable[[str], None]
) -> dict[str, Stored]:
    """All files as objects, by their names in the folder; ``told`` is given each name that is done."""
    there = {entry.name: entry.bytes for entry in objects.entries("")}

    def one(file: Upload) -> Stored:
        path = files.path(file.local)
        stored = Stored(file.name, path.stat().st_size, digest_of(path))
        if there.get(file.name) != stored.bytes or not is_whole(objects, stored):
            if file.name in there:
                objects.remove(file.name)
            objects.put(file.name, path)
            if not is_whole(objects, stored):
                raise Corrupt(f"{objects.address}/{file.name} is not what was sent; run periplus move again")
        return stored

    found = {}
    with ThreadPoolExecutor(AT_ONCE, "upload") as threads:
        for file, stored in zip(wanted, threads.map(one, wanted), strict=True):
            found[file.local] = stored
            told(file.local)
    return found


def is_whole(objects: Objects, stored: Stored) -> bool:
    """Whether an object has these bytes; all of them are read."""
    if objects.size(stored.name) != stored.bytes:
        return False
    digest = xxhash.xxh3_128()
    for start in range(0, stored.bytes, READ_BYTES):
        digest.update(objects.get_range(stored.name, start, min(READ_BYTES, stored.bytes - start)))
    return digest.hexdigest() == stored.digest
