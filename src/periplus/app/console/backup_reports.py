"""What the last backup of a collection was; a row of its state, so that servers and alarms know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from periplus.storage import write_event

if TYPE_CHECKING:
    from periplus.app.collection import Collection

BACKUP_LOCK: Final = "backup.lock"
LAST: Final = "backup.last"  # in the table meta


class BackupReport(Struct, frozen=True):
    """What a backup did."""

    number: int
    address: str
    made: float
    files: int
    bytes: int
    sent_chunks: int
    sent_bytes: int
    removed: tuple[int, ...]  # numbers of backups that went
    seconds: float


def last_backup(collection: Collection) -> BackupReport | None:
    """What the last backup of the collection was; none where it never had one."""
    with collection.database.read() as tx:
        text = tx.value("SELECT value FROM meta WHERE key = ?", (LAST,))
    try:
        return msgspec.json.decode(str(text), type=BackupReport) if text else None
    except msgspec.MsgspecError:
        return None


def remember(collection: Collection, report: BackupReport) -> None:
    sql = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    with collection.database.write() as tx:
        tx.execute(sql, (LAST, msgspec.json.encode(report).decode()))
        write_event(tx, "backup", f"backup {report.number} is at {report.address}: {report.files:,} files")
