"""How long a host is left alone after a request.

The gap runs from the end of one response to the start of the next request. It is the largest of our own delay, the
host's Crawl-delay (as far as ``max_delay``) and the time that the host took to answer; a host that asks for more
(Retry-After) or fails is left alone for longer.
"""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from periplus.settings import CrawlSettings

RESPONSE_TIME_FACTOR = 1.0  # a host rests at least as long as it worked …
RESPONSE_TIME_CAP = 10.0  # … as far as this many seconds
BACK_OFF_FACTOR = 5.0  # the first back-off, in delays
BACK_OFF_CAP = 3_600.0
RETRY_AFTER_CAP = 86_400.0

BUSY_STATUSES = frozenset({429, 503})
HOST_FAILURES = frozenset(
    {
        "dns-failure",
        "connection-refused",
        "connection-lost",
        "tls-failure",
        "timeout",
        "too-slow",
        "asked-to-wait",
        "proxy-failure",
    }
)


class Wait(Struct, frozen=True):
    """When a host may be asked again, and why then."""

    not_before: float
    failures: int


def delay_in_force(settings: CrawlSettings, crawl_delay: float | None) -> float:
    """Least seconds between two requests to a host that asks for ``crawl_delay``."""
    asked = min(crawl_delay, settings.max_delay) if crawl_delay is not None else 0.0
    return max(settings.delay, asked)


def gap_after(delay: float, elapsed: float) -> float:
    """Seconds to leave a host alone after a response that took ``elapsed``."""
    return max(delay, min(elapsed * RESPONSE_TIME_FACTOR, RESPONSE_TIME_CAP))


def back_off(failures: int, delay: float) -> float:
    """Seconds to wait after ``failures`` in a row: doubling, from a few delays to an hour."""
    if failures <= 0:
        return 0.0
    exponent = min(failures - 1, 32)
    return float(min(BACK_OFF_FACTOR * max(delay, 0.01) * 2**exponent, BACK_OFF_CAP))


def retry_after(value: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks for, by number or by date; none when it cannot be read."""
    text = value.strip()
    if not text:
        return None
    try:
        seconds = float(text) if text.isascii() else math.nan
    except ValueError:
        seconds = _until(text, now)
    return min(max(seconds, 0.0), RETRY_AFTER_CAP) if math.isfinite(seconds) else None


def wait_after(*, ended: float, elapsed: float, delay: float, failures: int, outcome: str, asked: float | None) -> Wait:
    """The next time for a host after a request that ended with ``outcome`` (a reason code, empty when well)."""
    gap = gap_after(delay, elapsed)
    if outcome not in HOST_FAILURES:
        return Wait(ended + max(gap, asked or 0.0), 0)
    failed = failures + 1
    return Wait(ended + max(gap, back_off(failed, delay), asked or 0.0), failed)


def _until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return math.nan
