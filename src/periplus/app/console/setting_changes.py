"""What an operator changes of the settings on the console, and takes back.

A change is a row like those of what crawls were told, so all machines of a collection agree. The settings file is never
written. Each change is a line in the log of events, and is kept with what was before, so that it can be undone. An undo
is a change as well.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from periplus import crawl, settings
from periplus.crawl import told
from periplus.errors import NotFound, SettingError
from periplus.ranking import profile
from periplus.settings import CONSOLE, FILE_NAME, REMEMBERED, Remembered
from periplus.storage import write_event
from periplus.verticals import Whereabouts

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.settings import LoadedSettings
    from periplus.storage import Transaction

KEPT = 200  # changes
_CHANGE = "changed setting "  # in meta, followed by the number of the change
_DIGITS = 12
_NEWEST = "SELECT value FROM meta WHERE key LIKE ? ORDER BY key DESC LIMIT ?"


class SettingChange(Struct, frozen=True):
    """From one value to another, each with where it came from: variables and flags are left out."""

    number: int
    at: float
    who: str
    setting: str
    old: Any
    old_from: str
    new: Any
    new_from: str
    undoes: int = 0  # the number of another change


class SettingChanges:
    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def change(self, setting: str, text: str, who: str = "") -> SettingChange | None:
        """Have a setting the value that was typed; None where it has it already.

        ``SettingError`` where the console may not change it, something else overrules the console, or the value is
        wrong: then nothing is changed.
        """
        described = settings.described(setting)
        if described.fixed:
            raise SettingError(f"{setting} is not changed on the console: {described.fixed}", setting)
        if described.variable in os.environ:
            told_why = f"{described.variable} is set where this server runs, and wins over the console; unset it there"
            raise SettingError(told_why, setting)
        is_list = isinstance(described.default, tuple)
        if not all(line.isprintable() for line in (text.splitlines() if is_list else [text])):
            raise SettingError(f"{setting} holds a line break or a control character; leave it out", setting)
        return self._write(setting, self._entry(setting, settings.typed(setting, text)), who)

    def reset(self, setting: str, who: str = "") -> SettingChange | None:
        """Have it be what the file says, or its default; ``NotFound`` where nothing is remembered of it."""
        if setting not in self._collection.remembered():
            raise NotFound(f"nothing is remembered of {setting}")
        return self._write(setting, None, who)

    def undo(self, number: int, who: str = "") -> SettingChange | None:
        """Have a setting be what it was before that change: its value, or what the file says where that was in force.

        None where it is so already.
        """
        undone = self.of(number)
        was_remembered = undone.old_from in (REMEMBERED, CONSOLE)
        entry = self._entry(undone.setting, undone.old) if was_remembered else None
        return self._write(undone.setting, entry, who, number)

    def of(self, number: int) -> SettingChange:
        """The change of that number; ``NotFound`` where it is not kept."""
        with self._collection.database.read() as tx:
            found = tx.value("SELECT value FROM meta WHERE key = ?", (_key(number),))
        if found is None:
            raise NotFound(f"there is no change {number}, or it is too long ago")
        return msgspec.json.decode(found, type=SettingChange)

    def last(self, most: int) -> list[SettingChange]:
        """The newest first."""
        with self._collection.database.read() as tx:
            rows = tx.rows(_NEWEST, (_CHANGE + "%", most))
        return [msgspec.json.decode(value, type=SettingChange) for (value,) in rows]

    def _entry(self, setting: str, value: Any) -> Remembered:
        beside = settings.in_file(self._collection.folder).get(setting, "")
        return Remembered(msgspec.to_builtins(value), beside, time.time(), CONSOLE)

    def _write(self, setting: str, entry: Remembered | None, who: str, undoes: int = 0) -> SettingChange | None:
        with self._collection.sound_state().write() as tx:
            before = told.kept(tx)
            after = {key: kept for key, kept in before.items() if key != setting}
            if entry is not None:
                after[setting] = entry
            old, new = self._loaded(before), self._loaded(after)
            if (old.value(setting), _origin(old, setting)) == (new.value(setting), _origin(new, setting)):
                if entry is None:  # what is not in force goes without a word
                    told.keep(tx, setting, None)
                return None
            _check(setting, new)
            change = SettingChange(
                tx.next_number("setting_changes"),
                time.time(),
                who,
                setting,
                old.value(setting),
                _origin(old, setting),
                new.value(setting),
                _origin(new, setting),
                undoes,
            )
            told.keep(tx, setting, entry)
            _note(tx, change)
        return change

    def _loaded(self, remembered: dict[str, Remembered]) -> LoadedSettings:
        """By what all machines see: neither variables nor flags of this one."""
        return settings.load(self._collection.folder, environ={}, remembered=remembered)


def in_words(value: Any) -> str:
    """A value of a setting in a sentence."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return text or "empty"


def _origin(loaded: LoadedSettings, setting: str) -> str:
    origin = loaded.origins.get(setting, "default")
    return FILE_NAME if origin.endswith(FILE_NAME) else origin


def _check(setting: str, loaded: LoadedSettings) -> None:
    """What only those who use a setting can tell."""
    if setting.startswith("crawl."):
        crawl.check(loaded.values.crawl, loaded.origins)
    elif setting == "search.profile":
        profile(loaded.values.search.profile)
    elif setting == "verticals.position":
        Whereabouts(loaded.values.verticals.position)


def _note(tx: Transaction, change: SettingChange) -> None:
    sql = "INSERT INTO meta (key, value) VALUES (?, ?)"
    tx.execute(sql, (_key(change.number), msgspec.json.encode(change).decode()))
    tx.execute("DELETE FROM meta WHERE key LIKE ? AND key <= ?", (_CHANGE + "%", _key(change.number - KEPT)))
    by = f" by the operator at {change.who}" if change.who else ""
    undoes = f", which undoes change {change.undoes}" if change.undoes else ""
    new, old = f"{in_words(change.new)} ({change.new_from})", f"{in_words(change.old)} ({change.old_from})"
    write_event(tx, "console", f"change {change.number} of settings{by}: {change.setting} is {new}, was {old}{undoes}")


def _key(number: int) -> str:
    return f"{_CHANGE}{max(number, 0):0{_DIGITS}}"
