"""Dates as pages write them, to seconds since the epoch.

ISO 8601 in its usual spellings, RFC 2822 as in HTTP and RSS, and a bare ``2024-05-01``. A time without a zone is read
as UTC. What lies before the web or after tomorrow is no date of a page.
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


def instant(text: str) -> float:
    """Seconds since the epoch; 0.0 for what is not a date."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return 0.0
    moment = _iso(text) or _mail(text)
    if moment is None:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return 0.0


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
