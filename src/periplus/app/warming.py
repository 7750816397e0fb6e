"""Compiles every numba kernel of every room into the cache on disk."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(__file__).resolve().parents[1]
FEW = 4  # kernels that are compiled sooner than another process has started


def warm_kernels(progress: Callable[[int, int, str], None]) -> int:
    """Compile what is not cached yet, on all cores; ``progress`` gets (done, total, name). Returns how many."""
    from periplus.app import quickening
    from periplus.index import cold, warm

    _gather()
    todo = [*quickening.missing(), *cold()]
    cores = len(os.sched_getaffinity(0))
    if len(todo) > FEW and cores > 1:
        compile_apart(todo, cores, progress)
    for kernel in quickening.KERNELS.values():
        kernel.keep()
    count = warm(progress)  # loads what is there, and compiles where nothing can be kept
    _note_that_all_are_there()
    return count + len(quickening.KERNELS)


def kernels_are_warm() -> bool:
    """Whether every kernel is kept; a note beside those of numba saves most of the looking."""
    from periplus.app import quickening
    from periplus.index import is_warm

    note = ready_note()
    if note is None or not note.exists():
        _gather()
        if not is_warm():
            return False
        _note_that_all_are_there()
    return not quickening.missing()


def ready_note() -> Path | None:
    """A file that stands for all kernels of these sources; to look for them one by one takes half a second."""
    from periplus.index import kernel_folder, kernels_digest

    folder = kernel_folder()
    if folder is None:
        return None
    sources = (*PACKAGE.glob("*/kernels/*.py"), *PACKAGE.glob("*/kernels.py"))
    return folder / f"all-{kernels_digest(sources)}"


def _note_that_all_are_there() -> None:
    note = ready_note()
    if note is not None:
        note.touch()


def compile_apart(names: list[str], processes: int, progress: Callable[[int, int, str], None]) -> None:
    """numba compiles under the interpreter's lock, so processes it is; the results meet in the cache folder."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(names)), spawn, initializer=_gather) as pool:
        progress(0, len(names), names[0])
        for done, future in enumerate(as_completed([pool.submit(_compile_one, name) for name in names]), start=1):
            progress(done, len(names), future.result())


def _compile_one(name: str) -> str:
    from periplus.app import quickening
    from periplus.index import warm_one

    if name not in quickening.KERNELS:
        return warm_one(name)
    quickening.KERNELS[name].keep()
    return name


def _gather() -> None:
    """A kernel joins the list when its module is imported."""
    import periplus.search.kernels as searching

    rooms = ["periplus.graph.kernels", "periplus.ranking.kernels"]
    for name in (*rooms, *(f"{searching.__name__}.{one.name}" for one in pkgutil.iter_modules(searching.__path__))):
        importlib.import_module(name)
