"""How often queries were asked, found nothing, and led to a click: counts, nothing else, kept across restarts.

Who asked and when in a day is not known here. A query that was asked once is shown to nobody and never leaves the
memory of its server, since it may say who asked it. Counting touches memory only; ``share`` adds what was counted to
rows of ``counters``, which all servers of a collection add to. Bounds: ``MOST`` queries in memory, ``MOST_KEPT`` of a
kind as rows, ``DAYS_KEPT`` days; the rarest and the oldest leave first.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.records import SearchRequest
    from periplus.storage import State, Transaction

MOST = 10_000  # queries
MOST_KEPT = 1_000
DAYS_KEPT = 400
LONGEST = 100  # characters of a query that is counted
LEAST_SHOWN = 2  # times asked
SHOWN = 25
DAYS_SHOWN = 30
SAVE_EVERY = 10.0  # seconds
ASKED, FRUITLESS, CLICKED = "asked", "fruitless", "clicked"  # kinds of counts
KINDS = (ASKED, FRUITLESS, CLICKED)
_ADD = "INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = counters.value + ?"
_READ = "SELECT name, value FROM counters WHERE name LIKE 'searches.%'"

Counts = dict[str, Counter[str]]  # by kind


class QueryCounts:
    """Thread-safe; a part of what servers share (``storage.Follower``)."""

    shares = "query_counts"

    def __init__(
        self,
        state: State | None = None,
        *,
        on: bool = True,
        clicks: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a ``state`` counts end with the process; ``on`` where queries may be counted one by one."""
        self._state, self._on, self._clicks, self._clock = state, on, clicks, clock
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()  # since the start, as all others here
        self._fruitless: Counter[str] = Counter()
        self._clicked: Counter[str] = Counter()
        self._requests: dict[str, SearchRequest] = {}  # of each query the last plain one
        self._days: Counter[tuple[str, str]] = Counter()  # by kind and day, not saved yet
        self._saved: Counts = {kind: Counter() for kind in KINDS}  # of this process
        self._next_save = clock() + SAVE_EVERY
        self.last_asked = -1e9  # by the clock

    def add(self, query: str, *, found: bool, request: SearchRequest | None = None) -> None:
        text = _plain(query)
        with self._lock:
            self.last_asked = self._clock()
            self._days[ASKED, _today()] += 1
            self._days[FRUITLESS, _today()] += not found
            if not self._on or not text:
                return
            for counter in (self._asked,) if found else (self._asked, self._fruitless):
                counter[text] += 1
                if len(counter) > MOST:
                    _halve(counter)
            if request is not None and self._asked[text] >= LEAST_SHOWN:
                self._requests[text] = request
                if len(self._requests) > MOST_KEPT:
                    self._requests.pop(next(iter(self._requests)))

    def take(self, *, on: bool, clicks: bool) -> None:
        """Count by these settings from now on."""
        self._on, self._clicks = on, clicks

    def clicked(self, query: str) -> None:
        """Somebody opened a result of this query."""
        text = _plain(query)
        with self._lock:
            if not self._clicks:
                return
            self._days[CLICKED, _today()] += 1
            if self._on and self._asked[text] >= LEAST_SHOWN:
                self._clicked[text] += 1

    def is_idle(self, seconds: float) -> bool:
        """Whether nobody asked anything for so long."""
        return self._clock() - self.last_asked >= seconds

    def popular(self, most: int) -> list[tuple[str, SearchRequest | None]]:
        """Queries that were asked most, of all times, with the last request for each that this process saw."""
        asked = self._all()[0][ASKED]
        with self._lock:
            return [(text, self._requests.get(text)) for text, number in asked.most_common(most) if number > 1]

    def shown(self) -> dict[str, Any]:
        """What the console shows: sums, the most frequent, and the last days."""
        queries, days = self._all()
        sums = {kind: sum(days[kind].values()) for kind in KINDS}
        return {
            "asked": sums[ASKED],
            "without_result": sums[FRUITLESS],
            "clicks": sums[CLICKED],
            "top": _rows(queries[ASKED]),
            "top_without_result": _rows(queries[FRUITLESS]),
            "top_clicked": _rows(queries[CLICKED]),
            "days": _days(days),
        }

    def table(self) -> list[dict[str, Any]]:
        """Every query that may be shown, most asked first."""
        queries, _ = self._all()
        listed = [(text, number) for text, number in queries[ASKED].most_common() if number >= LEAST_SHOWN]
        names = {ASKED: "asked", FRUITLESS: "without_result", CLICKED: "clicks"}
        return [{"query": text, **{name: queries[kind][text] for kind, name in names.items()}} for text, _ in listed]

    # Rows

    def share(self, *, changed: bool) -> None:
        """Add what was counted since to the rows."""
        if self._clock() >= self._next_save:
            self._next_save = self._clock() + SAVE_EVERY
            self.save()

    def save(self) -> None:
        with self._lock:
            days, self._days = self._days, Counter()
            fresh = self._unsaved()
        rows = {f"searches.{kind}.day.{day}": number for (kind, day), number in days.items() if number}
        rows |= {f"searches.{kind}.query.{text}": n for kind, texts in fresh.items() for text, n in texts.items()}
        if not rows or self._state is None:
            return
        try:
            with self._state().write() as tx:
                tx.executemany(_ADD, [(name, number, number) for name, number in sorted(rows.items())])
                _prune(tx)
        except BaseException:
            with self._lock:
                self._days += days  # with the next try
            raise
        with self._lock:
            for kind, texts in fresh.items():
                self._saved[kind] += texts

    def _unsaved(self) -> Counts:
        """What rows do not have yet, of queries that may be kept."""
        here = {ASKED: self._asked, FRUITLESS: self._fruitless, CLICKED: self._clicked}
        known = [text for text, number in self._asked.items() if number >= LEAST_SHOWN]
        found = {kind: Counter({text: counter[text] for text in known}) for kind, counter in here.items()}
        return {kind: found[kind] - self._saved[kind] for kind in KINDS}

    def _all(self) -> tuple[Counts, Counts]:
        """By kind: all queries, and all days; rows and what is not among them yet."""
        queries: Counts = {kind: Counter() for kind in KINDS}
        days: Counts = {kind: Counter() for kind in KINDS}
        for name, number in self._kept():
            _, kind, what, text = name.split(".", 3)
            if kind in KINDS:
                (days if what == "day" else queries)[kind][text] = number
        with self._lock:
            for kind, texts in self._unsaved().items():
                queries[kind] += texts
            for (kind, day), number in self._days.items():
                days[kind][day] += number
        return queries, days

    def _kept(self) -> list[tuple[str, int]]:
        if self._state is None:
            return []
        try:
            with self._state().read() as tx:
                return [(str(name), int(number)) for name, number in tx.rows(_READ)]
        except PeriplusError:  # the console says elsewhere what is wrong with the state
            return []


def _plain(query: str) -> str:
    text = " ".join(query.casefold().split())
    return text if len(text) <= LONGEST else ""


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _prune(tx: Transaction) -> None:
    oldest = (date.fromisoformat(_today()) - timedelta(days=DAYS_KEPT)).isoformat()
    for kind in KINDS:
        first, last = f"searches.{kind}.day.", f"searches.{kind}.day.{oldest}"
        tx.execute("DELETE FROM counters WHERE name >= ? AND name < ?", (first, last))
        start = f"searches.{kind}.query."
        listed = "SELECT name FROM counters WHERE name LIKE ? ORDER BY value, name"
        rows = tx.rows(listed, (f"{start}%",))
        tx.executemany("DELETE FROM counters WHERE name = ?", [(name,) for (name,) in rows[:-MOST_KEPT]])


def _halve(counter: Counter[str]) -> None:
    kept = counter.most_common(MOST // 2)
    counter.clear()
    counter.update(dict(kept))


def _rows(counter: Counter[str]) -> list[dict[str, Any]]:
    rows = sorted(counter.most_common(SHOWN), key=lambda item: (-item[1], item[0]))
    return [{"query": text, "count": number} for text, number in rows if number >= LEAST_SHOWN]


def _days(days: Counts) -> list[dict[str, Any]]:
    """The last days, quiet ones too, oldest first."""
    end = date.fromisoformat(_today())
    listed = [(end - timedelta(days=ago)).isoformat() for ago in reversed(range(DAYS_SHOWN))]
    names = {ASKED: "searches", FRUITLESS: "without_result", CLICKED: "clicks"}
    return [{"day": day, **{name: days[kind][day] for kind, name in names.items()}} for day in listed]
