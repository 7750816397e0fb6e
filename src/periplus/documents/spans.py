"""The names of batch files: which numbers of the log a file holds.

A batch as it was appended has one number, ``documents/00000007.parquet``. One that was compacted holds all that is left
of several and has the last of their numbers: ``documents/00000003-00000007.parquet``. So the names alone tell the log.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.storage import LocalFiles

FOLDERS: Final = ("documents", "links")
_NAME: Final = re.compile(r"^(?:(\d{8,})-)?(\d{8,})\.parquet$")


class Span(NamedTuple):
    """The numbers ``first`` to ``last`` of the log; a batch is known by the last one."""

    first: int
    last: int

    @property
    def documents(self) -> str:
        return self._name("documents")

    @property
    def links(self) -> str:
        return self._name("links")

    def covers(self, other: Span) -> bool:
        return self.first <= other.first and other.last <= self.last

    def _name(self, folder: str) -> str:
        before = f"{self.first:08d}-" if self.first < self.last else ""
        return f"{folder}/{before}{self.last:08d}.parquet"


def span(number: int, first: int = 0) -> Span:
    """The span of a batch by its row in the table; ``first`` is 0 for one as it was appended."""
    return Span(first or number, number)


def stored(files: LocalFiles) -> dict[Span, frozenset[str]]:
    """What is in the folders, in order, with those of ``FOLDERS`` that have it; other files do not count."""
    found: dict[Span, set[str]] = {}
    for folder in FOLDERS:
        for name in files.names(f"{folder}/"):
            match = _NAME.match(name.removeprefix(f"{folder}/"))
            if match:
                last = int(match[2])
                found.setdefault(Span(int(match[1] or last), last), set()).add(folder)
    return {one: frozenset(found[one]) for one in sorted(found)}


def covered_by(spans: Iterable[Span]) -> Callable[[Span], Span | None]:
    """A function that tells which of these, which do not overlap, covers a span."""
    ordered = sorted(spans)
    firsts = [one.first for one in ordered]

    def cover(one: Span) -> Span | None:
        place = bisect_right(firsts, one.first) - 1
        return ordered[place] if place >= 0 and ordered[place].covers(one) else None

    return cover


def widest(spans: Iterable[Span]) -> list[Span]:
    """Those that no other one covers, in order."""
    kept: list[Span] = []
    for one in sorted(spans, key=lambda one: (one.first, -one.last)):
        if not kept or not kept[-1].covers(one):
            kept.append(one)
    return kept
