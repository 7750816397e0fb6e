"""Pages that say what another page of their host has said, as copies under other links and soft 404s do.

Long texts are compared by their fingerprints, short ones by their words: one word more changes half of a short text's
fingerprint. Bounded: a few texts of each of the hosts that were visited last.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from periplus.records import Document

HOSTS_KEPT = 5_000
TEXTS_KEPT = 8  # of a host: the newest that were not like another
NEAR_BITS = 3  # of a 64-bit fingerprint
SHORT_WORDS, SHORT_CHARACTERS = 60, 600  # a text below both is short
SHARED_WORDS = 0.7  # of the words of two short texts that are in both, from which on they say the same
_ALL_BITS = 2**64 - 1  # fingerprints are signed


class _Heard(NamedTuple):
    page: int  # its key
    fingerprint: int
    short: str  # the text itself, where it is short


class Echoes:
    """One a worker."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, list[_Heard]] = OrderedDict()

    def hears(self, host: str, page: Document) -> bool:
        """Whether a page says what another one of its host said lately; it is remembered where it does not."""
        is_short = page.word_count < SHORT_WORDS and len(page.text) < SHORT_CHARACTERS
        said = _Heard(page.key, page.fingerprint, page.text if is_short else "")
        others = [one for one in self._of(host) if one.page != said.page]
        if any(_is_alike(said, other) for other in others):
            return True
        self._hosts[host] = [*others[1 - TEXTS_KEPT :], said]
        return False

    def _of(self, host: str) -> list[_Heard]:
        texts = self._hosts.setdefault(host, [])
        self._hosts.move_to_end(host)
        if len(self._hosts) > HOSTS_KEPT:
            self._hosts.popitem(last=False)
        return texts


def _is_alike(one: _Heard, other: _Heard) -> bool:
    if one.short and other.short:
        left, right = set(one.short.split()), set(other.short.split())
        return len(left & right) >= SHARED_WORDS * len(left | right)
    return ((one.fingerprint ^ other.fingerprint) & _ALL_BITS).bit_count() <= NEAR_BITS
