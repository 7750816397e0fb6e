"""A calendar without end: each month links to the next and the one before. Crawlers must notice and stop."""

from __future__ import annotations

import calendar
import re

_PATH = re.compile(r"/(\d{1,9})/(0[1-9]|1[0-2])")
_CYCLE = 400  # years after which the Gregorian calendar repeats itself, weekdays included
MARKET_DAY = calendar.THURSDAY


def month_of(path: str, root: str) -> tuple[int, int] | None:
    """Year and month of a calendar address under ``root``; none for any other address."""
    match = _PATH.fullmatch(path.removeprefix(root)) if path.startswith(root) else None
    return (int(match[1]), int(match[2])) if match and int(match[1]) else None


def title(year: int, month: int) -> str:
    return f"Quay calendar, {calendar.month_name[month]} {year}"


def content(year: int, month: int, root: str) -> str:
    weeks = calendar.monthcalendar(_CYCLE * 5 + year % _CYCLE, month)
    rows = "".join("<tr>" + "".join(f"<td>{day or ''}</td>" for day in week) + "</tr>\n" for week in weeks)
    heads = "".join(f"<th>{name}</th>" for name in calendar.day_abbr)
    markets = ", ".join(str(week[MARKET_DAY]) for week in weeks if week[MARKET_DAY])
    before, after = _step(year, month, -1), _step(year, month, 1)
    earlier = f'<a href="{_address(before, root)}">Previous month</a> ' if before[0] else ""
    return (
        f"<h1>{title(year, month)}</h1>\n<table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n"
        f"<p>Fish market on the old quay: {markets}. No other events are known yet.</p>\n"
        f'<p>{earlier}<a href="{_address(after, root)}">Next month</a></p>'
    )


def _step(year: int, month: int, by: int) -> tuple[int, int]:
    years, index = divmod(year * 12 + month - 1 + by, 12)
    return years, index + 1


def _address(when: tuple[int, int], root: str) -> str:
    return f"{root}/{when[0]}/{when[1]:02d}"
