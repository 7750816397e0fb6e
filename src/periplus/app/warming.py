"""Compiles every kernel of every room into the cache on disk, on all cores."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from periplus.core.compiler import all_are_kept as kernels_are_warm
from periplus.core.compiler import cold, every_kernel, keep_all, keep_one

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compile_apart", "kernels_are_warm", "warm_kernels"]

FEW = 4  # kernels that are compiled sooner than another process has started


def warm_kernels(progress: Callable[[int, int, str], None]) -> int:
    """Compile what is not kept yet; ``progress`` gets (done, total, name). Returns how many kernels there are."""
    todo, cores = cold(), len(os.sched_getaffinity(0))
    if len(todo) > FEW and cores > 1:
        compile_apart(todo, cores, progress)
    return keep_all(progress)


def compile_apart(names: list[str], processes: int, progress: Callable[[int, int, str], None]) -> None:
    """numba compiles under the interpreter's lock, so processes it is; the results meet in the cache folder."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(names)), spawn, initializer=every_kernel) as pool:
        progress(0, len(names), names[0].rsplit(".", 1)[-1])
        for done, future in enumerate(as_completed([pool.submit(keep_one, name) for name in names]), start=1):
            progress(done, len(names), future.result())
