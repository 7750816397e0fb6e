"""Memory in huge pages, where the system has them: to find what lies here and there in it takes fewer steps."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HUGE = 1 << 21


def pages(words: int) -> NDArray[np.int64]:
    """So many numbers, all 0, from the beginning of a page on."""
    size = -(-8 * words // HUGE) * HUGE
    memory = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared memory gets none
    with suppress(AttributeError, OSError):  # a system without them
        memory.madvise(mmap.MADV_HUGEPAGE)
    numbers = np.frombuffer(memory, np.int64)
    begin = -numbers.ctypes.data % HUGE // 8
    return numbers[begin : begin + words]
