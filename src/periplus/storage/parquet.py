"""Parquet files that are checked before they are decoded: a seal of the footer and of all before it.

Parquet's own checksums cover pages and not the footer, which says where pages are, how they are packed and what they
hold. So 24 bytes stand right before the footer, where every reader of Parquet passes over them:

    "PERIPLUS", xxh3 of the bytes before (u64), xxh3 of the footer (u64)

Pages carry their own checksums besides, so that some columns can be read and checked alone, and others' tools can
check them too. Files of earlier versions have neither, and are read as they are.
"""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xxhash import xxh3_64, xxh3_64_intdigest

from periplus.errors import Corrupt, Missing, Truncated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

MARK = b"PERIPLUS"
SEAL = struct.Struct("<8sQQ")
END = struct.Struct("<I4s")  # of a Parquet file: length of the footer, and the magic
MAGIC = b"PAR1"
CHUNK = 1 << 20
ADVICE = "periplus doctor --repair makes it again from the archive where it can"


def seal_file(path: Path) -> None:
    """Put the seal into a Parquet file that was just written; the caller flushes it."""
    with path.open("r+b") as file:
        footer_at, footer = _footer(file, str(path))
        body = xxh3_64()
        file.seek(0)
        while chunk := file.read(min(CHUNK, footer_at - file.tell())):
            body.update(chunk)
        file.seek(footer_at)
        file.write(SEAL.pack(MARK, body.intdigest(), xxh3_64_intdigest(footer)) + footer)


def check_whole(name: str, data: bytes) -> None:
    """Raises ``Corrupt`` or ``Truncated`` unless every byte is what was written."""
    footer_at = _footer_place(name, len(data), data[-END.size :])
    view = memoryview(data)
    seal = _seal_of(bytes(view[max(0, footer_at - SEAL.size) : footer_at]))
    if seal is None:
        return
    if seal != (xxh3_64_intdigest(view[: footer_at - SEAL.size]), xxh3_64_intdigest(view[footer_at:])):
        raise Corrupt(f"{name} does not match its checksum; {ADVICE}")


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turns what Arrow and msgspec say about damaged bytes into ``Corrupt``."""
    try:
        yield
    except FileNotFoundError as error:
        raise Missing(f"{name} is missing; {ADVICE}") from error
    except (OSError, ValueError, KeyError, TypeError, IndexError, NotImplementedError) as error:  # Arrow's are these
        reason = str(error).partition("\n")[0][:200]
        raise Corrupt(f"{name} is damaged ({reason}); {ADVICE}") from error


def check_footer(path: Path) -> bool:
    """Compare the footer alone with its seal; whether the file has one, and with it pages that carry checksums."""
    with path.open("rb") as file:
        footer_at, footer = _footer(file, str(path))
        file.seek(max(0, footer_at - SEAL.size))
        seal = _seal_of(file.read(min(SEAL.size, footer_at)))
    if seal is not None and seal[1] != xxh3_64_intdigest(footer):
        raise Corrupt(f"{path} does not match its checksum; {ADVICE}")
    return seal is not None


def _footer(file: BinaryIO, name: str) -> tuple[int, bytes]:
    """Where the footer begins, and all from there on."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - END.size))
    place = _footer_place(name, size, file.read())
    file.seek(place)
    return place, file.read()


def _footer_place(name: str, size: int, end: bytes) -> int:
    if size < END.size + len(MAGIC):
        raise Truncated(f"{name} has {size} bytes, which is no batch; {ADVICE}")
    length, magic = END.unpack(end)
    if magic != MAGIC or length + END.size + len(MAGIC) > size:
        raise Corrupt(f"{name} does not end as it was written; {ADVICE}")
    return int(size - END.size - length)


def _seal_of(data: bytes) -> tuple[int, int] | None:
    if len(data) < SEAL.size:
        return None
    mark, body, footer = SEAL.unpack(data)
    return (body, footer) if mark == MARK else None
