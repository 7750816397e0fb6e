"""Files that are not what was written: one with a flipped byte, one cut off. Made again by the product or the doctor.

A damaged file takes the place of the sound one, so that whoever has mapped that one goes on with it, as with a disk
whose bytes are read again. When pages are fetched and found again, somebody does what docs/damage.md says: whatever
of the archive was damaged is restored from its copy, and ``periplus doctor --repair`` makes the rest again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from faults.whole.fault import Fault

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from faults.whole.product import Whole

KINDS = {
    "documents/": "documents/*.parquet",
    "links/": "links/*.parquet",
    "index/segments/": "index/segments/*/*",
    "ranks/": "ranks/**/*",
    "archive/": "archive/*.warc.gz",
}
COPIES = "copies"


def damage(pattern: str, whole: Whole, chance: random.Random) -> None:
    """A byte is flipped in one file, another file is cut off; of the archive none that is written to."""
    found = {path: path.stat() for path in whole.folder.glob(pattern) if path.is_file()}
    files = sorted(path for path, status in found.items() if status.st_size)
    if pattern == KINDS["archive/"]:
        files.remove(max(files, key=lambda path: found[path].st_mtime_ns))
    if not files:
        raise FileNotFoundError(f"nothing to damage below {pattern}")
    flipped, *torn = chance.sample(files, min(2, len(files)))
    _replace(whole, flipped, _flipped(flipped.read_bytes(), chance))
    for path in torn:
        _replace(whole, path, path.read_bytes()[: chance.randrange(path.stat().st_size)])


def restored(whole: Whole) -> str:
    """The doctor's way, with nobody else at work; what it finds wrong after that."""
    whole.stop()
    copies = whole.folder.parent / COPIES
    for copy in sorted((copies / "archive").glob("*")):
        copy.replace(whole.folder / "archive" / copy.name)
    shutil.rmtree(copies, ignore_errors=True)
    command = [sys.executable, "-m", "periplus", "doctor", "--repair", "--dir", str(whole.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    whole.keep_up()
    return "" if done.returncode == 0 else f"the doctor ended with {done.returncode}: {done.stdout} {done.stderr}"


def _flipped(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


def _replace(whole: Whole, path: Path, data: bytes) -> None:
    copy = whole.folder.parent / COPIES / path.relative_to(whole.folder)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.hardlink_to(path)
    beside = whole.folder.parent / "damaged-file"
    beside.write_bytes(data)
    beside.replace(path)


FAULTS = tuple(
    Fault(f"a flipped byte and a torn file in `{kind}`", partial(damage, pattern), restored)
    for kind, pattern in KINDS.items()
)
