"""Where the visitor is: as typed, as the browser said with consent, as the operator set it, or by the IP address.

A position is used for one answer and kept nowhere. Only one that the visitor gave, or the operator's own, is sent on
to a service, and rounded to about a kilometre; what an IP address tells stays here.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus.errors import MissingExtra, SettingError
from periplus.verticals.reading import number, place

if TYPE_CHECKING:
    from pathlib import Path

EARTH = 6_371_000.0  # metres
GIVEN, OPERATOR, ADDRESS = "given", "operator", "address"  # sources
ROUNDED = 2  # digits of a degree that are sent on
_PAIR = re.compile(r"\s*(-?\d{1,2}(?:\.\d{1,20})?)\s*[,;\s]\s*(-?\d{1,3}(?:\.\d{1,20})?)\s*")


class Position(Struct, frozen=True):
    latitude: float
    longitude: float
    source: str = GIVEN

    @property
    def pair(self) -> tuple[float, float]:
        return (self.latitude, self.longitude)

    @property
    def shared(self) -> tuple[float, float] | None:
        """What a service may be told of it; nothing where nobody agreed to that."""
        if self.source == ADDRESS:
            return None
        return (round(self.latitude, ROUNDED), round(self.longitude, ROUNDED))


def read_position(text: str, source: str = GIVEN) -> Position | None:
    """``47.37,8.54`` as a position; None for anything else."""
    found = _PAIR.fullmatch(text[:60])
    where = place(found[1], found[2]) if found else None
    return Position(*where, source) if where else None


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Metres along the surface of the earth."""
    (north, east), (further_north, further_east) = one, other
    a, b = math.radians(north), math.radians(further_north)
    along = math.radians(further_east - east)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(along / 2) ** 2
    return 2 * EARTH * math.asin(min(1.0, math.sqrt(half)))


class Whereabouts:
    """Where visitors are that did not say so: by the operator's IP database, else the operator's own place."""

    def __init__(self, default: str = "", database: Path | None = None) -> None:
        self._default = read_position(default, OPERATOR)
        if default and self._default is None:
            raise SettingError(f"verticals.position = {default!r}: give latitude and longitude, such as 47.37,8.54")
        self._reader = _opened(database) if database else None

    def of(self, address: str) -> Position | None:
        """By the IP address of a visitor."""
        return self._looked_up(address) or self._default

    def _looked_up(self, address: str) -> Position | None:
        if self._reader is None or not address:
            return None
        try:
            found = self._reader.get(address)
        except Exception:  # noqa: BLE001 - a damaged file, or no address: nobody's search fails by that
            return None
        where = place(number(found, "location", "latitude"), number(found, "location", "longitude"))
        return Position(*where, ADDRESS) if where else None


def _opened(path: Path) -> Any:
    try:
        import maxminddb
    except ImportError as error:
        raise MissingExtra(
            "verticals.ip_database needs the package maxminddb; pip install 'periplus[places]'"
        ) from error
    try:
        return maxminddb.open_database(path)
    except (OSError, ValueError, maxminddb.InvalidDatabaseError) as error:
        raise SettingError(f"verticals.ip_database = {path}: {error}; give a file in MaxMind's format") from error
