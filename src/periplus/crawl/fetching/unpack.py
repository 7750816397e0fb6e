"""Content encodings: gzip, deflate, br and zstd, with a cap on what comes out.

A body that was cut on the wire gives what can be unpacked of it. More than the cap is a ``decompression-bomb``,
which is noticed before much more than the cap is in memory.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import brotli
import zstandard
from isal import isal_zlib
from isal.igzip_lib import IsalError

from periplus.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable

ACCEPTED = "gzip, deflate, br, zstd"
MAX_LAYERS = 3
MAX_MEMBERS = 10_000  # of a gzip stream: it has one, or one for each block of 64 KB
_STEP = 1 << 10  # bytes that a later member is given first
_CHUNK = 1 << 18


def unpack(payload: bytes, encoding: str, limit: int, *, cut: bool = False) -> bytes:
    """``payload`` without its Content-Encoding; ``cut`` says that its end is missing."""
    layers = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    layers = [name for name in layers if name != "identity"]
    if len(layers) > MAX_LAYERS:
        raise FetchError("bad-encoding", f"{len(layers)} encodings on top of each other")
    body = payload
    for name in reversed(layers):
        reader = _READERS.get(name)
        if reader is None:
            raise FetchError("bad-encoding", f"unknown Content-Encoding {name!r}")
        if body:
            body = reader(body, limit, cut)
    return body


def _gzip(data: bytes, limit: int, cut: bool) -> bytes:
    """All members of a gzip stream; rubbish after the last one is ignored, as browsers do."""
    out = bytearray()
    rest = _member(memoryview(data), len(data), out, limit, cut)
    for _ in range(MAX_MEMBERS):
        if not rest:
            return bytes(out)
        rest = _member(rest, _STEP, out, limit, cut)
    raise FetchError("bad-encoding", f"more than {MAX_MEMBERS} gzip members")


def _member(data: memoryview, step: int, out: bytearray, limit: int, cut: bool) -> memoryview:
    """Unpack the first member; what follows it. It is given bit by bit, as what is too much for it is copied."""
    reader = isal_zlib.decompressobj(wbits=31)
    place = 0
    while place < len(data) and not reader.eof:
        piece = data[place : place + step]
        try:
            out += reader.decompress(piece, limit - len(out) + 1)
        except IsalError as error:  # type: ignore[misc]  # its stub says it is no exception
            if out:
                return data[:0]
            raise FetchError("bad-encoding", str(error)) from error
        _check(out, limit)
        place += len(piece) - len(reader.unused_data)
        step = min(2 * step, _CHUNK)
    if not reader.eof:
        _need_whole(cut, out)
    return data[place:]


def _deflate(data: bytes, limit: int, cut: bool) -> bytes:
    """zlib format, or the raw deflate that some servers send instead."""
    failure: Exception | None = None
    for bits in (15, -15):
        reader = zlib.decompressobj(bits)
        try:
            out = reader.decompress(data, limit + 1)
        except zlib.error as error:
            failure = error
            continue
        _check(out, limit)
        if not reader.eof:
            _need_whole(cut, out)
        return out
    raise FetchError("bad-encoding", str(failure)) from failure


def _brotli(data: bytes, limit: int, cut: bool) -> bytes:
    reader = brotli.Decompressor()
    out = bytearray()
    try:
        chunk = reader.process(data, output_buffer_limit=_CHUNK)
        while chunk and len(out) <= limit:
            out += chunk
            chunk = b"" if reader.is_finished() else reader.process(b"", output_buffer_limit=_CHUNK)
    except brotli.error as error:
        raise FetchError("bad-encoding", str(error)) from error
    _check(out, limit)
    if not reader.is_finished():
        _need_whole(cut, out)
    return bytes(out)


def _zstd(data: bytes, limit: int, cut: bool) -> bytes:
    out = bytearray()
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data, read_across_frames=True)
    try:
        while len(out) <= limit and (chunk := reader.read(_CHUNK)):
            out += chunk
    except zstandard.ZstdError as error:
        if not (cut and out):
            raise FetchError("bad-encoding", str(error)) from error
    _check(out, limit)
    if not cut and not out and len(data) > 32:
        raise FetchError("bad-encoding", "the zstd frame is not whole")
    return bytes(out)


def _check(out: bytes | bytearray, limit: int) -> None:
    if len(out) > limit:
        raise FetchError("decompression-bomb", f"over {limit} bytes")


def _need_whole(cut: bool, out: bytes | bytearray) -> None:
    if not cut and not out:
        raise FetchError("bad-encoding", "the compressed body ends too early")


_READERS: dict[str, Callable[[bytes, int, bool], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
