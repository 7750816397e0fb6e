"""Dates as pages write them, to seconds since the epoch.

ISO 8601 in its usual spellings, RFC 2822 as in HTTP and RSS, a bare ``2024-05-01``, and a day in English words. A time
without a zone is read as UTC. What lies before the web or after tomorrow is no date of a page.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_DAY: Final = 86_400.0
_MONTH: Final = re.compile(r"^(\d{4})-(\d{2})$")
_LONGEST: Final = 64
_WRITTEN: Final = re.compile(r"(?:(\d{1,2})\.? ([a-z]{3,9})\.?|([a-z]{3,9})\.? (\d{1,2})),? (\d{4})", re.IGNORECASE)
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ADDRESS: Final = 500  # characters of an address that are looked at
_IN_ADDRESS: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)([/-])([01]?\d)\2([0-3]?\d)(?!\d)")

# How far a date is believed, by where it was found.
CONFIDENCE: Final = {
    "json-ld": 0.95,
    "meta": 0.85,
    "feed": 0.8,
    "time": 0.7,
    "address": 0.6,
    "file": 0.6,
    "header": 0.3,
}


def instant(text: str) -> float:
    """Seconds since the epoch; 0.0 for what is not a date."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return 0.0
    moment = _iso(text) or _mail(text) or _written(text)
    if moment is None:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return 0.0


def in_address(url: str, fetched: float) -> float:
    """The day that an address names, as those of news and blogs do: ``/2024/05/01/`` or ``2024-05-01``."""
    day = _IN_ADDRESS.search(url[:_ADDRESS])
    return plausible(f"{day[1]}-{int(day[3]):02}-{int(day[4]):02}", fetched) if day else 0.0


def plausible(text: str, fetched: float) -> float:
    """Like ``instant``, but 0.0 also for a time that no page can have been written at."""
    found = instant(text)
    latest = (fetched or datetime.now(tz=UTC).timestamp()) + _DAY
    return found if _EARLIEST <= found <= latest else 0.0


def _iso(text: str) -> datetime | None:
    month = _MONTH.match(text)
    try:
        return datetime.fromisoformat(f"{text}-01" if month else text.replace("/", "-"))
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _written(text: str) -> datetime | None:
    """A day as ``3 May 2024`` or ``May 3, 2024``; a month may be cut short."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return None
    name = (found[2] or found[3]).lower()
    month = next((number for number, full in enumerate(_MONTHS, 1) if full.startswith(name)), 0)
    try:
        return datetime(int(found[5]), month, int(found[1] or found[4]), tzinfo=UTC)
    except ValueError:
        return None
