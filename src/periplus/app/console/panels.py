"""What the operator's console shows, read from a collection: hosts, errors, index, ranks, settings, events.

Everything here only reads, and every reading is bounded: the journal is read from its end, lists have limits.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import crawl
from periplus.app.console.debugging import debug
from periplus.app.console.judging import Judgements
from periplus.app.console.settings_panel import settings_panel
from periplus.app.parts.query_counts import QueryCounts
from periplus.index.merging.merging import TIER_FACTOR, tier
from periplus.reasons import REASONS, sentence
from periplus.storage import Blocklist

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.index.format.manifest import SegmentEntry
    from periplus.storage import Transaction

TAIL = 20_000  # requests at the end of the journal that curves and errors are made from
REFUSED_READ = 200_000  # refused addresses that are counted by reason, at most
INTERVALS = 60
LONGEST = 3_600.0  # seconds that the curves reach back, at most
SHOWN_EVENTS = 8  # of index and ranks, beside them
SAMPLES = 3  # addresses shown for an error
WORST_HOSTS = 20
NEVER = 1e14  # a next visit beyond this does not come
REFUSED = 3
NOT_ERRORS = ("", "redirected")
ORDERS = {
    "queue": "queued DESC, requests DESC, name",
    "requests": "requests DESC, name",
    "pages": "pages DESC, name",
    "errors": "failures DESC, queued DESC, name",
    "next": "next_at, name",
    "name": "name",
}


class CollectionPanels:
    """Fulfils ``web.backend.Panels``; every call may come from any thread."""

    def __init__(self, collection: Collection, counts: QueryCounts | None = None) -> None:
        self._collection = collection
        self._counts = counts or QueryCounts()
        self._judgements = Judgements(collection.sound_state, collection.files)

    # The crawl

    def overview(self) -> dict[str, Any]:
        """Workers, what their slots are doing, and the curves of the last hour of requests."""
        return {
            "workers": self._roster("workers"),
            "slots": self._roster("slots"),
            "history": self._history(),
            "events": self.events(5)["events"],
        }

    def _roster(self, name: str) -> list[dict[str, Any]]:
        listing = getattr(crawl, name, None)
        return [msgspec.to_builtins(row) for row in listing(self._collection.database)] if listing else []

    def _history(self) -> list[dict[str, Any]]:
        sql = "SELECT at, bytes, outcome, ms FROM journal WHERE id > ? ORDER BY at"
        with self._collection.database.read() as tx:
            rows = tx.rows(sql, (_tail(tx),))
        return curves([(float(at), int(size), str(outcome), float(ms)) for at, size, outcome, ms in rows], time.time())

    def hosts(self, order: str = "queue", text: str = "", limit: int = 100) -> dict[str, Any]:
        """Hosts with their queues, the delay in force and the time of the next visit."""
        pattern = "%" + text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
        ranking = ORDERS.get(order, ORDERS["queue"])
        sql = (
            "SELECT name, queued, pages, requests, delay, failures, reason, ip, last_at,"  # noqa: S608 - order is ours
            " CASE WHEN active > 0 THEN ready_at ELSE next_at END, active, level, linked, judged, findable,"
            " EXISTS (SELECT 1 FROM removed WHERE target = hosts.name)"
            f" FROM hosts WHERE name LIKE ? ESCAPE '!' ORDER BY {ranking} LIMIT ?"
        )
        with self._collection.database.read() as tx:
            total = int(tx.value("SELECT COUNT(*) FROM hosts") or 0)
            rows = tx.rows(sql, (pattern, limit))
        budget = self._collection.in_force().values.crawl.host_budget
        blocked = Blocklist(self._collection.files).targets()
        listed = [{**_host(row, budget), "blocked": row[0] in blocked} for row in rows]
        return {"total": total, "order": order, "text": text, "hosts": listed}

    def errors(self) -> dict[str, Any]:
        """Failed requests at the end of the journal by reason and host, and refused addresses by reason."""
        sql = (
            "SELECT outcome, host, url, status, at FROM journal"
            " WHERE id > ? AND outcome <> '' AND outcome <> 'redirected' ORDER BY id DESC"
        )
        with self._collection.database.read() as tx:
            last = int(tx.value("SELECT COALESCE(MAX(id), 0) FROM journal"))
            failed = [row for row in tx.rows(sql, (_tail(tx),)) if not _is_plain_absence(row)]
            refused = tx.rows(
                "SELECT reason, COUNT(*), MIN(url) FROM (SELECT reason, url FROM urls WHERE state = ? LIMIT ?) AS them"
                " GROUP BY reason ORDER BY 2 DESC",
                (REFUSED, REFUSED_READ),
            )
        return {
            "requests": min(last, TAIL),
            "errors": _by_reason(failed),
            "hosts": _by_host(failed),
            "refused": [{**_reason(str(code)), "count": int(n), "sample": str(url)} for code, n, url in refused],
        }

    def events(self, limit: int = 100) -> dict[str, Any]:
        with self._collection.database.read() as tx:
            rows = tx.rows("SELECT at, room, level, text FROM events ORDER BY id DESC LIMIT ?", (limit,))
        named = ("at", "room", "level", "text")
        return {"events": [dict(zip(named, row, strict=True)) for row in rows]}

    def _events_of_jobs(self) -> list[dict[str, Any]]:
        sql = "SELECT at, text FROM events WHERE room = 'jobs' ORDER BY id DESC LIMIT ?"
        with self._collection.database.read() as tx:
            return [{"at": at, "text": text} for at, text in tx.rows(sql, (SHOWN_EVENTS,))]

    # Index and ranks

    def index(self) -> dict[str, Any]:
        """The published generation and its segments."""
        folder = self._collection.folder / "index"
        manifest = self._collection.stores.index.manifest()
        if manifest is None:
            return {}
        segments = [_segment(folder / "segments" / entry.name, entry) for entry in manifest.segments]
        return {
            "generation": manifest.generation,
            "created": manifest.created,
            "documents": manifest.documents,
            "last_batch": manifest.last_batch,
            "batches": self._batches(),
            "serving": self._collection.engine.generation,
            "segments": segments,
            "merged_at": TIER_FACTOR,
            "statistics": dict(manifest.statistics),
            "events": self._events_of_jobs(),
        }

    def _batches(self) -> int:
        with self._collection.database.read() as tx:
            return int(tx.value("SELECT COALESCE(MAX(number), 0) FROM batches"))

    def shards(self) -> dict[str, Any]:
        """The servers that search, as this process knows them; empty where it searches by itself."""
        source = self._collection.source
        return source.report() if source is not None else {}

    def shard_orders(self) -> dict[str, tuple[str, ...]]:
        """What can be ordered, by shard server."""
        orders = self._collection.shard_orders
        return orders.orders() if orders is not None else {}

    def machines(self) -> dict[str, Any]:
        """Machines that have joined, what runs on them, who holds which lease; empty where none has joined."""
        from periplus.app.machines import cluster_panel

        return cluster_panel(self._collection)

    def ranks(self) -> dict[str, Any]:
        """The published ranks: how they converged, and who stands highest."""
        table = self._collection.stores.ranks.current()
        if table is None:
            return {}
        plain: dict[str, Any] = msgspec.to_builtins(table.meta)
        return {name: value for name, value in plain.items() if name not in ("digests", "format")}

    # Settings

    def settings(self) -> dict[str, Any]:
        """Every setting in force, where it came from, what it means, and the last changes; secrets are not shown."""
        return settings_panel(self._collection)

    # Queries

    def queries(self, query: str, profiles: tuple[str, ...] = ("",)) -> dict[str, Any]:
        """How one query is read and answered, by each profile."""
        judged = self._judgements.all()
        counts = {**self._counts.shown(), "primed": self._collection.priming.answered}
        kept = {"judged": judged.get(query, {}), "queries": len(judged), "counts": counts}
        return {**debug(self._collection, query, profiles), **kept}

    def judge(self, query: str, document: str, grade: int | None) -> None:
        """Keep how well a document answers a query, or with no grade forget it."""
        self._judgements.add(query, document, grade)

    def judgements(self) -> dict[str, dict[str, int]]:
        return self._judgements.all()

    def asked(self) -> list[dict[str, Any]]:
        """Queries with their counts, most asked first."""
        return self._counts.table()


def curves(rows: list[tuple[float, int, str, float]], now: float) -> list[dict[str, Any]]:
    """Requests, bytes and errors a second and the mean time of an answer, in equal intervals of the last hour."""
    end = max([now, *(at for at, *_ in rows[-1:])])
    if not rows or rows[-1][0] < end - LONGEST:
        return []
    begin = max(rows[0][0], end - LONGEST)
    width = max((end - begin) / INTERVALS, 1e-3)
    sums = [[0.0, 0.0, 0.0, 0.0] for _ in range(INTERVALS)]
    for at, size, outcome, ms in rows:
        if at >= begin:
            cell = sums[min(int((at - begin) / width), INTERVALS - 1)]
            for place, amount in enumerate((1, size, outcome not in NOT_ERRORS, ms)):
                cell[place] += amount
    return [
        {
            "at": begin + (number + 1) * width,
            "requests": count / width,
            "bytes": size / width,
            "errors": wrong / width,
            "milliseconds": ms / count if count else 0.0,
        }
        for number, (count, size, wrong, ms) in enumerate(sums)
    ]


def _tail(tx: Transaction) -> int:
    return int(tx.value("SELECT COALESCE(MAX(id), 0) FROM journal")) - TAIL


def _host(row: tuple[Any, ...], most: int) -> dict[str, Any]:
    name, queued, pages, requests, delay, failures, reason, ip, last_at, next_at, active, level, *rest = row
    linked, judged, findable, removed = rest
    withdrawn = crawl.is_withdrawn(judged, findable)
    reason = reason or ("host-yield" if withdrawn and queued else "")
    planned = float(next_at)
    return {
        "host": str(name),
        "queued": int(queued),
        "pages": int(pages),
        "budget": crawl.pages_wanted(most, level, linked, withdrawn=withdrawn),
        "judged": int(judged),
        "findable": int(findable),
        "requests": int(requests),
        "delay": float(delay),
        "failures": int(failures),
        "reason": str(reason),
        "sentence": sentence(str(reason)) if reason else "",
        "ip": str(ip),
        "last_visit": float(last_at),
        "next_visit": planned if planned < NEVER else 0.0,
        "due_in": max(0.0, planned - time.time()) if planned < NEVER else None,
        "active": bool(active),
        "preferred": level == 0,
        "removed": bool(removed),
    }


def _segment(folder: Path, entry: SegmentEntry) -> dict[str, Any]:
    """A segment with its tier: so many of one tier are merged into one of the next."""
    files = []
    with suppress(OSError):  # a merge has replaced it meanwhile
        files = [path.stat() for path in folder.iterdir() if path.is_file()]
    return {
        "name": entry.name,
        "documents": entry.documents,
        "live": entry.live,
        "tier": tier(entry.live),
        "bytes": sum(file.st_size for file in files),
        "made": max((file.st_mtime for file in files), default=0.0),
    }


def _is_plain_absence(row: tuple[Any, ...]) -> bool:
    """No robots.txt, or no picture at the usual place, is an answer and not an error."""
    return bool(row[0] == "http-4xx" and str(row[2]).endswith(("/robots.txt", "/favicon.ico")))


def _reason(code: str) -> dict[str, Any]:
    known = REASONS.get(code)
    return {"reason": code, "sentence": sentence(code), "advice": known.advice if known else ""}


def _by_reason(failed: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Newest first in, most frequent first out, each with its newest addresses."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in failed:
        found.setdefault(str(row[0]), []).append(row)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    return [
        {
            **_reason(code),
            "count": len(rows),
            "hosts": len({row[1] for row in rows}),
            "samples": [{"url": row[2], "status": row[3], "at": row[4]} for row in _distinct(rows)],
        }
        for code, rows in ordered
    ]


def _distinct(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list({row[2]: row for row in reversed(rows)}.values())[-SAMPLES:][::-1]


def _by_host(failed: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, int]] = {}
    for outcome, host, *_ in failed:
        reasons = counts.setdefault(str(host), {})
        reasons[str(outcome)] = reasons.get(str(outcome), 0) + 1
    worst = sorted(counts.items(), key=lambda item: (-sum(item[1].values()), item[0]))[:WORST_HOSTS]
    return [{"host": host, "count": sum(reasons.values()), "reasons": reasons} for host, reasons in worst]
