"""Files of arrays: named numpy arrays in one file, written as a stream, read through a memory map.

    offset 0   "PERIPLUS", format version (u32), kind (4 bytes), table offset (u64), table length (u64),
               total length (u64), xxh3 of the table (u64), xxh3 of these 48 bytes (u64)
    offset 64  the arrays, each at a multiple of 64
    then       the table: JSON with name, type, length, offset and xxh3 of each array

The last number of the header is the seal of the file: it stands for the header, which stands for the table, which
stands for the arrays. Whoever names a file keeps its seal, so that no other file can take its place.

A missing file is ``Missing``, another version ``Incompatible``, a short one ``Truncated``, anything else wrong
``Corrupt``. Kernels check no bounds, so whatever is opened has been compared with its checksum first.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from xxhash import xxh3_64, xxh3_64_intdigest

from periplus.errors import INDEX_PART, Corrupt, Incompatible, Missing, StorageError, StorageFull, Truncated
from periplus.storage import sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 5
READABLE = (FORMAT,)  # before 5, segments have neither fingerprints nor marks
MAGIC = b"PERIPLUS"
ALIGNMENT = 64
PREAMBLE = struct.Struct("<8sI4sQQQQ")
CHECK = struct.Struct("<Q")
HEAD_BYTES = PREAMBLE.size + CHECK.size
FIRST_OFFSET = -(-HEAD_BYTES // ALIGNMENT) * ALIGNMENT
COPY_BYTES = 1 << 20
KEPT_BYTES = 1 << 18  # of an array that wait in memory


class ArrayEntry(Struct, frozen=True):
    name: str
    dtype: str
    length: int
    offset: int
    checksum: int


class FileSeal(NamedTuple):
    """What tells a whole file from all others."""

    length: int
    seal: int


class ArrayStream:
    """One array that grows at its end; until the whole is put together it waits in memory, or in a file when large.

    The first array of a file grows in that file itself, so that it need not be copied.
    """

    def __init__(self, path: Path, name: str, dtype: str, *, is_first: bool = False) -> None:
        self.name = name
        self.dtype = np.dtype(dtype)
        self.length = 0
        self._path = path
        self._is_first = is_first
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._file: BinaryIO | None = None
        self._digest = xxh3_64()

    def append(self, values: NDArray[Any] | bytes) -> None:
        array = (
            np.frombuffer(values, np.uint8) if isinstance(values, bytes) else np.ascontiguousarray(values, self.dtype)
        )
        data = array.reshape(-1).view(np.uint8)
        self._digest.update(data.data)
        self.length += len(data) // self.dtype.itemsize
        if self._file is None and self._waiting_bytes + len(data) <= KEPT_BYTES:
            self._waiting.append(data.tobytes())
            self._waiting_bytes += len(data)
        else:
            self._spilled().write(data.data)

    def finish(self, target: BinaryIO) -> int:
        """Bring the bytes to the end of ``target``; their checksum."""
        if self._file is None:
            target.writelines(self._waiting)
            self._waiting.clear()
        elif self._file is not target:
            self._file.close()
            with self._path.open("rb") as part:
                while chunk := part.read(COPY_BYTES):
                    target.write(chunk)
            self._path.unlink(missing_ok=True)
        return self._digest.intdigest()

    def begun(self) -> BinaryIO:
        """The file of the first array, behind the place of the header; other arrays follow when that one is done."""
        return self._spilled()

    def discard(self) -> None:
        self._waiting.clear()
        if self._file is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)

    def _spilled(self) -> BinaryIO:
        if self._file is None:
            self._file = self._path.open("wb")
            if self._is_first:
                self._file.write(bytes(FIRST_OFFSET))
            self._file.writelines(self._waiting)
            self._waiting.clear()
        return self._file


class ArrayFileWriter:
    """Writes one file of arrays; nothing of it counts until ``close`` returns."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._kind = kind.encode()
        self._streams: list[ArrayStream] = []

    def stream(self, name: str, dtype: str) -> ArrayStream:
        """A new array; the largest should be the first one, because that is never copied."""
        is_first = not self._streams
        path = self._path if is_first else self._path.with_name(f"{self._path.name}.{name}.part")
        self._streams.append(ArrayStream(path, name, dtype, is_first=is_first))
        return self._streams[-1]

    def add(self, name: str, values: NDArray[Any], dtype: str) -> None:
        self.stream(name, dtype).append(values)

    def close(self) -> FileSeal:
        """Put the arrays together and flush them to the disk; the length and the seal of the file."""
        with self._streams[0].begun() as file:
            first, *others = self._streams
            entries = [_entry(first, FIRST_OFFSET, file), *(self._moved(stream, file) for stream in others)]
            table = msgspec.json.encode(entries)
            offset = file.tell()
            file.write(table)
            head = PREAMBLE.pack(MAGIC, FORMAT, self._kind, offset, len(table), file.tell(), xxh3_64_intdigest(table))
            length = file.tell()
            seal = xxh3_64_intdigest(head)
            file.seek(0)
            file.write(head + CHECK.pack(seal))
            file.flush()
            os.fsync(file.fileno())
        return FileSeal(length, seal)

    def abort(self) -> None:
        for stream in self._streams:
            stream.discard()

    @staticmethod
    def _moved(stream: ArrayStream, file: BinaryIO) -> ArrayEntry:
        offset = -(-file.tell() // ALIGNMENT) * ALIGNMENT
        file.write(bytes(offset - file.tell()))
        return _entry(stream, offset, file)


def _entry(stream: ArrayStream, offset: int, file: BinaryIO) -> ArrayEntry:
    return ArrayEntry(stream.name, stream.dtype.str, stream.length, offset, stream.finish(file))


class ArrayFile:
    """A file of arrays, mapped and checked; arrays stay valid while one of them or this object is referenced."""

    def __init__(self, path: Path, kind: str, *, unchecked: tuple[str, ...] = (), seal: int = 0) -> None:
        """``seal`` is the one that the file must have; 0 where none was kept."""
        self.path = path
        self._unchecked = unchecked
        self._map = _mapped(path)
        self._entries = {entry.name: entry for entry in self._table(kind, seal)}
        for entry in self._entries.values():
            self._check(entry, sums=entry.name not in unchecked)

    def verify(self) -> None:
        """Compare what was left out at opening, too; ``Corrupt`` when it is not what was written."""
        for name in self._unchecked:
            if name in self._entries:
                self._check(self._entries[name], sums=True)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def array(self, name: str) -> NDArray[Any]:
        entry = self._entries.get(name)
        if entry is None:
            raise Corrupt(f"{self.path} has no array {name}; rebuild the index", INDEX_PART)
        return np.frombuffer(self._map, np.dtype(entry.dtype), entry.length, entry.offset)

    def rest(self) -> None:
        """Let go of the pages that were read, which would count as memory of this process."""
        self._map.madvise(mmap.MADV_DONTNEED)

    def _table(self, kind: str, seal: int) -> list[ArrayEntry]:
        size = len(self._map)
        if size < HEAD_BYTES:
            raise Truncated(f"{self.path} is shorter than its header; rebuild the index", INDEX_PART)
        head = self._map[: PREAMBLE.size]
        magic, version, found, offset, length, total, checksum = PREAMBLE.unpack(head)
        if magic != MAGIC:
            raise Corrupt(f"{self.path} is not a file of this index; rebuild the index", INDEX_PART)
        if version not in READABLE:
            raise Incompatible(f"{self.path} has format {version}, this version reads {FORMAT}; rebuild the index")
        own = xxh3_64_intdigest(head)
        if CHECK.unpack_from(self._map, PREAMBLE.size)[0] != own:
            raise Corrupt(f"{self.path} has a damaged header; rebuild the index", INDEX_PART)
        if found != kind.encode():
            raise Corrupt(f"{self.path} holds {found!r} instead of {kind}; rebuild the index", INDEX_PART)
        if seal and seal != own:
            raise Corrupt(
                f"{self.path} is another file than the one that was written here; rebuild the index", INDEX_PART
            )
        if total != size:
            wrong = Truncated if size < total else Corrupt
            raise wrong(f"{self.path} has {size} bytes instead of {total}; rebuild the index", INDEX_PART)
        table = self._map[offset : offset + length]
        if xxh3_64_intdigest(table) != checksum:
            raise Corrupt(f"{self.path} has a damaged table; rebuild the index", INDEX_PART)
        return msgspec.json.decode(table, type=list[ArrayEntry])

    def _check(self, entry: ArrayEntry, *, sums: bool) -> None:
        size = entry.length * np.dtype(entry.dtype).itemsize
        if entry.offset + size > len(self._map):
            raise Truncated(f"{self.path}: array {entry.name} reaches beyond the end; rebuild the index", INDEX_PART)
        if sums and xxh3_64_intdigest(memoryview(self._map)[entry.offset : entry.offset + size]) != entry.checksum:
            raise Corrupt(f"{self.path}: array {entry.name} does not match its checksum; rebuild the index", INDEX_PART)


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise Missing(f"{path} is missing; rebuild the index", INDEX_PART) from error
    except ValueError as error:  # an empty file cannot be mapped
        raise Truncated(f"{path} is empty; rebuild the index", INDEX_PART) from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error


def read_whole(path: Path) -> bytes:
    """The bytes of a small file; ``Missing`` when it is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise Missing(f"{path} is missing; rebuild the index", INDEX_PART) from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` in one step: after a crash either the old or the new content is there, whole."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync(path.parent)


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Errors of the operating system while writing, as ours."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(f"no space left while writing {what}; free some and try again") from error
        raise StorageError(
            f"{what} cannot be written: {error.strerror}; check the disk and the rights on it"
        ) from error
