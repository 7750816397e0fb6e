"""How the memory of one who writes an index is shared out, over all processes and over building and merging.

merging    a fifth: a merge may run beside a build
own        interpreter, libraries and kernels of each process
building   what is left, in equal parts
"""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_MEMORY = 1_000_000_000
MERGING_PART = 5  # one part of so many
PROCESS_BYTES = 90_000_000  # that a process has before the first document
MOST_LANES = 4
LANE_BYTES = 400_000_000  # of the whole, for every builder: a larger one writes fewer segments
TAKEN_A_BYTE = 1.4  # bytes that a builder takes at its peak, for each that it counts


class Budget(NamedTuple):
    building: int  # what a builder may count before its segment is written
    merging: int  # what a merge may take

    @classmethod
    def of(cls, memory: int, workers: int) -> Budget:
        """Of ``memory`` for so many processes; where that is very little, a quarter is for building all the same."""
        merging = memory // MERGING_PART
        rest = max(memory - merging - workers * PROCESS_BYTES, memory // 4)
        return cls(max(1, int(rest / TAKEN_A_BYTE) // workers), max(1, merging))


def lanes(memory: int) -> int:
    """How many builders share the memory. It does not depend on how many work, so that segments do not, either."""
    return max(1, min(MOST_LANES, memory // LANE_BYTES))
