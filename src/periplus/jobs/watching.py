"""What an operator looks at besides the totals: hosts that wait, requests that failed, what happened lately."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus.crawl import is_withdrawn
from periplus.jobs.tasks import FailedTask, failed_tasks

if TYPE_CHECKING:
    from periplus.jobs.status import CollectionStatus
    from periplus.storage import Database

SHOWN = 10
TAIL = 20_000  # requests at the end of the journal that errors are taken from
NEVER = 1e14  # a next visit beyond this does not come

_HOSTS = (
    "SELECT name, queued, pages, delay, active, CASE WHEN active > 0 THEN ready_at ELSE next_at END, reason, judged,"
    " findable"
    " FROM hosts ORDER BY queued DESC, pages DESC, name LIMIT ?"
)
_ERRORS = (  # a missing robots.txt or favicon.ico is an answer, not an error
    "SELECT j.outcome, j.host, grouped.count, j.status, j.url"
    " FROM (SELECT outcome, host, COUNT(*) AS count, MAX(id) AS last FROM journal WHERE id > ?"
    " AND outcome <> '' AND outcome <> 'redirected'"
    " AND NOT (outcome = 'http-4xx' AND (url LIKE '%/robots.txt' OR url LIKE '%/favicon.ico'))"
    " GROUP BY outcome, host) AS grouped"
    " JOIN journal AS j ON j.id = grouped.last ORDER BY grouped.count DESC, j.outcome, j.host LIMIT ?"
)


class HostQueue(Struct, frozen=True):
    host: str
    queued: int
    pages: int
    delay: float  # in force between requests, seconds
    active: bool
    due_in: float | None  # seconds until it may be asked again; None when nothing is planned
    reason: str


class ErrorGroup(Struct, frozen=True):
    """Requests to one host that failed alike, with the newest of them."""

    reason: str
    host: str
    count: int
    status: int
    sample: str


class Event(Struct, frozen=True):
    at: float
    room: str
    level: str
    text: str


class OperatorView(Struct, frozen=True):
    host_queues: tuple[HostQueue, ...]
    errors: tuple[ErrorGroup, ...]
    events: tuple[Event, ...]
    failed_tasks: tuple[FailedTask, ...] = ()


def operator_view(database: Database, limit: int = SHOWN) -> OperatorView:
    """Longest queues, most frequent errors and newest events first, ``limit`` of each at most."""
    now = time.time()
    with database.read() as tx:
        last = int(tx.value("SELECT COALESCE(MAX(id), 0) FROM journal"))
        hosts = tx.rows(_HOSTS, (limit,))
        errors = tx.rows(_ERRORS, (last - TAIL, limit))
        events = tx.rows("SELECT at, room, level, text FROM events ORDER BY id DESC LIMIT ?", (limit,))
    return OperatorView(
        tuple(_queue(row, now) for row in hosts),
        tuple(ErrorGroup(*row) for row in errors),
        tuple(Event(*row) for row in events),
        tuple(failed_tasks(database, limit)),
    )


def _queue(row: tuple[Any, ...], now: float) -> HostQueue:
    name, queued, pages, delay, active, at, reason, judged, findable = row
    due_in = max(0.0, at - now) if at < NEVER else None
    poor = "host-yield" if queued and is_withdrawn(judged, findable) else ""
    return HostQueue(name, queued, pages, delay, active > 0, due_in, reason or poor)


def seconds_left(status: CollectionStatus) -> float | None:
    """How long the crawl still takes at its present rate: to its page limit, or to the end of what waits."""
    crawl = status.crawl
    if crawl.state != "running" or crawl.rate <= 0:
        return None
    left = min(max(0, crawl.limit - status.pages), crawl.queued) if crawl.limit else crawl.queued
    return left / crawl.rate
