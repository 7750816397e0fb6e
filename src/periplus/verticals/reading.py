"""Texts and numbers out of what services and pages say, whatever stands there instead.

A field that is missing, of another type, not finite or overlong is empty: one odd value costs itself, not the card.
"""

from __future__ import annotations

import math
import re
from typing import Any
from urllib.parse import urlsplit

LONGEST = 300  # characters of a text
LONGEST_ADDRESS = 2_000
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")


def at(value: Any, *path: str | int) -> Any:
    """What stands at a path of names and places inside of JSON; None where there is nothing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def text(value: Any, *path: str | int, limit: int = LONGEST) -> str:
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return " ".join(_UNSEEN.sub(" ", str(found)).split())[:limit]


def number(value: Any, *path: str | int) -> float | None:
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        read = float(found)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def count(value: Any, *path: str | int) -> int:
    found = number(value, *path)
    return int(found) if found is not None and 0 <= found < 1e12 else 0


def rating(value: Any, *path: str | int) -> float:
    """Of five; 0 where it is none."""
    found = number(value, *path)
    return round(found, 2) if found is not None and 0 < found <= 5 else 0.0


def link(value: Any, *path: str | int) -> str:
    """An address of the web, else nothing."""
    found = at(value, *path)
    if not isinstance(found, str) or len(found) > LONGEST_ADDRESS:
        return ""
    found = found.strip()
    try:
        parts = urlsplit(found)
    except ValueError:
        return ""
    return found if parts.scheme in ("http", "https") and parts.hostname and found.isprintable() else ""


def items(value: Any, *path: str | int, most: int = 20) -> list[Any]:
    found = at(value, *path)
    return found[:most] if isinstance(found, list) else []


def place(latitude: Any, longitude: Any) -> tuple[float, float] | None:
    """A position on the earth, else nothing."""
    north, east = number(latitude), number(longitude)
    if north is None or east is None or not (-90 <= north <= 90 and -180 <= east <= 180):
        return None
    return (north, east)
