"""How long a host, or an IP address, is left alone after a request.

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
    from collections.abc import Iterable

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


class AddressSlots:
    """The gap between requests to one IP address, whichever hosts live there.

    Hosts that share an address queue by reservation, so that none waits for ever and nobody has to poll.
    """

    CLEAN_AT = 4_096
    STALE = 600.0

    def __init__(self, gap: float) -> None:
        self.gap = gap
        self._last: dict[str, float] = {}  # start of the last request
        self._free_at: dict[str, float] = {}  # end of the queue of reservations
        self._reserved: dict[int, tuple[str, float]] = {}  # by host

    def ask(self, ip: str, host: int, now: float) -> float:
        """When ``host`` may send a request to ``ip``; the slot is taken when that is now."""
        known = self._reserved.get(host)
        at = known[1] if known and known[0] == ip else self._queue_up(ip, now)
        at = max(at, self._last.get(ip, 0.0) + self.gap)
        if at > now:
            self._reserved[host] = (ip, at)
            return at
        self._reserved.pop(host, None)
        self._last[ip] = now
        self._free_at[ip] = max(self._free_at.get(ip, 0.0), now + self.gap)
        return now

    @property
    def hungry(self) -> bool:
        """Whether an address waits for a reservation in the database."""
        return False

    def wishes(self) -> list[int]:
        """What is to be reserved there: here nothing, since nobody else is asked."""
        return []

    def grant(self, windows: Iterable[tuple[int, float]]) -> None:
        """What was reserved."""

    def ends(self) -> list[tuple[int, float]]:
        """What was reserved and may be given back."""
        return []

    def close(self) -> None:
        """Let go of what is shared."""

    def _queue_up(self, ip: str, now: float) -> float:
        if len(self._last) + len(self._reserved) >= self.CLEAN_AT:
            self._forget(now)
        at = max(now, self._free_at.get(ip, 0.0))
        self._free_at[ip] = at + self.gap
        return at

    def _forget(self, now: float) -> None:
        """Drop what no longer holds anyone back."""
        self._last = {ip: at for ip, at in self._last.items() if at + self.gap > now}
        self._free_at = {ip: at for ip, at in self._free_at.items() if at > now}
        self._reserved = {host: slot for host, slot in self._reserved.items() if slot[1] > now - self.STALE}
