"""Stored texts: documents as they are given back, compressed, with random access.

Where a segment has enough documents, a dictionary is made from some of them and each is a frame of its own, so that a
page of results unpacks no more than it shows. Smaller segments keep documents in blocks of some 8 KB.
"""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import zstandard

from periplus.errors import INDEX_PART, Corrupt
from periplus.index.format.stored import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from periplus.index.format.files import ArrayFile, ArrayFileWriter

BLOCK_BYTES = 8_192
LEAST_SAMPLED = 1_000  # documents of a segment that has a dictionary
SAMPLES = 500  # documents that it is made from
SAMPLE_BYTES = 16_384  # of one of them, at most
DICTIONARY_BYTES = 65_536
COVER = {"k": 200, "d": 8, "accel": 5}  # how its pieces are chosen: 40 ms instead of 900 for 1 % more bytes
WRITTEN_TOGETHER, FRAMES_TOGETHER = 256, 2_048  # blocks, single documents
BYTES_TOGETHER = 1 << 22  # of single documents that are large
LEVEL = 1  # 40 % less time than level 3 for 4 % more bytes
MAX_BLOCK_BYTES = 1 << 30  # a damaged header must not ask for all memory
KEPT_BYTES = 32_000_000  # of unpacked blocks, a segment: neighbours in address order are often shown together

_DECODER = msgspec.msgpack.Decoder(StoredDocument)
_COUNT, _BOUNDS = struct.Struct("<I"), struct.Struct("<2I")


class TextsWriter:
    """Takes packed documents in the order of their numbers."""

    def __init__(self, file: ArrayFileWriter) -> None:
        self._blocks = file.stream("blocks", "u1")
        self._block_start = file.stream("block_start", "<i8")
        self._block_first = file.stream("block_first", "<u4")
        self._dictionary = file.stream("dictionary", "u1")
        self._block_bytes = BLOCK_BYTES
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._pending: list[bytes] = []  # documents of the next block
        self._pending_bytes = 0
        self._made: list[bytes] = []  # blocks that wait to be written
        self._frames: list[bytes] = []  # the same of single documents
        self._frame_bytes = 0
        self._starts: list[int] = []
        self._firsts: list[int] = []
        self._size = 0
        self._count = 0

    def learn(self, samples: Sequence[bytes]) -> None:
        """Make a dictionary of some documents, before the first is written; too few or too small ones make none."""
        if not samples:
            return
        try:
            made = zstandard.train_dictionary(DICTIONARY_BYTES, [one[:SAMPLE_BYTES] for one in samples], **COVER)
        except zstandard.ZstdError:
            return
        made.precompute_compress(level=LEVEL)
        self._dictionary.append(made.as_bytes())
        self._block_bytes = 0
        self._compressor = zstandard.ZstdCompressor(
            level=LEVEL, dict_data=made, write_checksum=True, write_dict_id=False
        )

    def extend(self, documents: Iterable[bytes | memoryview]) -> None:
        """The next documents; none of what was given is looked at afterwards."""
        if not self._block_bytes:
            for frame in map(self._compressor.compress, documents):
                self._frames.append(frame)
                self._frame_bytes += len(frame)
                if len(self._frames) == FRAMES_TOGETHER or self._frame_bytes >= BYTES_TOGETHER:
                    self._write_frames()
            self._write_frames()
            return
        for packed in documents:
            self._pending.append(bytes(packed))  # whose memory may be used for something else soon
            self._pending_bytes += len(packed)
            if self._pending_bytes >= self._block_bytes:
                self._make_block()

    def finish(self) -> None:
        if self._pending:
            self._make_block()
        self._begin_block()
        self._write()

    def _write_frames(self) -> None:
        """Documents that are blocks of their own."""
        frames, self._frames, self._frame_bytes = self._frames, [], 0
        if not frames:
            return
        starts = np.cumsum(np.fromiter(map(len, frames), np.int64, len(frames)))
        self._block_start.append(np.concatenate([[self._size], self._size + starts[:-1]]))
        self._blocks.append(b"".join(frames))
        self._size += int(starts[-1])
        self._count += len(frames)

    def _make_block(self) -> None:
        pending = self._pending
        made = self._compressor.compress(_joined(pending))
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
        if self._block_bytes:  # a frame is the block of the same number as its document
            self._block_first.append(np.array(self._firsts, np.int64))
        self._made, self._starts, self._firsts = [], [], []


class Texts:
    def __init__(self, file: ArrayFile) -> None:
        self._path = file.path
        self._blocks = file.array("blocks")
        self._block_start = file.array("block_start")
        self._block_first = file.array("block_first")
        dictionary = file.array("dictionary")  # empty where there is none
        self._single = len(dictionary) > 0  # every document is a frame
        self._dictionary = zstandard.ZstdCompressionDict(dictionary.tobytes()) if self._single else None
        self._count = len(self._block_start) - 1
        self._bytes, self._starts = self._blocks.data, self._block_start.data
        self._own = threading.local()
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def packed(self, number: int) -> bytes | memoryview:
        """The document as it was packed; ``Corrupt`` when its block is damaged."""
        if self._single:
            return self._raw(number)
        block = int(np.searchsorted(self._block_first, np.uint32(number), "right")) - 1
        return _cut(self._kept_raw(block), number - int(self._block_first[block]))

    def document(self, number: int) -> StoredDocument:
        return _DECODER.decode(self.packed(number))

    def all_packed(self) -> Iterator[bytes]:
        """All documents in order, one block in memory at a time."""
        if self._single:
            return map(self._raw, range(self._count))
        return (packed for block in range(self._count) for packed in self._block(block))

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
        try:
            decompressor = self._own.decompressor
        except AttributeError:  # one a thread: a decompressor must not be used by two at once
            decompressor = self._own.decompressor = zstandard.ZstdDecompressor(dict_data=self._dictionary)
        try:
            data = self._bytes[self._starts[block] : self._starts[block + 1]]
            raw: bytes = decompressor.decompress(data, max_output_size=MAX_BLOCK_BYTES)
        except zstandard.ZstdError as error:
            raise _failure(self._path, error) from error
        return raw


def _failure(path: Path, error: zstandard.ZstdError) -> Exception:
    """Why a block cannot be unpacked: it is damaged, or the library got no memory, which it says in the same way."""
    if "memory" in str(error):
        return MemoryError(f"{path}: {error}")
    return Corrupt(f"{path}: a block of stored text is damaged; rebuild the index", INDEX_PART)


def sampled(documents: int) -> range:
    """Places of the documents that the dictionary of a segment of so many is made from; none when these are few."""
    return range(0, documents if documents >= LEAST_SAMPLED else 0, max(1, documents // SAMPLES))


def _joined(documents: list[bytes]) -> bytes:
    """A block: how many documents, where each begins, where the last ends; then these."""
    ends = accumulate(map(len, documents), initial=0)
    return b"".join([struct.pack(f"<{len(documents) + 2}I", len(documents), *ends), *documents])


def _cut(raw: bytes, place: int) -> memoryview:
    """One document of a block, without a copy."""
    count, begin, end = *_COUNT.unpack_from(raw), *_BOUNDS.unpack_from(raw, 4 * (place + 1))
    base = 4 * (count + 2)
    return memoryview(raw)[base + begin : base + end]
