"""The state of a crawl that is under way, and why: decided here and nowhere else, from figures.

A crawl is stalled when addresses wait and none was settled for longer than patience allows. Patience is
``STALLED_AFTER``, longer where a host that does not fail asks for a long gap (to keep a gap is no standstill), and
short where every host that waits has failed and none may be asked soon, since then nothing can come.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import Struct

from periplus.reasons import REASONS

RUNNING, PAUSED, STALLED, STOPPED, DONE = "running", "paused", "stalled", "stopped", "done"
UNDER_WAY = (RUNNING, PAUSED, STALLED)  # a crawl is there and hears commands
STALLED_AFTER = 15.0  # seconds without an address that is settled or an answer that helps
QUIET = 3.0  # the same where nothing can come within ``STALLED_AFTER``
GAPS_OF_PATIENCE = 2.0  # so many gaps of the quickest host that does not fail are waited for, besides
GROUPS_TOLD = 3
STOPPING = "it stops when its requests under way have ended"
NO_LEASES = "no worker holds its leases, so none may send; look whether the state database can be written"


class HostWait(NamedTuple):
    """Hosts whose addresses wait for the same reason; none where they only keep their gap."""

    reason: str  # a code of ``reasons.py``
    hosts: int
    next_at: float  # when the first of them may be asked
    delay: float = 0.0  # the shortest gap among them
    asked: int = 0  # of them, those with a request under way


class Standing(Struct, frozen=True):
    """The figures that decide."""

    now: float
    progress_at: float  # when an address was last settled, or an answer helped
    queued: int = 0
    stopping: bool = False
    paused: bool = False  # by order
    closed_hours: str = ""  # the setting, while it keeps the crawl from working
    disk: str = ""  # what the disk lacks
    away: str = ""  # what the crawl waits for: an object store that does not answer
    may_send: bool = True
    silent: tuple[int, ...] = ()  # workers that stopped writing
    waits: tuple[HostWait, ...] = ()


class CrawlCondition(NamedTuple):
    state: str = RUNNING
    reason: str = ""  # in words; none when it runs
    since: float = 0.0  # when what the state says began; 0 when that is the crawl's own start


def condition(figures: Standing) -> CrawlCondition:
    """The state that a crawl is in, with the reason and since when."""
    if figures.stopping:
        return CrawlCondition(RUNNING, STOPPING)
    if figures.paused:
        return CrawlCondition(PAUSED, "by order; periplus resume goes on", figures.progress_at)
    if figures.closed_hours:
        why = f"outside its hours, {figures.closed_hours}; it goes on by itself"
        return CrawlCondition(STALLED, why, figures.progress_at)
    if figures.disk:
        return CrawlCondition(STALLED, f"{figures.disk}; it goes on by itself", figures.progress_at)
    if figures.away:
        return CrawlCondition(STALLED, f"it waits and goes on by itself: {figures.away}", figures.progress_at)
    if not figures.queued or figures.now - figures.progress_at < patience(figures.waits, figures.now):
        return CrawlCondition()
    return CrawlCondition(STALLED, _reason(figures), figures.progress_at)


def patience(waits: tuple[HostWait, ...], now: float) -> float:
    """Seconds without progress that are no standstill."""
    if waits and all(wait.reason and wait.next_at > now + STALLED_AFTER for wait in waits):
        return QUIET
    gaps = [wait.delay for wait in waits if not wait.reason]
    return STALLED_AFTER + GAPS_OF_PATIENCE * min(gaps, default=0.0)


def waiting_for(waits: tuple[HostWait, ...], now: float) -> str:
    """What hosts wait for, the most of them first."""
    told = sorted(waits, key=lambda wait: -wait.hosts)[:GROUPS_TOLD]
    return "; ".join(_told(wait, now) for wait in told)


def _reason(figures: Standing) -> str:
    if not figures.may_send:
        return NO_LEASES
    if figures.silent:
        numbers = ", ".join(map(str, figures.silent))
        return f"worker {numbers} has stopped writing; stop the crawl and start it again"
    return waiting_for(figures.waits, figures.now) or "no host has an address that is due"


def _told(wait: HostWait, now: float) -> str:
    hosts = f"{wait.hosts:,} host{'s' if wait.hosts > 1 else ''}"
    if wait.reason:
        known = REASONS.get(wait.reason)
        return f"{hosts}: {known.sentence if known else wait.reason}, {_next(wait.next_at, now, 'next try')}"
    if wait.asked:
        return f"{hosts}: no answer yet to {wait.asked:,} request{'s' if wait.asked > 1 else ''}"
    return f"{hosts}: {_next(wait.next_at, now, 'the gap ends')}"


def _next(at: float, now: float, what: str) -> str:
    if at <= now:
        return f"{what} now"
    moment = datetime.fromtimestamp(at, UTC)
    far = at - now > 86_400
    return f"{what} {moment:%Y-%m-%d %H:%M} UTC" if far else f"{what} {moment:%H:%M:%S} UTC"
