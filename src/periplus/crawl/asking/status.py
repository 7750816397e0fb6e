"""How far crawls have come: one row of ``crawls`` each, with the newest figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from periplus.crawl.asking.condition import PAUSED, RUNNING, STALLED, STOPPED
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.budgets import WITHDRAWN
from periplus.records import CrawlStatus
from periplus.storage import database_time

if TYPE_CHECKING:
    from periplus.storage import Database, Transaction

ALIVE_SECONDS = 10.0  # a running crawl writes its status more often than this
KEPT = 1_000  # crawls whose figures are kept: one that goes on for years begins thousands
UNENDED = (RUNNING, PAUSED, STALLED, "stopping")  # as kept; the last by versions before 0.1
INTERRUPTED = "its process ended before it was done; periplus crawl or up goes on"
_TOTALS = "SELECT COALESCE(SUM(queued), 0), COUNT(*), COALESCE(SUM(pages), 0) FROM hosts"


def begin(database: Database) -> tuple[int, CrawlStatus | None]:
    """The number of this crawl; one that was interrupted goes on, with its figures so far."""
    with database.write() as tx:
        now = database_time(tx)
        last = tx.row("SELECT id, state, status, started FROM crawls ORDER BY id DESC LIMIT 1")
        if last is not None and last[1] in UNENDED:
            return int(last[0]), _so_far(tx, msgspec.json.decode(last[2], type=CrawlStatus), float(last[3]))
        sql = "INSERT INTO crawls (started, state, status, at) VALUES (?, 'running', ?, ?) RETURNING id"
        number = int(tx.value(sql, (now, encoded(CrawlStatus(state="running")), now)))
        tx.execute("DELETE FROM crawls WHERE id <= ?", (number - KEPT,))
        return number, None


def newest(tx: Transaction) -> int:
    """The number of the newest crawl, 0 when there was none."""
    return int(tx.value("SELECT MAX(id) FROM crawls") or 0)


def is_begun(tx: Transaction) -> bool:
    """Whether the newest crawl was begun and has not ended, whoever lives of it."""
    last = tx.row("SELECT state, ended FROM crawls ORDER BY id DESC LIMIT 1")
    return last is not None and last[0] in UNENDED and not last[1]


def is_closed(tx: Transaction, number: int) -> bool:
    """Whether a crawl has ended; one that found nothing to do may be forgotten by now."""
    return not tx.row("SELECT id FROM crawls WHERE id = ? AND ended = 0", (number,))


def _so_far(tx: Transaction, last: CrawlStatus, started: float) -> CrawlStatus:
    """The figures of an interrupted crawl, counted again: what was written last may be behind or ahead."""
    counts = tx.row(
        "SELECT SUM(CASE WHEN state = 1 AND kind = 0 AND fetched_at >= ? THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN state = 2 THEN 1 ELSE 0 END), SUM(CASE WHEN state = 3 THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN pending = 0 AND batch > 0 AND fetched_at >= ? THEN 1 ELSE 0 END) FROM urls WHERE tried_at >= ?",
        (started, started, started),
    )
    pages, failed, refused, documents = (int(count or 0) for count in counts or (0, 0, 0, 0))
    return msgspec.structs.replace(last, pages=pages, failed=failed, refused=refused, documents=documents)


def forget(tx: Transaction, number: int) -> None:
    """A crawl that found nothing to do leaves the figures of the one before as the newest."""
    tx.execute("DELETE FROM crawls WHERE id = ? AND id > (SELECT MIN(id) FROM crawls)", (number,))


def save(tx: Transaction, number: int, status: CrawlStatus, *, ended: float = 0.0) -> None:
    tx.execute(
        "UPDATE crawls SET state = ?, status = ?, at = ?, ended = ? WHERE id = ?",
        (status.state, encoded(status), database_time(tx), ended, number),
    )


def status(database: Database) -> CrawlStatus:
    """The newest figures: of the crawl that runs, or of the last one."""
    with database.read() as tx:
        last = tx.row("SELECT status, at, ended, started FROM crawls ORDER BY id DESC LIMIT 1")
        queued, hosts, stored = totals(tx)
        withdrawn = int(tx.value(WITHDRAWN))
        said = _last_error(tx, last[3]) if last is not None else ""
        now = database_time(tx)
    if last is None:
        return CrawlStatus(queued=queued, hosts=hosts, stored=stored, withdrawn=withdrawn)
    found = msgspec.json.decode(last[0], type=CrawlStatus)
    found = msgspec.structs.replace(found, queued=queued, hosts=hosts, stored=stored, withdrawn=withdrawn)
    if last[2]:
        return msgspec.structs.replace(found, rate=0.0, active=0)
    if now - last[1] <= ALIVE_SECONDS:
        return found
    return msgspec.structs.replace(
        found, state=STOPPED, reason=said or INTERRUPTED, since=float(last[1]), rate=0.0, active=0
    )


def totals(tx: Transaction) -> tuple[int, int, int]:
    """Of the collection in all: addresses that wait, hosts, pages stored."""
    queued, hosts, pages = tx.row(_TOTALS) or (0, 0, 0)
    return int(queued), int(hosts), int(pages)


def _last_error(tx: Transaction, since: float) -> str:
    sql = "SELECT text FROM events WHERE room = 'crawl' AND level = 'error' AND at >= ? ORDER BY id DESC LIMIT 1"
    return str(tx.value(sql, (since,)) or "")


def is_running(database: Database) -> bool:
    """Whether a crawl is there to hear a command: begun, not ended, and heard of lately."""
    with database.read() as tx:
        last = tx.row("SELECT at, ended FROM crawls ORDER BY id DESC LIMIT 1")
        return last is not None and not last[1] and database_time(tx) - last[0] <= ALIVE_SECONDS


def is_at_work(database: Database) -> bool:
    """Whether a crawl runs that further machines can help with: begun, not ended, with a worker that lives."""
    with database.read() as tx:
        return is_begun(tx) and bool(roster.living(tx))


def last_sign(database: Database) -> float:
    """When a crawl last wrote its figures."""
    with database.read() as tx:
        return float(tx.value("SELECT MAX(at) FROM crawls") or 0.0)


def is_unfinished(database: Database) -> bool:
    """Whether the last crawl was stopped or interrupted, so that it can go on."""
    with database.read() as tx:
        last = tx.row("SELECT state, ended FROM crawls ORDER BY id DESC LIMIT 1")
    return last is not None and (last[0] == "stopped" or not last[1])


def encoded(value: CrawlStatus) -> str:
    return msgspec.json.encode(value).decode()


def stored_pages(database: Database) -> int:
    """Pages with a stored response."""
    with database.read() as tx:
        return int(tx.value("SELECT COALESCE(SUM(pages), 0) FROM hosts"))
