"""Past queries for completion: kept as counts only, and only when several people asked.

Until ``LEAST_PEOPLE`` different people have asked a query, it is known in memory only, beside salted hashes that say
nobody's name and end with the process. From then on its count is a row of the state, which all servers of a collection
add to. Each server counts people by itself: neither who asked nor a query of fewer people ever leaves its memory, so
that of three servers which saw one person each nobody knows the query yet.

Noting a query touches memory only. ``share`` adds what was counted since to the rows, and leaves a copy of them in
``suggest/queries.json``, for searches on the terminal, which open no database. Bounds: ``MAX_WAITING`` queries in
memory, ``MAX_KEPT`` rows; the least recent and the rarest leave first.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
import xxhash

from periplus.errors import PeriplusError, StorageError
from periplus.search.query.text import clean, folded
from periplus.storage import is_taken, mark_taken, note_change

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.storage import Database, LocalFiles, State, Transaction

FILE_NAME = "suggest/queries.json"
PAST_QUERIES = "past_queries"
LEAST_PEOPLE = 3
MAX_WAITING = 10_000
MAX_KEPT = 50_000
MAX_CHARACTERS = 60
READ_EVERY = 60.0  # seconds: the counts of others are wanted for the next completion, not for the next request
_COUNT = "UPDATE past_queries SET asked = asked + ? WHERE query = ?"
_PRUNE = "DELETE FROM past_queries WHERE query IN (SELECT query FROM past_queries ORDER BY asked, query DESC LIMIT ?)"


class PastQueries:
    shares = PAST_QUERIES

    def __init__(
        self,
        state: State | None = None,
        files: LocalFiles | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a ``state`` counts end with the process. ``files`` hold the copy, of earlier versions the counts."""
        self._state = state
        self._files = files
        self._clock = clock
        self._salt = int.from_bytes(os.urandom(8), "little")
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, set[int]] = OrderedDict()
        self._counts: dict[str, int] = {}
        self._unsaved: dict[str, int] = {}
        self._is_read = self._is_behind = False
        self._next_read = float("-inf")

    @property
    def counts(self) -> dict[str, int]:
        """Queries of several people, with how often they were asked since."""
        with self._lock:
            if not self._is_read:
                self._is_read = True
                self._counts = {**self._of_file(), **self._counts}
            return dict(self._counts)

    def note(self, query: str, person: str) -> None:
        """Somebody asked this; ``person`` tells people apart and is not kept."""
        text = clean(query)
        if not folded(text) or len(text) > MAX_CHARACTERS:
            return
        with self._lock:
            if text in self._counts:
                self._add(text, 1)
            elif self._is_of_several(text, person) and len(self._counts) < MAX_KEPT + MAX_WAITING:
                self._add(text, LEAST_PEOPLE)

    def share(self, *, changed: bool) -> None:
        """Add what was counted here to the rows, and now and then read what others added."""
        self._save()
        self._is_behind = self._is_behind or changed
        if self._is_behind and self._clock() >= self._next_read:
            self._read()
            self._is_behind, self._next_read = False, self._clock() + READ_EVERY

    def close(self) -> None:
        with suppress(PeriplusError):  # a collection that cannot be written to is searched all the same
            if self._save():
                self._read()

    def _add(self, text: str, times: int) -> None:
        self._counts[text] = self._counts.get(text, 0) + times
        self._unsaved[text] = self._unsaved.get(text, 0) + times

    def _is_of_several(self, text: str, person: str) -> bool:
        people = self._waiting.setdefault(text, set())
        self._waiting.move_to_end(text)
        people.add(xxhash.xxh3_64_intdigest(person.encode("utf-8", "replace"), seed=self._salt))
        if len(people) >= LEAST_PEOPLE:
            del self._waiting[text]
            return True
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)
        return False

    def _save(self) -> bool:
        """Whether there was anything to save."""
        with self._lock:
            fresh, self._unsaved = self._unsaved, {}
        if not fresh or self._state is None:
            return False
        try:
            with self._state().write() as tx:
                _put(tx, fresh)
        except BaseException:
            with self._lock:  # with the next try, as far as there is room
                kept = sorted(fresh.items(), key=lambda entry: (-entry[1], entry[0]))[: MAX_KEPT - len(self._unsaved)]
                for text, times in kept:
                    self._unsaved[text] = self._unsaved.get(text, 0) + times
            raise
        return True

    def _read(self) -> None:
        if self._state is None:
            return
        found = self._rows(self._state())
        self._copy(found)
        with self._lock:
            for text, times in self._unsaved.items():
                found[text] = found.get(text, 0) + times
            self._counts, self._is_read = found, True
            for text in found.keys() & self._waiting.keys():
                del self._waiting[text]

    def _rows(self, database: Database) -> dict[str, int]:
        """The rows, of which the counts of an earlier version have become part."""
        with database.read() as tx:
            if is_taken(tx, FILE_NAME):
                return _all(tx)
        old = self._of_file()
        try:
            with database.write() as tx:
                if mark_taken(tx, FILE_NAME):
                    _put(tx, old)
                return _all(tx)
        except StorageError:
            return old  # in a folder that cannot be written to

    def _copy(self, found: dict[str, int]) -> None:
        if self._files is not None and found != self._of_file():
            with suppress(StorageError):  # a folder that cannot be written to
                self._files.write(FILE_NAME, msgspec.json.encode(found))

    def _of_file(self) -> dict[str, int]:
        """The copy; nothing where it is missing or damaged."""
        if self._files is None:
            return {}
        try:
            found = msgspec.json.decode(self._files.read(FILE_NAME), type=dict[str, int])
        except (PeriplusError, OSError, msgspec.MsgspecError, ValueError):
            return {}
        return {text: times for text, times in found.items() if "\0" not in text}


def _all(tx: Transaction) -> dict[str, int]:
    return dict(tx.rows("SELECT query, asked FROM past_queries"))


def _put(tx: Transaction, counted: dict[str, int]) -> None:
    """Add counts to the rows; the rarest leave where these become too many."""
    rows = sorted(counted.items())  # one order: no deadlocks
    new = set(tx.insert_new("past_queries", ("query", "asked"), rows, "query"))
    tx.executemany(_COUNT, [(times, text) for text, times in rows if text not in new])
    if not new:
        return
    over = int(tx.value("SELECT COUNT(*) FROM past_queries")) - MAX_KEPT
    if over > 0:
        tx.execute(_PRUNE, (over,))
    note_change(tx, PAST_QUERIES)
