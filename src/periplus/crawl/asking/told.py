"""What crawls were told: settings given by flag, option or form, kept in the state database until told otherwise.

Each is kept with what ``periplus.toml`` said of it at that time, so that a later edit of the file is noticed. Secrets
and the leave to visit private networks (``settings.NOT_REMEMBERED``) are not kept; only that they were used is. What
the console changes is kept in the same rows (``by``), so of crawl and console the later wins.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from periplus.errors import SettingError
from periplus.settings import CONSOLE, NOT_REMEMBERED, REMEMBERED, SHARED, Remembered, described, is_same
from periplus.storage import note_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from periplus.storage import Database, Transaction

_TOLD, _USED = "told ", "used "  # in meta, followed by the setting
_KEEP = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def told(database: Database) -> dict[str, Remembered]:
    """What is remembered, by setting."""
    with database.read() as tx:
        return kept(tx)


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
        known = kept(tx)
        for setting, value in given.items():
            if setting in NOT_REMEMBERED:
                _mark(tx, setting, is_used=bool(value))
                continue
            plain = msgspec.to_builtins(value)
            before = known.get(setting)
            if before is None or (before.value, before.beside) != (plain, beside.get(setting, "")):
                keep(tx, setting, Remembered(plain, beside.get(setting, ""), time.time()))


def forget(database: Database, settings: Iterable[str] | None = None) -> None:
    """Forget these settings and which others were used; or all that crawls were told, but not what the console said."""
    with database.write() as tx:
        if settings is None:
            settings = [setting for setting, entry in kept(tx).items() if entry.by == REMEMBERED]
            tx.execute("DELETE FROM meta WHERE key LIKE ?", (_USED + "%",))
        for setting in settings:
            keep(tx, setting, None)
            _mark(tx, setting, is_used=False)


def keep(tx: Transaction, setting: str, entry: Remembered | None) -> None:
    """Write or, without an entry, drop what is remembered of one setting; servers read it again."""
    if entry is None:
        tx.execute("DELETE FROM meta WHERE key = ?", (_TOLD + setting,))
    else:
        tx.execute(_KEEP, (_TOLD + setting, msgspec.json.encode(entry).decode()))
    note_change(tx, SHARED)


def kept(tx: Transaction) -> dict[str, Remembered]:
    """What is remembered, by setting, as one transaction sees it.

    A value from the console that this version does not take is passed over: else no server would start, so that nobody
    could change it there.
    """
    rows = tx.rows("SELECT key, value FROM meta WHERE key LIKE ?", (_TOLD + "%",))
    found = {str(key).removeprefix(_TOLD): msgspec.json.decode(value, type=Remembered) for key, value in rows}
    return {setting: entry for setting, entry in found.items() if entry.by != CONSOLE or _is_taken(setting, entry)}


def _is_taken(setting: str, entry: Remembered) -> bool:
    try:
        return bool(described(setting)) and is_same(setting, entry.value, entry.value)
    except SettingError:
        return False


def _mark(tx: Transaction, setting: str, *, is_used: bool) -> None:
    if is_used:
        tx.execute(_KEEP, (_USED + setting, "1"))
    else:
        tx.execute("DELETE FROM meta WHERE key = ?", (_USED + setting,))
