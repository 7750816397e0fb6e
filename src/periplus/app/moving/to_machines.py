"""From a folder to an object store and a database that machines share."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import xxhash

from periplus import settings as settings_module
from periplus.app.moving import target as place
from periplus.app.moving.plan import Moved
from periplus.app.moving.rest import at_rest, sign_of_life
from periplus.app.moving.storage_settings import with_storage
from periplus.app.moving.uploads import Upload, upload
from periplus.app.state import IDENTITY_FILE, STATE_FILE, identity_of
from periplus.archive import ArchivePart, repair, settle_parts, write_parts
from periplus.documents import spans
from periplus.errors import Occupied, SettingError, StorageBusy
from periplus.storage import CatalogEntry, Catalogs, Database, Depot, LocalFiles, open_objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.moving.plan import Progress
    from periplus.storage import Objects, Stored, Transaction

ARCHIVE: Final = "archive"
KEPT: Final = "moved"  # what was in the folder before
_ASIDE: Final = (STATE_FILE, f"{STATE_FILE}-wal", f"{STATE_FILE}-shm", *spans.FOLDERS, ARCHIVE)


def to_machines(collection: Collection, address: str, database: str, told: Progress) -> Moved:
    changed = _settings(collection, address, database)
    collection.create()  # so that the collection has a name
    objects = open_objects(address)
    objects.check()
    source, folder = collection.database, collection.folder
    with at_rest(folder, source):
        repair(folder / ARCHIVE)
        identity = identity_of(folder)
        _claim(objects, identity)
        with _target(collection, database) as target:
            is_same = target is source
            name = secrets.token_hex(8) if is_same else place.begin(target, identity)
            with source.read() as tx:
                plan = FolderPlan(collection, tx, name)
                before = sign_of_life(tx)
                sent = _sent(plan, objects, told)
                rows = {} if is_same else place.fill(tx, target, lambda table, count: told(count, 0, table))
            with source.read() as tx:
                if sign_of_life(tx) != before:
                    raise StorageBusy("the collection was written to while it was moved; run periplus move again")
            depot = Depot(LocalFiles(folder), objects)
            with target.write() as tx:
                plan.write(tx, sent, Catalogs(target, depot))
                place.finish(tx)
        LocalFiles(folder).write(settings_module.FILE_NAME, changed.encode())
        collection.close()
        kept = _put_aside(folder)
    size = sum(one.bytes for one in sent.values())
    return Moved(address, len(sent), size, len(rows), sum(rows.values()), str(kept))


def _settings(collection: Collection, address: str, database: str) -> str:
    """The settings file as it will be; looked at before anything is done."""
    path = collection.folder / settings_module.FILE_NAME
    origins = collection.in_force().origins
    for key in ("storage.files", "storage.database"):
        if origins.get(key, str(path)) != str(path):
            raise SettingError(f"{key} is given by {origins[key]}; let the settings file alone decide", key)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return with_storage(text, {"database": database, "files": address})


@contextmanager
def _target(collection: Collection, address: str) -> Iterator[Database]:
    """The database of the new place, which may be that of the old one."""
    if address == collection.settings.storage.database:
        yield collection.database
        return
    with Database.open(address) as opened:
        yield opened


def _claim(objects: Objects, identity: str) -> None:
    """A store is for one collection: others would take its objects for left ones."""
    names = objects.names("")
    if IDENTITY_FILE in names:
        if objects.get(IDENTITY_FILE).decode(errors="replace").strip() != identity:
            raise Occupied(f"{objects.address} holds another collection; name another prefix")
    elif names:
        raise Occupied(f"{objects.address} holds something else ({names[0]}); name an empty prefix")
    else:
        objects.put(IDENTITY_FILE, f"{identity}\n".encode())


def _sent(plan: FolderPlan, objects: Objects, told: Progress) -> dict[str, Stored]:
    uploads = plan.uploads()
    done = iter(range(1, len(uploads) + 1))
    return upload(plan.files, objects, uploads, lambda name: told(next(done), len(uploads), name))


class FolderPlan:
    """The files of a folder that count, and the rows that will name them."""

    def __init__(self, collection: Collection, tx: Transaction, name: str) -> None:
        """``name`` is that of the move, and part of the names of objects."""
        self.files = collection.files
        self._name = name
        self._batches = {
            int(number): spans.span(number, first) for number, first in tx.rows("SELECT number, first FROM batches")
        }
        self._marks = {str(file): int(at) for file, at in tx.rows("SELECT file, place FROM archive_marks")}
        self._archive = [one.removeprefix(f"{ARCHIVE}/") for one in self.files.names(f"{ARCHIVE}/")]
        self._manifest = collection.stores.index.manifest()
        self._index = collection.stores.index.file_names()
        meta = collection.stores.ranks.meta()
        self._ranks = meta.generation if meta is not None else 0
        self._rank_names = [
            one.removeprefix("ranks/") for one in self.files.names(f"ranks/{self._ranks}/") if self._ranks
        ]

    def uploads(self) -> list[Upload]:
        found = [
            Upload(local, self._object_of(local))
            for span in self._batches.values()
            for local in (span.documents, span.links)
        ]
        found += [Upload(f"{ARCHIVE}/{name}", f"{ARCHIVE}/{self._name}/{name}") for name in self._archive]
        found += [Upload(f"index/{name}", f"index/w0-{self._name}/{name}") for name in self._index]
        return found + [Upload(f"ranks/{name}", f"ranks/w0-{self._name}/{name}") for name in self._rank_names]

    def _object_of(self, local: str) -> str:
        """Of a file of a batch; each has an object of its own, also where two have the same bytes."""
        name = xxhash.xxh3_128_hexdigest(f"{self._name} {local}".encode())
        return f"{local.partition('/')[0]}/{name}.parquet"

    def write(self, tx: Transaction, sent: dict[str, Stored], catalogs: Catalogs) -> None:
        """Let rows name the objects."""
        tx.executemany(
            "UPDATE batches SET documents_file = ?, links_file = ? WHERE number = ?",
            [
                (sent[span.documents].encode(), sent[span.links].encode(), number)
                for number, span in self._batches.items()
            ],
        )
        parts = [ArchivePart(name, sent[f"{ARCHIVE}/{name}"], 0) for name in self._archive]
        write_parts(tx, parts)
        settle_parts(tx, {one.name: min(one.stored.bytes, self._marks.get(one.name, 0)) for one in parts})
        if self._manifest is not None:
            files = {name: sent[f"index/{name}"] for name in self._index}
            data = self.files.read("index/manifest.json")
            catalogs.index.enter(tx, CatalogEntry(self._manifest.generation, data, files))
        if self._ranks:
            files = {name: sent[f"ranks/{name}"] for name in self._rank_names}
            catalogs.ranks.enter(tx, CatalogEntry(self._ranks, self.files.read("ranks/current.json"), files))


def _put_aside(folder: Path) -> Path:
    """What the collection does not use any more; index and ranks stay, as copies of their objects."""
    kept, number = folder / KEPT, 1
    while kept.exists():
        number += 1
        kept = folder / f"{KEPT}-{number}"
    kept.mkdir()
    for name in _ASIDE:
        path = folder / name
        if path.exists():
            path.rename(kept / name)
    return kept
