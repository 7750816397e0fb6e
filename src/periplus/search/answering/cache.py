"""A cache of finished answers: least recently used out first, bounded in entries, safe for many threads.

Most queries are asked once. To keep their answers would push out those that are asked for again, and to give back what
was made a thousand queries ago takes 40 µs, since all of it has left the processor's caches: so an answer is kept from
the second time on (``Repeated``).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._values: OrderedDict[object, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: object, value: V) -> None:
        with self._lock:
            before = len(self._values)
            self._values[key] = value
            if len(self._values) == before:  # a new one is the last already
                self._values.move_to_end(key)
            elif before >= self._entries:
                self._values.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)


class Repeated:
    """Tells what is asked again from what is asked for the first time, by hashes; forgets what was long ago."""

    def __init__(self, remembered: int) -> None:
        """At least so many are remembered, and less than twice as many."""
        self._remembered = remembered
        self._lately: set[int] = set()
        self._before: set[int] = set()
        self._lock = threading.Lock()

    def again(self, key: object) -> bool:
        """Whether it was asked before; notes that it was."""
        own = hash(key)
        with self._lock:
            if own in self._lately:
                return True
            self._lately.add(own)
            found = own in self._before
            if len(self._lately) >= self._remembered:
                self._before, self._lately = self._lately, set()
            return found

    def __len__(self) -> int:
        return len(self._lately) + len(self._before)
