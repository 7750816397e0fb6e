"""Some exchanges of an archive as one WARC file for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.archive.writer import information, members
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from periplus.records import Exchange


def write_subset(target: Path, exchanges: Iterable[Exchange], software: str) -> int:
    """Write responses with their requests to ``target``, whole or not at all; how many there are.

    Each stands for itself: what is a reference to an earlier record in the archive has its payload here.
    """
    count = 0
    with LocalFiles(target.parent).create(target.name) as temporary, temporary.open("wb") as file:
        file.write(information(target.name, software))
        for exchange in exchanges:
            file.writelines(members(exchange))
            count += 1
    return count
