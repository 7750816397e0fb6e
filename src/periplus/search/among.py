"""The only documents that a search may find, named by their keys: a part of the collection such as its news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers
    from periplus.search.execution import Task
    from periplus.search.generations import Generation


class Among:
    """Its numbers are looked up once a generation. Equal only to itself, so answers may be kept by it."""

    def __init__(self, keys: Iterable[int]) -> None:
        self._keys = np.unique(np.fromiter(keys, np.int64))
        self._found: tuple[int, Numbers] = (0, np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self._keys)

    def narrowed(self, task: Task, generation: Generation) -> Task:
        """The task with nothing to be found beside these documents, not even what it names or is told to pin."""
        only = self.numbers(generation.number, generation.snapshot)
        if task.only is not None:
            only = np.intersect1d(only, task.only)
        inside: set[Any] = {*task.named, *task.pinned}
        inside &= set(only[np.isin(only, list(inside))].tolist()) if inside else set()
        pinned = tuple(number for number in task.pinned if number in inside)
        return structs.replace(task, only=only, named=frozenset(inside & set(task.named)), pinned=pinned)

    def numbers(self, generation: int, snapshot: Snapshot) -> Numbers:
        known, found = self._found
        if known != generation:
            numbers = np.sort(snapshot.numbers())
            found = numbers[np.isin(np.asarray(snapshot.column("key", numbers), np.int64), self._keys)]
            self._found = (generation, found)
        return found
