"""Compiles every numba kernel of every room into the cache on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def warm_kernels(progress: Callable[[int, int, str], None]) -> int:
    """Compile what is not cached yet; ``progress`` gets (done, total, name). Returns how many kernels there are."""
    import periplus.graph.kernels  # noqa: F401 - its kernels join the list
    from periplus.index import warm

    return warm(progress)


def kernels_are_warm() -> bool:
    """Whether every kernel that a query needs is cached."""
    from periplus.index import is_warm

    return is_warm()
