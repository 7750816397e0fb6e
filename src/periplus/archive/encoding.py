"""Content encodings undone, with a bound on what they unpack to.

A server may send a body that is cut short or is not what its header says. What can be unpacked is given; a body that
gives nothing is handed on as it is, as unpacking it is the concern of whoever reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import brotli
import zstandard
from isal import isal_zlib
from isal.igzip_lib import IsalError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPACKED = 32_000_000
_STEP = 16_384  # bytes given to a decoder at once: with deflate's greatest ratio, 17 MB come out at most

_FAILURES = (cast("type[Exception]", IsalError), brotli.error, zstandard.ZstdError, EOFError)


class _Decoder(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


class _Brotli:
    def __init__(self) -> None:
        self._decoder = brotli.Decompressor()

    def decompress(self, data: bytes, /) -> bytes:
        unpacked: bytes = self._decoder.process(data)
        return unpacked


def unpack(payload: bytes, content_encoding: str, limit: int = MAX_UNPACKED) -> tuple[bytes, bool]:
    """The body without its encodings, and whether it was cut at ``limit`` bytes."""
    body, cut = payload, False
    for name in reversed([part.strip().lower() for part in content_encoding.split(",")]):
        body, cut_here = _undone(body, name, limit)
        cut = cut or cut_here
    return body, cut


def _undone(data: bytes, name: str, limit: int) -> tuple[bytes, bool]:
    if name in ("gzip", "x-gzip"):
        return _unpacked(_gzip(data), data, limit)
    if name == "deflate":
        return _unpacked(_steps(isal_zlib.decompressobj(_deflate_bits(data)), data), data, limit)
    if name == "br":
        return _unpacked(_steps(_Brotli(), data), data, limit)
    if name == "zstd":
        return _unpacked(_zstd(data, limit), data, limit)
    return data, False


def _unpacked(pieces: Iterator[bytes], data: bytes, limit: int) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            parts.append(piece)
            size += len(piece)
            if size > limit:
                return b"".join(parts)[:limit], True
    except _FAILURES:
        if not size:
            return data, False
    return b"".join(parts), False


def _steps(decoder: _Decoder, data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), _STEP):
        yield decoder.decompress(data[at : at + _STEP])


def _gzip(data: bytes) -> Iterator[bytes]:
    """All members; what follows the last one is ignored, as browsers do."""
    if data[:2] != b"\x1f\x8b":
        raise EOFError
    while data[:2] == b"\x1f\x8b":
        decoder = isal_zlib.decompressobj(31)
        for at in range(0, len(data), _STEP):
            yield decoder.decompress(data[at : at + _STEP])
            if decoder.eof:
                data = decoder.unused_data + data[at + _STEP :]
                break
        else:
            return


def _zstd(data: bytes, limit: int) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    while piece := reader.read(min(limit + 1, 1 << 20)):
        yield piece


def _deflate_bits(data: bytes) -> int:
    """With the zlib header that the standard asks for, or without it, as some servers send it."""
    has_header = len(data) > 1 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return 15 if has_header else -15
