"""Inputs from which earlier runs learned, kept beside the code: one archive for each target.

A run begins with them instead of a single seed, and the tests give each of them to its target without a fuzzer.
``python -m fuzz --keep NAME`` keeps what the runs on this machine have learned.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent / "corpus"
MOST = 500  # inputs of a target: short ones and long ones alike, where there are more
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes from the same inputs


def kept(name: str) -> list[bytes]:
    """The inputs of a target; none where none were kept."""
    path = FOLDER / f"{name}.zip"
    if not path.exists():
        return []
    with zipfile.ZipFile(path) as archive:
        return [archive.read(one) for one in archive.namelist()]


def lay_out(inputs: Iterable[bytes], folder: Path) -> None:
    """Inputs as files that a fuzzer reads."""
    for data in inputs:
        (folder / _name(data)).write_bytes(data)


def keep(name: str, folder: Path) -> int:
    """The inputs of a folder in place of those that were kept; how many."""
    found = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda data: (len(data), data))
    chosen = found if len(found) <= MOST else [found[place * len(found) // MOST] for place in range(MOST)]
    inputs = {_name(data): data for data in chosen}
    FOLDER.mkdir(exist_ok=True)
    with zipfile.ZipFile(FOLDER / f"{name}.zip", "w") as archive:
        for key, data in sorted(inputs.items()):
            archive.writestr(zipfile.ZipInfo(key, EPOCH), data, zipfile.ZIP_DEFLATED)
    return len(inputs)


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
