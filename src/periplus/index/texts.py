"""Stored texts: documents as they are given back, in compressed blocks of some 8 KB with random access."""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import zstandard

from periplus.errors import Corrupt
from periplus.index.stored import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from periplus.index.files import ArrayFile, ArrayFileWriter

BLOCK_BYTES = 8_192  # a page of results unpacks some ten of them
WRITTEN_TOGETHER = 256  # blocks
LEVEL = 1  # 40 % less time than level 3 for 4 % more bytes
MAX_BLOCK_BYTES = 1 << 30  # a damaged header must not ask for all memory
KEPT_BYTES = 32_000_000  # of unpacked blocks, a segment: neighbours in address order are often shown together

_local = threading.local()
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(StoredDocument)
_COUNT, _BOUNDS = struct.Struct("<I"), struct.Struct("<2I")


class TextsWriter:
    """Takes packed documents in the order of their numbers."""

    def __init__(self, file: ArrayFileWriter) -> None:
        self._blocks = file.stream("blocks", "u1")
        self._block_start = file.stream("block_start", "<i8")
        self._block_first = file.stream("block_first", "<u4")
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._pending: list[bytes] = []  # documents of the next block
        self._pending_bytes = 0
        self._made: list[bytes] = []  # blocks that wait to be written
        self._starts: list[int] = []
        self._firsts: list[int] = []
        self._size = 0
        self._count = 0

    def extend(self, documents: Iterable[bytes]) -> None:
        for packed in documents:
            self._pending.append(packed)
            self._pending_bytes += len(packed)
            if self._pending_bytes >= BLOCK_BYTES:
                self._make_block()

    def finish(self) -> None:
        if self._pending:
            self._make_block()
        self._begin_block()
        self._write()

    def _make_block(self) -> None:
        pending = self._pending
        ends = accumulate(map(len, pending), initial=0)
        head = struct.pack(f"<{len(pending) + 2}I", len(pending), *ends)
        made = self._compressor.compress(b"".join([head, *pending]))
        self._begin_block()
        self._made.append(made)
        self._size += len(made)
        self._count += len(pending)
        self._pending, self._pending_bytes = [], 0
        if len(self._made) >= WRITTEN_TOGETHER:
            self._write()

    def _begin_block(self) -> None:
        self._starts.append(self._size)
        self._firsts.append(self._count)

    def _write(self) -> None:
        self._blocks.append(b"".join(self._made))
        self._block_start.append(np.array(self._starts, np.int64))
        self._block_first.append(np.array(self._firsts, np.int64))
        self._made, self._starts, self._firsts = [], [], []


class Texts:
    def __init__(self, file: ArrayFile) -> None:
        self._path = file.path
        self._blocks = file.array("blocks")
        self._block_start = file.array("block_start")
        self._block_first = file.array("block_first")
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def packed(self, number: int) -> memoryview:
        """The document as it was packed; ``Corrupt`` when its block is damaged."""
        block = int(np.searchsorted(self._block_first, np.uint32(number), "right")) - 1
        return _cut(self._kept_raw(block), number - int(self._block_first[block]))

    def document(self, number: int) -> StoredDocument:
        return unpack(self.packed(number))

    def documents(self, numbers: Sequence[int]) -> list[StoredDocument]:
        """Many documents in the order asked for; no block is unpacked twice."""
        blocks = np.searchsorted(self._block_first, np.asarray(numbers, np.uint32), "right") - 1
        places = np.asarray(numbers, np.int64) - self._block_first[blocks]
        raw = {block: self._kept_raw(block) for block in dict.fromkeys(blocks.tolist())}
        pairs = zip(blocks.tolist(), places.tolist(), strict=True)
        return [_DECODER.decode(_cut(raw[block], place)) for block, place in pairs]

    def all_packed(self) -> Iterator[bytes]:
        """All documents in order, one block in memory at a time."""
        return (packed for block in range(len(self._block_first) - 1) for packed in self._block(block))

    def _block(self, block: int) -> list[bytes]:
        raw = self._raw(block)
        (count,) = struct.unpack_from("<I", raw)
        ends = struct.unpack_from(f"<{count + 1}I", raw, 4)
        base = 4 * (count + 2)
        return [raw[base + begin : base + end] for begin, end in pairwise(ends)]

    def _kept_raw(self, block: int) -> bytes:
        """The block as it was last unpacked; the least recently used ones go when there are too many bytes."""
        with self._lock:
            raw = self._kept.get(block)
            if raw is not None:
                self._kept.move_to_end(block)
                return raw
        raw = self._raw(block)
        with self._lock:
            self._kept_bytes += len(raw) - len(self._kept.pop(block, b""))
            self._kept[block] = raw
            while self._kept_bytes > KEPT_BYTES and self._kept:
                self._kept_bytes -= len(self._kept.popitem(last=False)[1])
        return raw

    def _raw(self, block: int) -> bytes:
        data = self._blocks[self._block_start[block] : self._block_start[block + 1]].tobytes()
        try:
            return _decompressor().decompress(data, max_output_size=MAX_BLOCK_BYTES)
        except zstandard.ZstdError as error:
            raise Corrupt(f"{self._path}: a block of stored text is damaged; rebuild the index") from error


def pack(document: StoredDocument) -> bytes:
    return _ENCODER.encode(document)


def unpack(packed: bytes | memoryview) -> StoredDocument:
    return _DECODER.decode(packed)


def _cut(raw: bytes, place: int) -> memoryview:
    """One document of a block, without a copy."""
    count, begin, end = *_COUNT.unpack_from(raw), *_BOUNDS.unpack_from(raw, 4 * (place + 1))
    base = 4 * (count + 2)
    return memoryview(raw)[base + begin : base + end]


def _decompressor() -> zstandard.ZstdDecompressor:
    """One a thread: a decompressor must not be used by two at once."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    instance: zstandard.ZstdDecompressor = _local.decompressor
    return instance
