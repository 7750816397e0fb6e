"""Kernels in place of Python for whoever has many pages to read, and asks for them here.

Until then, and for what a kernel refuses, everything is done in Python, with the same answers; tests hold both against
each other. Loading them takes a tenth of a second, so a crawl's worker or a few pages do without.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.core import Kernel


class Entries(NamedTuple):
    """The compiled forms of ``kernels.page.read_page`` and ``kernels.wording.weigh_words``.

    Each takes all its arrays, and gives what then only has to be told the size of the text: arrays are kept from page
    to page.
    """

    read_page: Callable[..., Callable[[int], int]]
    weigh_words: Callable[..., Callable[[int], int]]


class Installed:
    """What is in use."""

    entries: Entries | None = None


def use(entries: Entries | None) -> None:
    """Read pages with these from now on, in all threads; ``None`` ends that."""
    Installed.entries = entries


def quicken() -> bool:
    """Read pages by kernels from now on, if these are compiled; whether they are."""
    if not all(kernel.is_kept for kernel in _kernels()):
        return False
    use(entries())
    return True


def entries() -> Entries:
    """The kernels; they are compiled where they are not kept."""
    return Entries(*(partial(_bound, kernel) for kernel in _kernels()))


def _kernels() -> tuple[Kernel, Kernel]:
    from periplus.documents.kernels.page import read_page
    from periplus.documents.kernels.wording import weigh_words

    return read_page, weigh_words


def _bound(kernel: Kernel, first: Any, *arrays: Any) -> Callable[[int], int]:
    """The size of the text stands behind the text."""
    return kernel.bound(first, None, *arrays)
