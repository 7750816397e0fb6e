"""The console's page of settings: what is in force, where it is from, what can be changed there, and what was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import settings
from periplus.app.console.setting_changes import SettingChanges
from periplus.settings import CONSOLE, NEXT_START, REMEMBERED, SECRETS

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.settings import LoadedSettings, SettingInfo

SHOWN = 10  # changes


def settings_panel(collection: Collection) -> dict[str, Any]:
    """Every setting, and the last changes; secrets are not shown."""
    loaded, kept = collection.in_force(), collection.remembered()
    rows = [_row(collection, loaded, info) | _kept(loaded, info, kept) for info in settings.catalogue()]
    changes = SettingChanges(collection).last(SHOWN)
    return {"settings": rows, "changes": [msgspec.to_builtins(change) for change in changes]}


def _row(collection: Collection, loaded: LoadedSettings, info: SettingInfo) -> dict[str, Any]:
    value = loaded.value(info.key)
    row = {
        "key": info.key,
        "section": info.section,
        "value": _shown(info, value),
        "origin": loaded.origins.get(info.key, "default"),
        "help": info.help,
        "variable": info.variable,
        "kind": _kind(info),
        "choices": list(info.choices),
        "fixed": info.fixed,
        "in_force": info.in_force,
        "overruled": info.variable if info.variable in os.environ else "",
    }
    section: Any = getattr(collection.settings, info.section)
    running = getattr(section, info.name)
    waits = info.in_force == NEXT_START and running != value
    return row | ({"running": _shown(info, running)} if waits else {})


def _kept(loaded: LoadedSettings, info: SettingInfo, kept: dict[str, settings.Remembered]) -> dict[str, Any]:
    """What is remembered: ``kept`` where something else is in force, and ``forgets`` where it can be dropped."""
    if info.key not in kept:
        return {}
    entry = kept[info.key]
    is_heard = loaded.origins.get(info.key) in (REMEMBERED, CONSOLE)
    return {"forgets": entry.by} if is_heard else {"forgets": entry.by, "kept": entry.value}


def _kind(info: SettingInfo) -> str:
    if isinstance(info.default, bool):
        return "flag"
    if isinstance(info.default, tuple):
        return "list"
    if info.choices:
        return "choice"
    return "number" if isinstance(info.default, int | float) else "text"


def _shown(info: SettingInfo, value: Any) -> Any:
    return "(kept secret)" if info.key in SECRETS and value else msgspec.to_builtins(value)
