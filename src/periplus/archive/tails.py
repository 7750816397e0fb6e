"""How far a file holds whole records: from some place on, or as its end tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.archive import member
from periplus.errors import Corrupt, OverBudget

if TYPE_CHECKING:
    from typing import BinaryIO

TAIL = 1_000_000  # bytes looked at before the whole file is read
_HEADER = member.MAGIC + b"\x08"


def ends_whole(file: BinaryIO, size: int) -> bool:
    """Whether some member near the end is followed by whole members up to the very end."""
    start = max(0, size - TAIL)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_HEADER)
    while at >= 0:
        if start + at + whole_bytes(file, start + at) == size:
            return True
        at = tail.rfind(_HEADER, 0, at)
    return False


def whole_bytes(file: BinaryIO, offset: int = 0) -> int:
    """Bytes of whole members that hold records, from ``offset`` on."""
    kept = 0
    try:
        for length, content in member.members(file, offset):
            if not content.startswith(b"WARC/"):
                break
            kept += length
    except (Corrupt, OverBudget):
        return kept
    return kept
