"""How much of a file is read at once, and how long a record may be."""

from __future__ import annotations

from msgspec import Struct


class Sizes(Struct, frozen=True):
    """What a portion holds at most, and how archives are cut."""

    lines: int = 1_000  # of a portion
    longest_line: int = 64 * 2**20  # bytes
    rows: int = 1_000  # of a portion
    longest: int = 4_000_000  # bytes of a stretch, packed
    shortest: int = 250_000
    shares: int = 3  # of what is left for each process: stretches become shorter, so that all end together
