"""The state database that belongs to a folder, and what stands in for it when it is lost.

Files and state go together. A state that is missing, damaged, unfinished, older than the files or of another folder
must not be written to: numbers would be given twice, and what is stored would be forgotten. So it is compared
with the files when it is opened. Where it does not fit, an empty one in a temporary folder stands in: whoever reads
goes on with what the files alone can tell, whoever writes gets ``StateLost``, which says what to do.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_hexdigest

from periplus.errors import Corrupt, PeriplusError, SettingError, StateLost
from periplus.storage import Database, Depot, LocalFiles, open_objects

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from periplus.documents.spans import Span
    from periplus.settings import StorageSettings
    from periplus.storage import Transaction

STATE_FILE: Final = "state.db"
IDENTITY_FILE: Final = "collection.id"  # says which state belongs to the folder, beside ``IDENTITY`` in the state
IDENTITY: Final = "collection.id"
UNFINISHED: Final = "state.unfinished"  # in meta, while ``doctor --repair`` fills a PostgreSQL database
MOVED: Final = "collection.moved"  # in meta: where ``periplus move`` brought the collection to
LEFT_BY_CRASHES: Final = 8  # batches without a row that may lie behind the last one; more mean an older state
ARCHIVED: Final = "archive/periplus-*.warc.gz"
_NAME: Final = re.compile("[0-9a-f]{32}")
REPAIR: Final = "periplus doctor --repair builds it again from them, or restore it from a backup"


class StandIn(Database):
    """An empty state in a temporary folder; it cannot be written to, and says why."""

    why = ""
    folder: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def because(cls, why: str) -> StandIn:
        folder = tempfile.TemporaryDirectory(prefix="periplus-")
        made = cls.open(Path(folder.name) / STATE_FILE)
        made.folder, made.why = folder, why
        return made

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        if self.folder is None:  # migrations, which make its tables
            with super().write() as transaction:
                yield transaction
            return
        raise StateLost(self.why)

    def close(self) -> None:
        super().close()
        if self.folder is not None:
            self.folder.cleanup()


def open_state(folder: Path, address: str = "") -> Database:
    """The state of the collection in ``folder``, made for a folder without stored files; or what stands in for it."""
    where = address or folder / STATE_FILE
    if not address and is_missing(folder):
        return StandIn.because(said_missing(folder))
    try:
        database = Database.open(where)
    except Corrupt as error:
        if not has_stored(folder):
            raise
        return StandIn.because(f"{str(error).partition(';')[0]}; {REPAIR}")
    try:
        wrong, moved = misfit(folder, database), moved_to(database)
    except BaseException:
        database.close()
        raise
    if moved:
        database.close()
        return StandIn.because(f"this collection was moved to {moved}; use it there")
    if not wrong:
        return database
    database.close()
    return StandIn.because(f"{database.name} {wrong}; {REPAIR}")


def open_depot(files: LocalFiles, storage: StorageSettings) -> Depot | None:
    """Between the folder and the object store that the settings name; none where they name none."""
    if not storage.files:
        return None
    if not storage.database:
        wrong = "storage.files is for many machines, which share a PostgreSQL: set storage.database too"
        raise SettingError(wrong, "storage.files")
    return Depot(files, open_objects(storage.files))


def require_state(folder: Path, database: Database) -> None:
    """Raise ``StateLost`` where a stand-in is all there is; else see to it that folder and state know each other."""
    if isinstance(database, StandIn):
        raise StateLost(database.why)
    _settle(folder, database)


def is_missing(folder: Path) -> bool:
    """Whether the state file is missing or empty beside stored files; a quick look, which opens nothing."""
    path = folder / STATE_FILE
    return not (path.exists() and path.stat().st_size) and has_stored(folder)


def said_missing(folder: Path) -> str:
    return f"{folder / STATE_FILE} is missing or empty beside stored files; {REPAIR}"


def has_stored(folder: Path) -> bool:
    """Whether there is anything that only exists once."""
    return bool(_stored(folder)) or any(folder.glob(ARCHIVED))


def _stored(folder: Path) -> Collection[Span]:
    from periplus.documents import spans  # whose room knows how to read pages, which a search need not

    return spans.stored(LocalFiles(folder))


def state_damage(database: Database) -> str:
    """What is wrong inside the database file; empty when it is sound."""
    try:
        return next(iter(database.check()), "")
    except Corrupt as error:
        return str(error).partition(";")[0]


def misfit(folder: Path, database: Database) -> str:
    """Why this state is not that of the files; empty when it is."""
    ours = identity_of(folder)
    with database.read() as tx:
        theirs = tx.value("SELECT value FROM meta WHERE key = ?", (IDENTITY,))
        unfinished = tx.value("SELECT 1 FROM meta WHERE key = ?", (UNFINISHED,))
        number = int(tx.value("SELECT value FROM counters WHERE name = ?", ("batches",)) or 0)
        used = tx.value("SELECT 1 FROM urls LIMIT 1") or tx.value("SELECT 1 FROM removed LIMIT 1") or number
    if unfinished:
        return "was not built to its end"
    if ours and theirs and ours != theirs:
        return "belongs to another collection than the stored files"
    if not used and not theirs and has_stored(folder):
        return "is empty beside stored files"
    seen = _indexed(folder)
    if seen > number:
        return f"is older than the stored files (it knows {number} batches, the index has taken in {seen})"
    stored = _stored(folder)
    if _is_outrun(database, stored):
        return "is older than the stored files (batches were compacted since)"
    later = [one.last for one in stored if one.last > number]
    if len(later) > LEFT_BY_CRASHES:
        return f"is older than the stored files (it knows {number} batches, {len(later)} more are stored)"
    return ""


def moved_to(database: Database) -> str:
    """Where the collection was moved to; empty when it was not."""
    with database.read() as tx:
        return str(tx.value("SELECT value FROM meta WHERE key = ?", (MOVED,)) or "")


def identity_of(folder: Path) -> str:
    """The name of the folder; empty where it has none, or none that can be trusted, which is not another name."""
    try:
        name, _, check = (folder / IDENTITY_FILE).read_bytes().decode("ascii", "replace").strip().partition(" ")
    except OSError:
        return ""
    return name if _NAME.fullmatch(name) and check in ("", xxh3_64_hexdigest(name.encode())) else ""


def check_identity(folder: Path) -> None:
    """Raise ``Corrupt`` where there is a name that is not as it was written."""
    path = folder / IDENTITY_FILE
    if path.exists() and not identity_of(folder):
        raise Corrupt(f"{path} is damaged; periplus doctor --repair writes it again from the state")


def _settle(folder: Path, database: Database) -> None:
    """The folder and its state have one name, made with the first verb that writes."""
    with database.read() as tx:
        theirs = str(tx.value("SELECT value FROM meta WHERE key = ?", (IDENTITY,)) or "")
    ours = identity_of(folder)
    if ours and ours == theirs:
        return
    name = theirs or ours or secrets.token_hex(16)
    if not theirs:
        with database.write() as tx:
            tx.insert_new("meta", ("key", "value"), [(IDENTITY, name)], "key")
            name = str(tx.value("SELECT value FROM meta WHERE key = ?", (IDENTITY,)))
    LocalFiles(folder).write(IDENTITY_FILE, f"{name} {xxh3_64_hexdigest(name.encode())}\n".encode())


def _is_outrun(database: Database, stored: Collection[Span]) -> bool:
    """Whether batches that the state lists are stored in compacted files only, of which it knows nothing."""
    from periplus.documents import spans

    wide = spans.covered_by(one for one in spans.widest(stored) if one.first < one.last)
    with database.read() as tx:
        rows = [spans.span(number, first) for number, first in tx.rows("SELECT number, first FROM batches")]
    return any(row not in stored and wide(row) not in (None, row) for row in rows)


def _indexed(folder: Path) -> int:
    """The last batch that the published index holds; 0 where it cannot be told."""
    from periplus.index.format.manifest import read_manifest

    try:
        manifest = read_manifest(folder / "index")
    except (PeriplusError, OSError):
        return 0
    return manifest.last_batch if manifest else 0
