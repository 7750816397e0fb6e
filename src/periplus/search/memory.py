"""Memory that kernels read their input from, work in and write to; each thread keeps its own.

To ask the system for it anew would take longer than many a kernel, and a kernel takes an address sooner than an array.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from msgspec import Struct

from periplus.index.pages import pages

IntArray = np.ndarray[Any, np.dtype[np.int64]]

SMALLEST = 1 << 18  # numbers of 64 bits
LARGEST = 1 << 20  # those that a thread keeps at most; more are given back when they are no longer used


class Memory(Struct):
    """Some numbers, seen as such and as bytes."""

    words: int
    address: int
    numbers: IntArray
    head: memoryview  # the same, for one number at a time
    view: memoryview  # as bytes


class _Kept(threading.local):
    own: Memory | None = None


_kept = _Kept()


def memory_of(words: int = SMALLEST) -> Memory:
    """That of this thread, or more of it; what was in it is gone."""
    kept = _kept.own
    if kept is not None and kept.words >= words:
        return kept
    numbers = pages(max(SMALLEST, words))
    made = Memory(len(numbers), numbers.ctypes.data, numbers, numbers.data, numbers.data.cast("B"))
    if made.words <= LARGEST:
        _kept.own = made
    return made


def larger(memory: Memory, words: int) -> Memory:
    """More memory, with what was in this one."""
    made = memory_of(max(words, memory.words + 1))
    made.view[: 8 * memory.words] = memory.view
    return made
