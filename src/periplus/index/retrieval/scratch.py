"""Scratch buffers: memory that kernels read their query from, work in and write to.

Asking the system for it anew would take longer than many a search, so each thread keeps one.
"""

from __future__ import annotations

import threading

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.index.retrieval.pages import pages

SMALLEST = 1 << 16  # numbers of a buffer
LARGEST_KEPT = 1 << 22  # a larger one is let go after the search that needed it


class ScratchBuffer(Struct, gc=False):
    """``words`` numbers."""

    words: int
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]  # the same memory
    view: memoryview  # the same memory, as bytes
    address: int


class _Buffers(threading.local):
    own: ScratchBuffer | None = None


def _made(words: int) -> ScratchBuffer:
    numbers = pages(words)
    return ScratchBuffer(words, numbers, numbers.view(np.float64), numbers.data.cast("B"), numbers.ctypes.data)


_buffers = _Buffers()


def scratch_of(words: int) -> ScratchBuffer:
    """The scratch buffer of this thread, with at least so many numbers."""
    scratch = _buffers.own
    if scratch is None or scratch.words < words:
        scratch = _made(max(SMALLEST, words + (words >> 2)))
        if scratch.words <= LARGEST_KEPT:
            _buffers.own = scratch
    return scratch
