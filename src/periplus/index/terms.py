"""Terms: what one snapshot knows of the words that it was asked for, ready for kernels.

Kernels reach what is known by address. So whoever packs terms holds on to this object until the kernel is done: it
forgets nothing while it lives, and when it is full the snapshot begins another one.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.plan import KnownTerm

TERMS_KEPT = 100_000
BYTES_KEPT = 64_000_000  # that their lists take
_triple = Layout("3q").pack


class Terms:
    def __init__(self) -> None:
        self.known: dict[str, KnownTerm] = {}
        self._bytes = 0
        self.packed: dict[str, bytes] = {}  # as ``kernels.plain`` takes them: weight, address, live documents

    def takes(self, count: int) -> bool:
        """Whether there is room for so many more; an empty one takes any number."""
        return not self.known or (len(self.known) + count <= TERMS_KEPT and self._bytes <= BYTES_KEPT)

    def add(self, term: str, known: KnownTerm) -> KnownTerm:
        """Keep a term. The first to come stays, as its address may be in use already."""
        known = self.known.setdefault(term, known)
        self._bytes += known.size or known.lists.nbytes
        self.packed[term] = _triple(known.weight, known.address, known.frequency)
        return known

    def pack(self, terms: Sequence[str], look_up: Callable[[str], KnownTerm]) -> bytes:
        """The triples of some terms, one after the other; those that are not known yet are looked up."""
        for term in terms:
            if term not in self.packed:
                self.add(term, look_up(term))
        return b"".join([self.packed[term] for term in terms])
