"""Opening hours: ``Mo-Fr 09:00-18:00; Sa 10:00-14:00``, as schema.org writes them, and whether it is open now.

Hours are those of the clock on the wall of the place. Which time zone that is, nobody says; it is that of the nearest
cities of the time zone database. Where the nearest ones disagree, nothing is claimed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

from periplus.verticals.positions import distance

if TYPE_CHECKING:
    from collections.abc import Iterator

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
NEAREST = 3  # zones that must agree
DAY = 24 * 60
_SPAN = re.compile(
    r"(?:(?P<days>[A-Z][a-z](?:\s*[-–,]\s*[A-Z][a-z])*)\s+)?"
    r"(?P<spans>\d{1,2}:\d\d(?::\d\d)?\s*[-–]\s*\d{1,2}:\d\d(?::\d\d)?"
    r"(?:\s*,\s*\d{1,2}:\d\d(?::\d\d)?\s*[-–]\s*\d{1,2}:\d\d(?::\d\d)?)*)"
)
_TIMES = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?\s*[-–]\s*(\d{1,2}):(\d\d)(?::\d\d)?")
_PLACE = re.compile(r"([+-])(\d{2,3})(\d\d)(?:\d\d)?([+-])(\d{3})(\d\d)(?:\d\d)?")


class OpenSpan(Struct, frozen=True):
    day: int  # 0 is Monday
    opens: int  # minutes of the day
    closes: int  # beyond 1,440 where that is after midnight


def read_hours(text: str) -> tuple[OpenSpan, ...]:
    """What of ``text`` can be read; hours without days are those of every day."""
    found: list[OpenSpan] = []
    for part in _SPAN.finditer(text[:500]):
        days = list(_days(part["days"])) if part["days"] else list(range(7))
        for times in _TIMES.finditer(part["spans"]):
            opens, closes = (int(times[i]) * 60 + int(times[i + 1]) for i in (1, 3))
            if opens >= DAY or closes > DAY:
                continue
            closes += DAY if closes <= opens else 0
            found += [OpenSpan(day, opens, closes) for day in days]
    return tuple(found)


def _days(text: str) -> Iterator[int]:
    for part in re.split(r"\s*,\s*", text):
        first, _, last = (name.strip() for name in re.sub("[–-]", "-", part).partition("-"))
        if first not in DAYS or (last and last not in DAYS):
            continue
        place = DAYS.index(first)
        yield place
        while last and DAYS[place] != last:
            place = (place + 1) % 7
            yield place


def is_open(openings: tuple[OpenSpan, ...], local: datetime) -> bool:
    """Whether one of them holds at that moment of the place's own clock."""
    now = local.weekday() * DAY + local.hour * 60 + local.minute
    week = 7 * DAY
    return any((now - (one.day * DAY + one.opens)) % week < one.closes - one.opens for one in openings)


def open_now(text: str, position: tuple[float, float] | None, now: datetime | None = None) -> bool | None:
    """Whether it is open; None where the hours cannot be read, or the zone is not sure."""
    openings = read_hours(text) if text and position else ()
    if not openings or position is None:
        return None
    moment = now or datetime.now(UTC)
    told = {is_open(openings, moment.astimezone(ZoneInfo(zone))) for zone in nearest_zones(position)}
    return told.pop() if len(told) == 1 else None


def today(text: str, position: tuple[float, float] | None, now: datetime | None = None) -> str:
    """The hours of today, such as ``09:00–18:00``; empty where they cannot be told."""
    openings = read_hours(text)
    if not openings:
        return ""
    zone = ZoneInfo(nearest_zones(position)[0]) if position else UTC
    day = (now or datetime.now(UTC)).astimezone(zone).weekday()
    return ", ".join(f"{_clock(one.opens)}–{_clock(one.closes)}" for one in openings if one.day == day)


def _clock(minutes: int) -> str:
    """``24:00`` is the end of a day, so that a place that never closes has 00:00–24:00."""
    hours = minutes // 60 % 24 if minutes != DAY else 24
    return f"{hours:02}:{minutes % 60:02}"


def nearest_zones(position: tuple[float, float]) -> tuple[str, ...]:
    return _nearest(round(position[0], 1), round(position[1], 1))


@lru_cache(4_096)
def _nearest(north: float, east: float) -> tuple[str, ...]:
    zones = sorted(_cities(), key=lambda city: distance(city[0], (north, east)))
    return tuple(name for _, name in zones[:NEAREST])


@lru_cache(1)
def _cities() -> tuple[tuple[tuple[float, float], str], ...]:
    """The principal city of each zone, by its position."""
    table = files("tzdata").joinpath("zoneinfo", "zone1970.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    return tuple((where, row[2]) for row in rows if len(row) > 2 and (where := _degrees(row[1])))


def _degrees(text: str) -> tuple[float, float] | None:
    found = _PLACE.fullmatch(text)
    if not found:
        return None
    north = (int(found[2]) + int(found[3]) / 60) * (-1 if found[1] == "-" else 1)
    east = (int(found[5]) + int(found[6]) / 60) * (-1 if found[4] == "-" else 1)
    return north, east
