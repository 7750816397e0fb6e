"""Compiles every numba kernel of every room into the cache on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def warm_kernels(progress: Callable[[int, int, str], None]) -> int:
    """Compile what is not cached yet; ``progress`` gets (done, total, name). Returns how many kernels there are."""
    from periplus.index import warm

    _gather()
    return warm(progress)


def kernels_are_warm() -> bool:
    """Whether every kernel is cached."""
    from periplus.index import is_warm

    _gather()
    return is_warm()


def _gather() -> None:
    """A kernel joins the list when its module is imported."""
    import periplus.search.kernels as searching

    for module in pkgutil.iter_modules(searching.__path__, f"{searching.__name__}."):
        importlib.import_module(module.name)
