"""Rooms: memory that kernels read their query from, work in and write to.

Asking the system for it anew would take longer than many a search. So each thread keeps one, and there are ``free``
ones, by address, for the kernel that is asked most: to take one and bring it back is quicker than to find one's own.
"""

from __future__ import annotations

import threading

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.pages import pages
from periplus.records import Total

QUERY = 3_840  # numbers of a query, at most; kernels know it, too
SMALLEST = 1 << 16
FRONT, CONTEXT = 16, 8  # numbers before a room, and those of a context; kernels know the latter, too
SIZES_KEPT = 64  # numbers of hits, for each of which their places are kept: to cut them out takes longer than to copy
# A kernel's result: how many documents it found, whether their total is exact, and the total.
_SIZE = (1 << 31) - 1
_EXACT = 1 << 31
COUNT_SHIFT = 32


class TopHits(Struct, frozen=True):
    """The best documents, best first: global numbers, scores, and how many match in all."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    total: Total


class HitsAt(Struct, frozen=True, gc=False):
    """The same for the next kernel, as addresses: good until the next search of this thread."""

    numbers: int
    scores: int
    size: int
    total: Total
    hits: TopHits

    @classmethod
    def of(cls, hits: TopHits) -> HitsAt:
        """Where the arrays themselves are."""
        return cls(hits.numbers.ctypes.data, hits.scores.ctypes.data, len(hits.numbers), hits.total, hits)


class Room(Struct, gc=False):
    """``words`` numbers; before them are a context of ``kernels.asking``, and how many there are."""

    words: int
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]  # the same memory
    view: memoryview  # the same memory, as bytes
    address: int
    front: memoryview  # from the context on, as bytes
    k: int = 0  # of the last search, and by their number where its hits are
    hits: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}


class Rooms(threading.local):
    own: Room | None = None


def _made(words: int) -> Room:
    memory = pages(FRONT + words)
    numbers = memory[FRONT:]
    memory[FRONT - 1] = words
    front, view = memory[FRONT - 1 - CONTEXT :].data.cast("B"), numbers.data.cast("B")
    return Room(words, numbers, numbers.view(np.float64), view, numbers.ctypes.data, front)


rooms = Rooms()
free: list[int] = []
_owned: dict[int, Room] = {}  # whose addresses these are, and those in use


def room_of(words: int) -> Room:
    """The room of this thread, with at least so many numbers."""
    room = rooms.own
    if room is None or room.words < words:
        room = rooms.own = _made(max(SMALLEST, words + (words >> 2)))
    return room


def free_room(words: int = 0) -> int:
    """One more for all threads."""
    room = _made(max(SMALLEST, words + (words >> 2)))
    _owned[room.address] = room
    return room.address


def needed(reason: int) -> int:
    """Numbers that a kernel asked for, in place of an answer."""
    return -reason


def without_answer(address: int, reason: int) -> None:
    """Bring back a room in which there is no answer: a larger one, if it was too small."""
    words = needed(reason)
    if words > _owned[address].words:
        del _owned[address]
        address = free_room(words)
    free.append(address)


def found_at(address: int, result: int, k: int) -> TopHits:
    """What a kernel wrote to a room for all threads, which others may have again then."""
    hits = found_in(_owned[address], result, k)
    free.append(address)
    return hits


def found_in(room: Room, result: int, k: int) -> TopHits:
    """What a kernel wrote."""
    size = result & _SIZE
    if room.k != k:
        room.k, room.hits = k, {}
    hits = room.hits.get(size)
    if hits is None:
        hits = room.numbers[QUERY : QUERY + size], room.scores[QUERY + k : QUERY + k + size]
        if len(room.hits) < SIZES_KEPT:
            room.hits[size] = hits
    total = result >> COUNT_SHIFT
    return TopHits(hits[0].copy(), hits[1].copy(), Total(total) if result & _EXACT else Total(total, "gte"))
