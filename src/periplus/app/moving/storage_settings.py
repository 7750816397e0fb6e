"""The two settings that say where a collection is, in the text of its settings file; all other lines stay."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from periplus.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTION: Final = "storage"
_HEADER: Final = re.compile(r"^\s*\[")
_OWN_HEADER: Final = re.compile(rf"^\s*\[\s*{SECTION}\s*\]")


def with_storage(text: str, values: Mapping[str, str]) -> str:
    """The text with these settings of the storage; an empty value takes one out.

    ``SettingError`` where the file says it in a way that cannot be changed line by line.
    """
    keys = "|".join(map(re.escape, values))
    given = [f"{name} = {json.dumps(value)}" for name, value in values.items() if value]
    before, own, after = _parted(text.splitlines())
    kept = [line for line in own[1:] if not re.match(rf"\s*(?:{keys})\s*=", line)]
    if given or any(line.strip() for line in kept):
        header = own[:1] or (["", f"[{SECTION}]"] if before else [f"[{SECTION}]"])
        own = [*header, *given, *kept]
    else:
        own = []
    lines = [*before, *own, *after]
    changed = "\n".join(lines).rstrip("\n") + ("\n" if lines else "")
    _check(text, changed, values)
    return changed


def _parted(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """What stands before the section, the section with its header, and what follows."""
    first = next((place for place, line in enumerate(lines) if _OWN_HEADER.match(line)), len(lines))
    rest = range(first + 1, len(lines))
    end = next((place for place in rest if _HEADER.match(lines[place])), len(lines))
    return lines[:first], lines[first:end], lines[end:]


def _check(before: str, after: str, values: Mapping[str, str]) -> None:
    """Nothing else has changed."""
    wanted: dict[str, Any] = tomllib.loads(before)
    section = {name: value for name, value in wanted.get(SECTION, {}).items() if name not in values}
    wanted[SECTION] = section | {name: value for name, value in values.items() if value}
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        found = {}
    if found | {SECTION: found.get(SECTION, {})} != wanted:
        names = " and ".join(f"{SECTION}.{name}" for name in values)
        raise SettingError(f"{names} cannot be changed in the settings file; write them under [{SECTION}]", SECTION)
