"""From an object store and a database that machines share to one folder."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from periplus import settings as settings_module
from periplus.app.moving import target as place
from periplus.app.moving.plan import Moved
from periplus.app.moving.rest import folder_at_rest, sign_of_life, state_at_rest
from periplus.app.moving.storage_settings import with_storage
from periplus.app.state import IDENTITY_FILE, MOVED, STATE_FILE, UNFINISHED, identity_of
from periplus.documents import spans
from periplus.errors import Occupied, StorageBusy
from periplus.graph import Stores
from periplus.storage import NOTES, Database, Depot, LocalFiles, Stored, make_private_folder

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.moving.plan import Progress
    from periplus.storage import Catalogs, Transaction

ARCHIVE: Final = "archive"
_TEMPORARY: Final = (".lock", ".db", ".db-wal", ".db-shm")


def to_folder(collection: Collection, folder: Path, told: Progress) -> Moved:
    source, catalogs = collection.sound_state(), collection.catalogs
    assert catalogs is not None  # its files are in an object store
    text = (collection.folder / settings_module.FILE_NAME).read_text(encoding="utf-8")
    changed = with_storage(text, {"database": "", "files": ""})
    collection.create()
    identity = identity_of(collection.folder)
    _check_folder(folder, collection.folder, identity)
    files = LocalFiles(folder)
    with folder_at_rest(collection.folder), state_at_rest(source):
        with Database.open(folder / STATE_FILE) as target:
            place.begin(target, identity)
            with source.read() as tx:
                plan = StorePlan(tx, catalogs)
                before = sign_of_life(tx)
                rows = place.fill(tx, target, lambda table, count: told(count, 0, table))
            plan.pull(Depot(files, catalogs.depot.objects), told)
            plan.point(files)
            _verify(folder)
            with source.read() as tx:
                if sign_of_life(tx) != before:
                    raise StorageBusy("the collection was written to while it was moved; run periplus move again")
            _take_small_files(collection.folder, folder)
            files.write(settings_module.FILE_NAME, changed.encode())
            with target.write() as tx:
                plan.write(tx)
                place.finish(tx)
        shutil.rmtree(files.path(NOTES), ignore_errors=True)
        with source.write() as tx:
            place.put(tx, {MOVED: str(folder.resolve())})
    where = f"{source.name} and {catalogs.depot.objects.address}"
    collection.close()
    return Moved(
        str(folder),
        len(plan.wanted),
        sum(one.bytes for one in plan.wanted.values()),
        len(rows),
        sum(rows.values()),
        where,
    )


def _check_folder(folder: Path, own: Path, identity: str) -> None:
    """An empty one, the working copy itself, or one that a move began to fill."""
    if folder.is_dir() and folder.resolve() == own.resolve():
        if (folder / STATE_FILE).exists() and not _is_unfinished(folder, identity):
            raise Occupied(f"{folder / STATE_FILE} is there already; name an empty folder")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not _is_unfinished(folder, identity):
        raise Occupied(f"{folder} is not empty; name a folder that is not there yet")
    make_private_folder(folder)


def _is_unfinished(folder: Path, identity: str) -> bool:
    if not (folder / STATE_FILE).exists():
        return False
    with Database.open(folder / STATE_FILE) as database, database.read() as tx:
        known: dict[str, str] = dict(tx.rows("SELECT key, value FROM meta"))
    return UNFINISHED in known and known.get(IDENTITY_FILE) == identity


class StorePlan:
    """The files that rows name, and where they are in a folder."""

    def __init__(self, tx: Transaction, catalogs: Catalogs) -> None:
        self.wanted: dict[str, Stored] = {}
        for number, first, documents, links in tx.rows("SELECT number, first, documents_file, links_file FROM batches"):
            span = spans.span(number, first)
            self.wanted[span.documents], self.wanted[span.links] = Stored.decode(documents), Stored.decode(links)
        parts = tx.rows("SELECT name, file, settled FROM archive_parts")
        self._marks = {str(name): int(settled) for name, _, settled in parts}
        self.wanted |= {f"{ARCHIVE}/{name}": Stored.decode(file) for name, file, _ in parts}
        self._index, self._ranks = catalogs.index.current(), catalogs.ranks.current()
        for kind, entry in (("index", self._index), ("ranks", self._ranks)):
            self.wanted |= {f"{kind}/{name}": stored for name, stored in (entry.files if entry else {}).items()}

    def pull(self, depot: Depot, told: Progress) -> None:
        """Have all files, compared by checksum; those that are there are not fetched again."""
        for done, (name, stored) in enumerate(self.wanted.items(), 1):
            depot.pull(stored, name)
            told(done, len(self.wanted), name)
        for name in [name for folder in spans.FOLDERS for name in depot.files.names(f"{folder}/")]:
            if name not in self.wanted:
                depot.drop(name)  # a copy under the name of its object

    def point(self, files: LocalFiles) -> None:
        """Name the generations that count."""
        if self._index is not None:
            files.write(f"index/generations/{self._index.number:08d}.json", self._index.manifest)
            files.write("index/manifest.json", self._index.manifest)
        if self._ranks is not None:
            files.write("ranks/current.json", self._ranks.manifest)

    def write(self, tx: Transaction) -> None:
        """Let rows name the files of the folder."""
        tx.execute("UPDATE batches SET documents_file = '', links_file = ''")
        tx.execute("DELETE FROM archive_marks")
        tx.executemany("INSERT INTO archive_marks (file, place) VALUES (?, ?)", list(self._marks.items()))


def _verify(folder: Path) -> None:
    """Index and ranks can be opened as they are."""
    stores = Stores(folder)
    if stores.index.manifest() is not None:
        stores.index.verify()
    stores.ranks.verify()


def _take_small_files(source: Path, folder: Path) -> None:
    """The operator's own files, such as rules, and the name of the collection."""
    if source.resolve() == folder.resolve():
        return
    for path in source.iterdir():
        if path.is_file() and not path.name.endswith(_TEMPORARY) and path.name != settings_module.FILE_NAME:
            LocalFiles(folder).write(path.name, path.read_bytes())
