"""Packed files as streams of what is in them, read from front to back: gzip, zstd, LZ4, or nothing at all.

The packing is known by the first bytes. Zstd may begin with a dictionary in a frame of its own, as crawlers write it
into ``.warc.zst``. Memory is bounded by what a step of packed bytes can unpack to, and by zstd's window.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

import zstandard
from isal import isal_zlib
from isal.igzip_lib import IsalError

from periplus.errors import Corrupt, MissingExtra, Truncated

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LZ4: Final = b"\x04\x22\x4d\x18"
_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"  # the frame that holds a dictionary, and that other readers skip
_LARGEST_DICTIONARY: Final = 100_000_000  # bytes, packed or not
_LARGEST_WINDOW: Final = 2**27  # bytes; what the zstd command accepts without being asked for more
# Packed bytes at once, so that at most 17 MB come out of them: deflate makes a byte 1,032, zstd makes four 128 Ki.
_GZIP_STEP: Final = 16_384
_ZSTD_STEP: Final = 512
_LZ4_STEP: Final = 65_536  # a byte makes 255 at most
_PLAIN_STEP: Final = 65_536
_PEEKED: Final = 16_384  # bytes that tell whether a part begins a record
DAMAGE: Final = (cast("type[Exception]", IsalError), zstandard.ZstdError, EOFError)


class _StreamDecoder(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, /) -> bytes: ...


class Packing(NamedTuple):
    """How a file is packed: in parts that are unpacked by themselves, gzip members or zstd frames."""

    magic: bytes  # that a part begins with
    decoder: Callable[[], _StreamDecoder]
    peek: Callable[[bytes], bytes]  # the first of what a part unpacks to
    step: int  # packed bytes at once
    first: int = 0  # where the first part begins


GZIP: Final = Packing(
    _GZIP + b"\x08",
    lambda: isal_zlib.decompressobj(31),
    lambda data: isal_zlib.decompressobj(31).decompress(data, _PEEKED),
    _GZIP_STEP,
)


def packing_of(file: Readable, name: str = "") -> Packing | None:
    """How ``file`` is packed, by its first bytes, or by its name where these say nothing; none where it is plain."""
    start = file.read(len(_ZSTD))
    file.seek(0)
    if start.startswith(_GZIP):
        return GZIP
    if start in (_ZSTD, _DICTIONARY) or name.endswith(".zst"):
        dictionary, first = _dictionary(file)
        decoder = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=_LARGEST_WINDOW)
        return Packing(
            _ZSTD,
            lambda: cast("_StreamDecoder", decoder.decompressobj()),
            lambda data: decoder.stream_reader(data).read(_PEEKED),
            _ZSTD_STEP,
            first,
        )
    if start == _LZ4 or name.endswith(".lz4"):
        return _lz4()
    return GZIP if name.endswith(".gz") else None


def _lz4() -> Packing:
    """LZ4's frames, by a package that not everybody has."""
    try:
        from lz4.frame import LZ4FrameDecompressor
    except ImportError as error:
        raise MissingExtra("files packed with LZ4 need the package lz4: pip install 'periplus[lz4]'") from error

    class Decoder:
        """In the shape of the others; what damages a frame is an error that the reader knows."""

        def __init__(self) -> None:
            self._decoder = LZ4FrameDecompressor()
            self.eof, self.unused_data = False, b""

        def decompress(self, data: bytes) -> bytes:
            try:
                found = bytes(self._decoder.decompress(data))
            except RuntimeError as error:
                raise EOFError(str(error)) from error
            self.eof = self._decoder.eof
            self.unused_data = self._decoder.unused_data or b"" if self.eof else b""
            return found

    return Packing(_LZ4, Decoder, lambda data: Decoder().decompress(data)[:_PEEKED], _LZ4_STEP)


def unpacked(file: Readable) -> io.BufferedReader:
    """What is in ``file``, whose place is its beginning; raises ``Corrupt`` or ``Truncated`` while it is read."""
    packing = packing_of(file)
    return io.BufferedReader(_Stream(Unpacker(file, packing, packing.first if packing else 0)))


class FilePart:
    """A part of a file as if it were all of it."""

    def __init__(self, file: Readable, start: int, end: int) -> None:
        self._file = file
        self._start = start
        self.size = max(0, end - start)
        self.seek(0)

    def seek(self, place: int) -> None:
        self._file.seek(self._start + place)
        self._left = max(0, self.size - place)

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


class Readable(Protocol):
    """What is asked of a file here."""

    def seek(self, place: int, /) -> Any: ...

    def read(self, size: int, /) -> bytes: ...


class Unpacker:
    """What a file unpacks to from a place on, piece by piece, and in which packed part a piece has its place.

    A file that is not packed is one part. ``failure`` is what keeps a part from being unpacked further.
    """

    def __init__(self, file: Readable, packing: Packing | None, at: int) -> None:
        self._file = file
        self._file.seek(at)
        self._packing = packing
        self._decoder: _StreamDecoder | None = None
        self._ahead = b""
        self.reached = at  # packed bytes up to here were unpacked
        self._is_new = True
        self.part = at  # where the part of the last piece begins
        self.is_first = False  # whether the last piece is the first of its part
        self.failure: Corrupt | None = None

    @property
    def is_plain(self) -> bool:
        return self._packing is None

    def piece(self) -> bytes:
        """The next piece; empty at the end of the file, or where it cannot be unpacked further."""
        if self._packing is None:
            self.is_first, self._is_new = self._is_new, False
            return self._file.read(_PLAIN_STEP)
        while self.failure is None and (data := self._ahead or self._file.read(self._packing.step)):
            if found := self._unpacked(data, self._packing):
                self.is_first, self._is_new = self._is_new, False
                return found
        if self.failure is None and self._decoder is not None:
            self.failure = Truncated("the file ends inside a packed part")
        return b""

    def _unpacked(self, data: bytes, packing: Packing) -> bytes:
        if self._decoder is None:
            self._decoder, self.part, self._is_new = packing.decoder(), self.reached, True
            if packing is GZIP and not data.startswith(GZIP.magic[: len(data)]):
                self.failure = Corrupt(f"no packed part begins here, but {data[:8]!r}")
                return b""
        try:
            found = self._decoder.decompress(data)
        except DAMAGE as error:
            self.failure = Corrupt(f"a packed part is damaged: {error}")
            return b""
        self._ahead = self._decoder.unused_data
        self.reached += len(data) - len(self._ahead)
        if self._decoder.eof:
            self._decoder = None
        return found


class _Stream(io.RawIOBase):
    """An ``Unpacker`` as a file; unlike the packed file itself, it may be dropped without closing that."""

    def __init__(self, unpacker: Unpacker) -> None:
        self._unpacker = unpacker
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        if not self._ready:
            self._ready = memoryview(self._unpacker.piece())
        if not self._ready and self._unpacker.failure is not None:
            raise self._unpacker.failure
        room = memoryview(buffer)
        count = min(len(room), len(self._ready))
        room[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def _dictionary(file: Readable) -> tuple[zstandard.ZstdCompressionDict | None, int]:
    """The dictionary that the file begins with, and where it ends."""
    start = file.read(len(_DICTIONARY))
    if start != _DICTIONARY:
        return None, 0
    size = int.from_bytes(file.read(4), "little")
    if size > _LARGEST_DICTIONARY:
        raise Corrupt(f"a zstd dictionary of {size} bytes")
    content = file.read(size)
    if len(content) < size:
        raise Truncated("the file ends inside its zstd dictionary")
    try:
        if content.startswith(_ZSTD):
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=_LARGEST_DICTIONARY)
        return zstandard.ZstdCompressionDict(content), len(_DICTIONARY) + 4 + size
    except zstandard.ZstdError as error:
        raise Corrupt(f"the zstd dictionary is damaged: {error}") from error
