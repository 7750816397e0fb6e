"""A backup is brought back: into a folder beside the wanted one, every chunk checked, then renamed in one step."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from periplus import settings as settings_module
from periplus.app.backups.inventory import CHUNK_BYTES, chunk_name, digest_of, read_inventory
from periplus.errors import Corrupt, NotFound, Occupied, StorageError
from periplus.storage import LocalFiles, folder_lock, make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.app.backups.inventory import Inventory, KeptFile
    from periplus.storage import Objects

    Progress = Callable[[int, int, str], None]

LOCK: Final = "restore.lock"
_SECTION: Final = re.compile(r"^\s*\[\s*([\w.]+)\s*\]")
_DATABASE: Final = re.compile(r"^\s*database\s*=")


class Restored(Struct, frozen=True):
    """What was brought back."""

    number: int
    made: float
    files: int
    bytes: int
    notes: tuple[str, ...]


def restore(objects: Objects, folder: Path, *, number: int = 0, progress: Progress | None = None) -> Restored:
    """Make the collection of a backup again in ``folder``, which must not hold anything."""
    inventory = read_inventory(objects, number)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Occupied(f"{folder} is not empty; name a new folder by --dir, nothing is overwritten")
    aside = folder.absolute().with_name(f".{folder.absolute().name}.restoring")
    try:
        make_private_folder(aside)
        with folder_lock(aside / LOCK, "restoring"):
            _clear(aside)
            _fill(objects, inventory, aside, progress)
            notes = _settled(LocalFiles(aside))
            if folder.exists():
                shutil.copymode(folder, aside)  # whoever made it said who may read it
                folder.rmdir()
            (aside / LOCK).unlink()
            aside.rename(folder.absolute())
    except OSError as error:
        raise StorageError(f"{aside} cannot be written: {error.strerror or error}; check the disk") from error
    return Restored(inventory.number, inventory.made, len(inventory.files), inventory.size, notes)


def _clear(folder: Path) -> None:
    """Of what a restore before this one left."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


def _fill(objects: Objects, inventory: Inventory, folder: Path, progress: Progress | None) -> None:
    files = LocalFiles(folder)
    for place, kept in enumerate(inventory.files):
        if progress is not None:
            progress(place, len(inventory.files), kept.name)
        with files.create(kept.name) as path, path.open("wb") as file:
            for number, chunk in enumerate(kept.chunks):
                file.write(checked_chunk(objects, chunk, kept, number * CHUNK_BYTES))


def checked_chunk(objects: Objects, chunk: str, kept: KeptFile, offset: int) -> bytes:
    """The bytes of a chunk; ``Corrupt`` names the file that they are of, and where."""
    where = f"{objects.address}/{chunk_name(chunk)} ({kept.name} from byte {offset:,} on)"
    try:
        data = objects.get(chunk_name(chunk))
    except NotFound as error:
        raise Corrupt(f"{where} is missing; run periplus backup again, which sends it again") from error
    if digest_of(data) != chunk:
        raise Corrupt(f"{where} is damaged; remove it and run periplus backup again, which sends it again")
    return data


def _settled(files: LocalFiles) -> tuple[str, ...]:
    """The state is a file now: a setting that names a database would lead to that of the first collection."""
    if not files.exists(settings_module.FILE_NAME):
        return ()
    lines, section, changed = [], "", False
    for line in files.read(settings_module.FILE_NAME).decode().splitlines():
        found = _SECTION.match(line)
        section = found[1] if found else section
        is_named = section == "storage" and bool(_DATABASE.match(line))
        lines.append(f"# {line}" if is_named else line)
        changed = changed or is_named
    if not changed:
        return ()
    files.write(settings_module.FILE_NAME, ("\n".join(lines) + "\n").encode())
    return ("storage.database is commented out in periplus.toml: the restored state is in state.db",)
