"""Kernels in place of Python for whoever has many pages to read: they have to be compiled, and then handed over here.

Until then, and for what a kernel refuses, everything is done in Python, with the same answers; tests hold both against
each other. Loading them takes a tenth of a second, so a crawl's worker or a few pages do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


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
