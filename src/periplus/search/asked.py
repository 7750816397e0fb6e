"""Past queries for completion: kept as counts only, and only when several people asked.

Until ``LEAST_PEOPLE`` different people have asked a query, it is known in memory only, beside salted hashes that say
nobody's name and end with the process. From then on its count is kept in ``suggest/queries.json``. Bounds:
``MAX_WAITING`` queries in memory, ``MAX_KEPT`` in the file, the least recent and the rarest leave first.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
import xxhash

from periplus.errors import PeriplusError, StorageError
from periplus.search.text import clean, folded
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from pathlib import Path

NAME = "suggest/queries.json"
LEAST_PEOPLE = 3
MAX_WAITING = 10_000
MAX_KEPT = 50_000
MAX_CHARACTERS = 60
SAVED_EVERY = 50  # new counts


class PastQueries:
    def __init__(self, folder: Path) -> None:
        self._files = LocalFiles(folder)
        self._salt = int.from_bytes(os.urandom(8), "little")
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, set[int]] = OrderedDict()
        self._counts = self._read()
        self._unsaved = 0

    def _read(self) -> dict[str, int]:
        try:
            return msgspec.json.decode(self._files.read(NAME), type=dict[str, int])
        except (PeriplusError, OSError, msgspec.MsgspecError, ValueError):  # none yet, or damaged: counting begins anew
            return {}

    @property
    def counts(self) -> dict[str, int]:
        """Queries of several people, with how often they were asked since."""
        with self._lock:
            return dict(self._counts)

    def note(self, query: str, person: str) -> None:
        """Somebody asked this; ``person`` tells people apart and is not kept."""
        text = clean(query)
        if not folded(text) or len(text) > MAX_CHARACTERS:
            return
        with self._lock:
            if text in self._counts:
                self._counts[text] += 1
                self._unsaved += 1
            elif self._is_of_several(text, person):
                self._counts[text] = LEAST_PEOPLE
                self._unsaved += 1
            if self._unsaved >= SAVED_EVERY:
                self._save()

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

    def close(self) -> None:
        with self._lock:
            if self._unsaved:
                self._save()

    def _save(self) -> None:
        if len(self._counts) > MAX_KEPT:
            best = sorted(self._counts.items(), key=lambda entry: (-entry[1], entry[0]))[:MAX_KEPT]
            self._counts = dict(best)
        with suppress(StorageError):  # a collection that cannot be written to is searched all the same
            self._files.write(NAME, msgspec.json.encode(self._counts))
        self._unsaved = 0
