"""Dates and times: the time in a place, a time of one place in another, days between dates, a date so far from another.

Places are those of the time zone database of this machine, or of the package ``tzdata``: ``tokyo`` is Asia/Tokyo.
"""

from __future__ import annotations

import calendar
import re
import tomllib
import unicodedata
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from periplus.answers.numbers import Unanswerable
from periplus.answers.records import Computed

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = Path(__file__).with_name("places.toml")
SHORTEST_NAME = 3  # letters; these are initials
LARGEST_STEP = 1_000_000  # days, weeks, months or years, in one question
LONGEST_GAP = 8  # years between two of a 29 February
LARGEST_STAMP = 253_402_300_799  # the last second of the year 9999
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_DAY = rf"(?:today|tomorrow|yesterday|\d{{4}}-\d\d-\d\d|{_NTH}\.? [a-z]+,? \d{{4}}|[a-z]+ {_NTH},? \d{{4}})"
_FIXED = {
    "christmas": (12, 25),
    "christmas eve": (12, 24),
    "new year": (1, 1),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_EVERY_YEAR = rf"(?:{'|'.join(sorted(_FIXED, reverse=True))}|{_NTH}\.? [a-z]+|[a-z]+ {_NTH})"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_PLACE = r"[^\W\d_](?:[^\W\d]|[ /.'’-]){1,40}"
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>am|pm)?"

_NOW_IN = re.compile(rf"(?:what(?:'s| is) the |what |current )?time(?: is it| now)? in (?P<place>{_PLACE})")
_CLOCK_IN = re.compile(rf"{_CLOCK}\s+(?P<place>{_PLACE}?)\s+(?:in|to)\s+(?P<wanted>{_PLACE})")
_BETWEEN = re.compile(rf"(?:how many )?days (?:between|from) (?P<first>{_DAY}) (?:and|to|until) (?P<last>{_DAY})")
_UNTIL = re.compile(rf"(?:how many )?days (?P<which>until|till|to|since) (?P<day>{_DAY}|{_EVERY_YEAR})")
_STEP = re.compile(rf"(?P<day>{_DAY}) ?(?P<sign>\+|-|plus|minus) ?(?P<count>\d{{1,7}}) {_UNIT}")
_AGO = re.compile(rf"(?P<count>\d{{1,7}}) {_UNIT} (?P<which>ago|from (?:now|today))")
_WEEKDAY = re.compile(
    rf"(?:weekday(?: of)?|day of the week(?: of)?|what day (?:is|was|of the week is)) (?P<day>{_DAY})"
)
_STAMP = re.compile(r"(?:unix ?time(?:stamp)?|epoch|timestamp) (?P<stamp>\d{1,12})")


def when(query: str, now: datetime) -> Computed | None:
    """The answer to a question of dates or times; None where it is none. ``now`` has a zone."""
    text = " ".join(query.lower().split())
    for pattern, reading in _READINGS:
        if match := pattern.fullmatch(text):
            return reading(match, now)
    return None


def _now_in(match: re.Match[str], now: datetime) -> Computed | None:
    zone = zone_of(match["place"])
    if zone is None:
        return None
    there = now.astimezone(zone)
    return Computed(
        "time",
        f"time in {place_name(match['place'], zone)}",
        _clock(there),
        f"{_spoken(there.date())}, {_offset(there)}",
    )


def _clock_in(match: re.Match[str], now: datetime) -> Computed | None:
    zone, wanted = zone_of(match["place"]), zone_of(match["wanted"])
    moment = _time_of(match)
    if zone is None or wanted is None or moment is None:
        return None
    here = datetime.combine(now.astimezone(zone).date(), moment, zone)
    there = here.astimezone(wanted)
    apart = (there.date() - here.date()).days
    day = {0: "the same day", 1: "the next day", -1: "the day before"}.get(apart, "")
    asked = f"{moment:%H:%M} in {place_name(match['place'], zone)}"
    answer = f"{_clock(there)} in {place_name(match['wanted'], wanted)}"
    return Computed("time", asked, answer, f"{day}, {_spoken(here.date())} there")


def _time_of(match: re.Match[str]) -> time | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if not half and match["minute"] is None:
        return None
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _between(match: re.Match[str], now: datetime) -> Computed | None:
    first, last = day_of(match["first"], now), day_of(match["last"], now)
    return Computed("date", f"days between {first} and {last}", _days(abs((last - first).days)), _weeks(last - first))


def _until(match: re.Match[str], now: datetime) -> Computed | None:
    today = now.date()
    day = nearest(match["day"], today, later=match["which"] != "since") or day_of(match["day"], now)
    count = (today - day).days if match["which"] == "since" else (day - today).days
    if count < 0:
        return None
    word = "since" if match["which"] == "since" else "until"
    return Computed("date", f"days {word} {day}", _days(count), _spoken(day))


def _step(match: re.Match[str], now: datetime) -> Computed | None:
    day = day_of(match["day"], now)
    count = int(match["count"]) * (-1 if match["sign"] in ("-", "minus") else 1)
    return _stepped(day, count, match["unit"])


def _ago(match: re.Match[str], now: datetime) -> Computed | None:
    count = int(match["count"]) * (-1 if match["which"] == "ago" else 1)
    return _stepped(now.date(), count, match["unit"])


def _stepped(day: date, count: int, unit: str) -> Computed:
    if abs(count) > LARGEST_STEP:
        raise Unanswerable
    there = stepped(day, count, unit)
    sign = "+" if count >= 0 else "−"
    return Computed("date", f"{day} {sign} {_counted(abs(count), unit)}", there.isoformat(), _spoken(there))


def stepped(day: date, count: int, unit: str) -> date:
    """So many days, weeks, months or years from ``day``; of a shorter month, its last day."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    if not 1 <= year <= 9_999:
        raise OverflowError
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _weekday(match: re.Match[str], now: datetime) -> Computed | None:
    day = day_of(match["day"], now)
    year, week, _ = day.isocalendar()
    return Computed("date", f"weekday of {day}", calendar.day_name[day.weekday()], f"week {week} of {year}")


def _stamp(match: re.Match[str], _now: datetime) -> Computed | None:
    seconds = int(match["stamp"])
    if seconds > LARGEST_STAMP:
        return None
    moment = datetime.fromtimestamp(seconds, UTC)
    return Computed(
        "time", f"unix time {seconds}", f"{moment:%Y-%m-%d %H:%M:%S} UTC", calendar.day_name[moment.weekday()]
    )


_READINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Computed | None]], ...] = (
    (_NOW_IN, _now_in),
    (_CLOCK_IN, _clock_in),
    (_BETWEEN, _between),
    (_UNTIL, _until),
    (_STEP, _step),
    (_AGO, _ago),
    (_WEEKDAY, _weekday),
    (_STAMP, _stamp),
)


def day_of(text: str, now: datetime) -> date:
    """A day as people write it; ``Unanswerable`` where there is none such."""
    near = {"today": 0, "tomorrow": 1, "yesterday": -1}
    if text in near:
        return now.date() + timedelta(days=near[text])
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
        month, (day, year) = _parts(text)
        return date(year, month, day)
    except (ValueError, StopIteration) as error:
        raise Unanswerable from error


def nearest(text: str, today: date, *, later: bool) -> date | None:
    """The next day of a name that each year has one of, or the last one: 24 december, christmas; else None."""
    if re.search(r"\d{4}", text) or text in ("today", "tomorrow", "yesterday"):
        return None
    try:
        month, day = _FIXED.get(text) or _without_year(text)
    except (ValueError, StopIteration) as error:
        raise Unanswerable from error
    years = range(today.year - LONGEST_GAP, today.year + LONGEST_GAP + 1)
    days = [date(year, month, day) for year in years if 1 <= day <= calendar.monthrange(year, month)[1]]
    fitting = [one for one in days if (one >= today if later else one <= today)]
    return (fitting[0] if later else fitting[-1]) if fitting else None


def _without_year(text: str) -> tuple[int, int]:
    month, (day,) = _parts(text)
    return month, day


def _parts(text: str) -> tuple[int, list[int]]:
    """The month of a day as people write it, and the numbers in it."""
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text))
    return next(_MONTHS[word] for word in words if word in _MONTHS), [int(word) for word in words if word.isdigit()]


def zone_of(place: str) -> ZoneInfo | None:
    """The time zone of a city, or of a zone's own name."""
    name = plain_name(place)
    if name in ("utc", "gmt", "z"):
        return ZoneInfo("UTC") if "utc" in zones() else None
    key = zones().get(name) or places().get(name)
    return ZoneInfo(key) if key else None


def plain_name(place: str) -> str:
    """In small letters without accents, dots and underscores."""
    parts = unicodedata.normalize("NFD", place.lower())
    bare = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return " ".join(bare.replace("_", " ").replace(".", "").replace("’", "'").split())


@cache
def zones() -> dict[str, str]:
    """Keys of zones by their names and by their cities, in small letters."""
    known: dict[str, str] = {}
    for key in sorted(available_timezones()):
        spoken = key.replace("_", " ").lower()
        known[spoken] = key
        area, _, _ = spoken.partition("/")
        city = spoken.rpartition("/")[2]
        if "/" in spoken and area not in (
            "etc",
            "posix",
            "right",
            "systemv",
            "us",
            "canada",
            "brazil",
            "chile",
            "mexico",
        ):
            known.setdefault(city, key)
    return known


@cache
def places() -> dict[str, str]:
    """Keys of zones by the names of other places, in small letters."""
    tables = tomllib.loads(PLACES.read_text(encoding="utf-8")).values()
    known = available_timezones()
    return {place: key for table in tables for key, named in table.items() if key in known for place in named}


def place_name(asked: str, zone: ZoneInfo) -> str:
    """As it was asked for where it is no name of a zone: Mumbai, UK."""
    if plain_name(asked) in places():
        return asked.upper() if len(asked) <= SHORTEST_NAME else asked.title()
    return zone.key.rpartition("/")[2].replace("_", " ")


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"


def _offset(moment: datetime) -> str:
    text = moment.strftime("%z")
    return f"UTC{text[:3]}:{text[3:]}"


def _spoken(day: date) -> str:
    return f"{calendar.day_name[day.weekday()]}, {day.day} {calendar.month_name[day.month]} {day.year}"


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"


def _days(count: int) -> str:
    return _counted(count, "day")


def _weeks(apart: timedelta) -> str:
    weeks, days = divmod(abs(apart.days), 7)
    return f"{_counted(weeks, 'week')} and {_days(days)}" if weeks else ""
