"""Hot loops in numba, apart from everything else.

Import the modules of this package only where a kernel is called (numba takes half a second to import); ``warm``
compiles all of them with a progress callback, which the installer and the ``warm`` verb do before any query.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.index.kernels.compiler import Kernel

MODULES = (
    "building",
    "forms",
    "lists",
    "live",
    "lookup",
    "merging",
    "occurrences",
    "phrases",
    "plain",
    "positions",
    "search",
    "spellings",
    "words",
)


def warm(progress: Callable[[int, int, str], None] | None = None) -> int:
    """Compile every kernel, or load it from the cache; ``progress`` gets (done, total, name). Returns how many."""
    kernels = _all()
    for done, kernel in enumerate(kernels):
        if progress:
            progress(done, len(kernels), kernel.name)
        kernel.compile()
    if progress:
        progress(len(kernels), len(kernels), "")
    return len(kernels)


def is_warm() -> bool:
    """Whether every kernel is in the cache, so that no query has to wait for a compiler."""
    return all(kernel.cached for kernel in _all())


def _all() -> list[Kernel]:
    from periplus.index.kernels.compiler import KERNELS

    for name in MODULES:
        import_module(f"{__name__}.{name}")
    return KERNELS
