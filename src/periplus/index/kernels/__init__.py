"""Hot loops in numba, apart from everything else.

Import the modules of this package only where a kernel is called (numba takes half a second to import); ``warm``
compiles all of them with a progress callback, which the installer and the ``warm`` verb do before any query.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from periplus.index.kernels.compiler import Kernel

MODULES = (
    "asking",
    "building",
    "finding",
    "first_pass",
    "forms",
    "giving",
    "heads",
    "lists",
    "live",
    "lookup",
    "merging",
    "occurrences",
    "opening",
    "phrases",
    "pieces",
    "positions",
    "search",
    "spellings",
    "term_table",
    "tokens",
)

# Begun first, so that two processes end together; the others take a second or two each.
LONGEST = ("ask", "first_pass", "phrase_search", "top", "tokenize")


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


def kernel_folder() -> Path | None:
    """Where compiled kernels are kept; ``None`` when that place cannot be written."""
    from periplus.index.kernels.compiler import cache_folder

    return cache_folder()


def kernels_digest(sources: Iterable[Path]) -> str:
    """What changes when any of these modules with kernels does, or what they import."""
    from periplus.index.kernels.compiler import digest

    return digest(sources)


def cold() -> list[str]:
    """Names of the kernels to compile into the cache, the longest first; none where nothing can be kept."""
    if kernel_folder() is None:
        return []
    names = [kernel.name for kernel in _all() if not kernel.cached]
    return sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))


def warm_one(name: str) -> str:
    """Compile the kernel of that name into the cache; for a process among several."""
    for kernel in _all():
        if kernel.name == name:
            kernel.compile()
    return name


def _all() -> list[Kernel]:
    from periplus.index.kernels.compiler import KERNELS

    for name in MODULES:
        import_module(f"{__name__}.{name}")
    return KERNELS
