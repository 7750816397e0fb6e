"""Stored documents unpacked one behind the other, by a function of zstd that is given by its address."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.tables import at_i64, prefetch
from periplus.search.kernels.calls import call6

SEGMENT = 3  # numbers of a segment, as ``index.frames`` lays them out
NUMBER_BITS = 32
LOCAL = (1 << NUMBER_BITS) - 1
LINE = 64
ASKED_FOR = 6  # lines of a frame that are asked for before the first is unpacked
LEAST_ERROR = -120  # what zstd gives back instead of a size, as a number with a sign
TOO_SMALL = -70
IMPOSSIBLE, NO_ROOM = -1, -2  # a frame is damaged or none; there is too little room


@bare_helper
def _bounds(segments: Any, number: Any) -> Any:
    """Where the frame of a document begins and ends."""
    row = SEGMENT * (number >> NUMBER_BITS)
    local = number & LOCAL
    starts = at_i64(segments[row + 1], local + 2)
    return segments[row] + starts[local], segments[row] + starts[local + 1]


@bare_helper
def unpacked(segments: Any, numbers: Any, function: Any, context: Any, out_at: Any, room: Any) -> Any:
    """Documents one behind the other; how many bytes, or why there are none."""
    for place in range(len(numbers)):  # what is read next lies far apart
        row = SEGMENT * (numbers[place] >> NUMBER_BITS)
        if segments[row + 2] == 0:
            return np.int64(IMPOSSIBLE)
        prefetch(segments[row + 1] + 8 * (numbers[place] & LOCAL))
    for place in range(len(numbers)):
        start, end = _bounds(segments, numbers[place])
        for line in range(ASKED_FOR):
            if start + LINE * line < end:
                prefetch(start + LINE * line)
    size = np.int64(0)
    for place in range(len(numbers)):
        start, end = _bounds(segments, numbers[place])
        dictionary = segments[SEGMENT * (numbers[place] >> NUMBER_BITS) + 2]
        made = call6(function, context, out_at + size, room - size, start, end - start, dictionary)
        if LEAST_ERROR <= made < 0:
            return np.int64(NO_ROOM if made == TOO_SMALL else IMPOSSIBLE)
        size += made
    return size
