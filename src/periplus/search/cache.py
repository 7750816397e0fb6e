"""A cache of finished answers: least recently used out first, bounded in entries, safe for many threads."""

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
