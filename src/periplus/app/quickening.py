"""The kernels of reading pages, compiled and handed to the room of documents, which cannot reach the compiler itself.

Importing this module lists them among all kernels, so that ``periplus warm`` compiles them.
"""

from __future__ import annotations

from periplus.documents import quick
from periplus.documents.kernels import page, wording
from periplus.index.kernels.compiler import Kernel

_READ_PAGE = Kernel(page.read_page, page.READ_PAGE, {})
_WEIGH_WORDS = Kernel(wording.weigh_words, wording.WEIGH_WORDS, {})


def entries() -> quick.Entries:
    """The compiled forms; they are compiled where they are not in the cache."""
    return quick.Entries(_READ_PAGE.entry, _WEIGH_WORDS.entry)


def quicken() -> bool:
    """Read pages by kernels from now on, where these are in the cache; whether they are."""
    if not (_READ_PAGE.cached and _WEIGH_WORDS.cached):
        return False
    quick.use(entries())
    return True
