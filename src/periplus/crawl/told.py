"""What crawls were told: settings given by flag, option or form, kept in the state database until told otherwise.

Each is kept with what ``periplus.toml`` said of it at that time, so that a later edit of the file is noticed. Secrets
and the leave to visit private networks (``settings.NOT_REMEMBERED``) are not kept; only that they were used is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from periplus.settings import NOT_REMEMBERED, Remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from periplus.storage import Database, Transaction

_TOLD, _USED = "told ", "used "  # in meta, followed by the setting
_KEEP = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def told(database: Database) -> dict[str, Remembered]:
    """What is remembered, by setting."""
    with database.read() as tx:
        return _told(tx)


def used(database: Database) -> frozenset[str]:
    """Settings that crawls were given and that are not remembered."""
    with database.read() as tx:
        rows = tx.rows("SELECT key FROM meta WHERE key LIKE ?", (_USED + "%",))
    return frozenset(str(key).removeprefix(_USED) for (key,) in rows)


def tell(database: Database, given: Mapping[str, Any], beside: Mapping[str, str]) -> None:
    """Remember what a crawl was given; ``beside`` is what the file sets, as JSON.

    What is known already keeps its time: saying the same again is no news.
    """
    with database.write() as tx:
        known = _told(tx)
        for setting, value in given.items():
            if setting in NOT_REMEMBERED:
                _mark(tx, setting, is_used=bool(value))
                continue
            plain = msgspec.to_builtins(value)
            before = known.get(setting)
            if before is None or (before.value, before.beside) != (plain, beside.get(setting, "")):
                entry = Remembered(plain, beside.get(setting, ""), time.time())
                tx.execute(_KEEP, (_TOLD + setting, msgspec.json.encode(entry).decode()))


def forget(database: Database, settings: Iterable[str] | None = None) -> None:
    """Forget these settings, or all, and which others were used."""
    with database.write() as tx:
        if settings is None:
            tx.execute("DELETE FROM meta WHERE key LIKE ? OR key LIKE ?", (_TOLD + "%", _USED + "%"))
            return
        keys = [(kind + setting,) for setting in settings for kind in (_TOLD, _USED)]
        tx.executemany("DELETE FROM meta WHERE key = ?", keys)


def _told(tx: Transaction) -> dict[str, Remembered]:
    rows = tx.rows("SELECT key, value FROM meta WHERE key LIKE ?", (_TOLD + "%",))
    return {str(key).removeprefix(_TOLD): msgspec.json.decode(value, type=Remembered) for key, value in rows}


def _mark(tx: Transaction, setting: str, *, is_used: bool) -> None:
    if is_used:
        tx.execute(_KEEP, (_USED + setting, "1"))
    else:
        tx.execute("DELETE FROM meta WHERE key = ?", (_USED + setting,))
