"""Packed files as streams of what is in them, read from front to back: gzip, zstd, or nothing at all.

The packing is known by the first bytes. Zstd may begin with a dictionary in a frame of its own, as crawlers write it
into ``.warc.zst``. Memory is bounded by what a step of packed bytes can unpack to, and by zstd's window.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

import zstandard
from isal import isal_zlib
from isal.igzip_lib import IsalError

from periplus.errors import Corrupt, Truncated

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"  # the frame that holds a dictionary, and that other readers skip
_LARGEST_DICTIONARY: Final = 100_000_000  # bytes, packed or not
_LARGEST_WINDOW: Final = 2**27  # bytes; what the zstd command accepts without being asked for more
# Packed bytes at once, so that at most 17 MB come out of them: deflate makes a byte 1,032, zstd makes four 128 Ki.
_GZIP_STEP: Final = 16_384
_ZSTD_STEP: Final = 512
_DAMAGE: Final = (cast("type[Exception]", IsalError), zstandard.ZstdError, EOFError)


class _Decoder(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, /) -> bytes: ...


def unpacked(file: Readable) -> io.BufferedReader:
    """What is in ``file``, whose place is its beginning; raises ``Corrupt`` or ``Truncated`` while it is read."""
    start = file.read(len(_ZSTD))
    file.seek(0)
    if start.startswith(_GZIP):
        return gzip_members(file)
    if start in (_ZSTD, _DICTIONARY):
        decoder = zstandard.ZstdDecompressor(dict_data=_dictionary(file), max_window_size=_LARGEST_WINDOW)
        return io.BufferedReader(_Members(file, lambda: cast("_Decoder", decoder.decompressobj()), _ZSTD_STEP))
    return io.BufferedReader(_Plain(file))


def gzip_members(file: Readable) -> io.BufferedReader:
    """The same of what must be gzip, or nothing."""
    return io.BufferedReader(_Members(file, lambda: isal_zlib.decompressobj(31), _GZIP_STEP))


class Span:
    """A part of a file as if it were all of it."""

    def __init__(self, file: BinaryIO, start: int, end: int | None) -> None:
        self._file = file
        self._start = start
        self._end = end
        self.seek(0)

    def seek(self, place: int) -> None:
        self._file.seek(self._start + place)
        self._left = None if self._end is None else max(0, self._end - self._start - place)

    def read(self, size: int) -> bytes:
        data = self._file.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data


class Rest:
    """A file from a place on, as if that were its beginning."""

    def __init__(self, file: Readable, start: int) -> None:
        self._file = file
        self._start = start
        self.seek(0)

    def seek(self, place: int) -> None:
        self._file.seek(self._start + place)

    def read(self, size: int) -> bytes:
        return self._file.read(size)


class Readable(Protocol):
    """What is asked of a file here."""

    def seek(self, place: int, /) -> Any: ...

    def read(self, size: int, /) -> bytes: ...


class _Plain(io.RawIOBase):
    """The file as it is; unlike the file itself, what is read from it may be dropped without closing it."""

    def __init__(self, file: Readable) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        room = memoryview(buffer)
        data = self._file.read(len(room))
        room[: len(data)] = data
        return len(data)


class _Members(io.RawIOBase):
    """All members of a gzip file, or frames of a zstd file, one after the other."""

    def __init__(self, file: Readable, decoder: Callable[[], _Decoder], step: int) -> None:
        self._file = file
        self._new_decoder = decoder
        self._step = step
        self._decoder: _Decoder | None = None
        self._ahead = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready and self._advance():
            pass
        room = memoryview(buffer)
        count = min(len(room), len(self._ready))
        room[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _advance(self) -> bool:
        """Unpack a step; False at the end of the file."""
        data = self._ahead or self._file.read(self._step)
        if not data:
            if self._decoder is not None:
                raise Truncated("the file ends inside a packed part")
            return False
        self._decoder = self._decoder or self._new_decoder()
        try:
            self._ready = memoryview(self._decoder.decompress(data))
        except _DAMAGE as error:
            raise Corrupt(f"a packed part is damaged: {error}") from error
        self._ahead = self._decoder.unused_data
        if self._decoder.eof:
            self._decoder = None
        return True


def _dictionary(file: Readable) -> zstandard.ZstdCompressionDict | None:
    """The dictionary that the file begins with; the file stands behind it afterwards."""
    if file.read(len(_DICTIONARY)) != _DICTIONARY:
        file.seek(0)
        return None
    size = int.from_bytes(file.read(4), "little")
    if size > _LARGEST_DICTIONARY:
        raise Corrupt(f"a zstd dictionary of {size} bytes")
    content = file.read(size)
    if len(content) < size:
        raise Truncated("the file ends inside its zstd dictionary")
    try:
        if content.startswith(_ZSTD):
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=_LARGEST_DICTIONARY)
        return zstandard.ZstdCompressionDict(content)
    except zstandard.ZstdError as error:
        raise Corrupt(f"the zstd dictionary is damaged: {error}") from error
