"""Rooms: memory that kernels read their query from, work in and write to, kept by thread.

Asking the system for it anew would take longer than many a search.
"""

from __future__ import annotations

import threading

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

QUERY = 2_560  # numbers of a query, at most; kernels know it, too
SMALLEST = 1 << 16
# A kernel's result: how many documents it found, whether all that match were counted, and how many were.
_SIZE = (1 << 31) - 1
_COMPLETE = 1 << 31
_COUNT_SHIFT = 32


class Room(Struct, gc=False):
    words: int
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]  # the same memory
    view: memoryview  # the same memory, as bytes
    address: int


class _Rooms(threading.local):
    own: Room | None = None


def _made(words: int) -> Room:
    numbers = np.zeros(words, np.int64)
    view = numbers.data.cast("B")
    return Room(words, numbers, numbers.view(np.float64), view, numbers.ctypes.data)


_rooms = _Rooms()


def room_of(words: int) -> Room:
    """The room of this thread, with at least so many numbers."""
    room = _rooms.own
    if room is None or room.words < words:
        room = _rooms.own = _made(max(SMALLEST, words + (words >> 2)))
    return room


def found_in(room: Room, result: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64], int, bool]:
    """Numbers and scores that a kernel wrote; how many matches it met, and whether these are all."""
    size = result & _SIZE
    numbers, scores = room.numbers[QUERY : QUERY + size].copy(), room.scores[QUERY + k : QUERY + k + size].copy()
    return numbers, scores, result >> _COUNT_SHIFT, result & _COMPLETE != 0
