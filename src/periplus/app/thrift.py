"""Memory of processes that run for long: what was needed for a moment goes back, what stays is left alone.

Arrow keeps freed memory in a pool of its own, and glibc in an arena for each thread, up to eight a core. What indexing,
ranking and the gathering of words take for some seconds, 37 and 60 MB with 6,700 pages, would stay for ever.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from typing import Final

ARENAS: Final = 2
YOUNG: Final = 50_000  # objects made and not given back between two looks for cycles: 10 MB of 200 bytes each
_M_ARENA_MAX: Final = -8  # as glibc numbers it
_ARROW_POOL: Final = "ARROW_DEFAULT_MEMORY_POOL"


def spare_memory() -> None:
    """For this process from now on, and for those that it starts; best called before there are threads."""
    os.environ.setdefault(_ARROW_POOL, "system")
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and os.environ[_ARROW_POOL] == "system":
        arrow.set_memory_pool(arrow.system_memory_pool())
    with suppress(AttributeError, OSError):  # another C library than glibc
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


def settle() -> None:
    """What a server holds once it is warm, it keeps: the collector of cycles need not look through it ever again.

    Searches leave no cycles behind, and what else does leaves few, so it looks for new ones less often, too.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
