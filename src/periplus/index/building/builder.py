"""Builder: documents → one segment a shard, in bounded memory.

Documents are collected, packed and cut into words by kernels some hundreds at a time, and kept as streams of word
numbers until ``write`` inverts them, a run of terms at a time. Within the builder a later document replaces an earlier
one with the same key.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from periplus.addresses import site
from periplus.core.layout.documents import FIELD_BITS
from periplus.core.layout.streams import MAX_POSITIONS, POSITION_BITS, Pieces
from periplus.errors import StorageError
from periplus.index.building.arena import PackedDocuments
from periplus.index.building.gathering import Gatherer
from periplus.index.building.inversion import Inversion, Scratch, first_positions
from periplus.index.building.own_title import with_own_title
from periplus.index.building.sharding import shards_of
from periplus.index.building.vocabulary import Vocabulary
from periplus.index.format.columns import Collected, ColumnTable
from periplus.index.format.fields import FIELDS, PIECE_GAP
from periplus.index.format.segment import SegmentWriter
from periplus.index.format.texts import SAMPLE_BYTES, sampled
from periplus.text import class_table, letter_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.building.vocabulary import SortedTerms, WordForms
    from periplus.index.format.norms import Epoch
    from periplus.records import Anchor, Document

WORD_BYTES = 8  # memory a word of the stream takes until it is written
ROW_BYTES = 500  # memory a document takes beside its words and text
WAITING_CHARACTERS = 1 << 20  # of text that is cut into words at once
WAITING_DOCUMENTS = 2_048
WAITING_BYTES = 3  # memory that a character of it takes
VOCABULARY_SHARE = 0.3  # of the memory, that words and terms may take when a segment is begun
FIELD_COUNT = len(FIELDS)
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
KEPT_FREE_BYTES, USUAL_FREE_BYTES = 1 << 28, 1 << 23  # at the end of the heap, while documents are taken and else
APART_BYTES, USUAL_APART_BYTES = 1 << 25, 1 << 20  # from which on memory is asked from the system by itself; the same


class LaidOutTexts(NamedTuple):
    """All texts of a builder by document, field and piece, and its terms in their order."""

    lengths: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    terms: SortedTerms
    forms: WordForms


class SegmentBuilder:
    def __init__(self, vocabulary: Vocabulary | None = None, scratch: Scratch | None = None) -> None:
        """``vocabulary`` of a builder before this one spares the search for forms that it knows already."""
        self._vocabulary = vocabulary or Vocabulary()
        self._scratch = scratch or Scratch()
        self._gatherer = Gatherer()
        self._is_torn = False  # documents could not be packed
        self._waiting: list[Document] = []  # not yet cut into words
        self._waiting_anchors: dict[int, Sequence[Anchor]] = {}  # by their places among those
        self._waiting_size = 0  # characters
        self._addresses: list[NDArray[np.int64]] = []  # where the words of each piece begin
        self._words = 0
        self._streams: list[NDArray[np.uint32]] = []
        self._counts: list[NDArray[np.uint32]] = []  # words by piece
        self._pieces: list[NDArray[np.uint32]] = []  # rows (document, field)
        self._piece_count = 0
        self._columns = Collected()
        self._packed = PackedDocuments(self._scratch.packed)
        self._kept_bytes = 0  # of everything that was cut into words
        self._count = 0
        self._current: dict[int, int] = {}  # key → the row that counts

    def __len__(self) -> int:
        return len(self._current)

    @property
    def memory(self) -> int:
        """About how many bytes the documents take up now; more than there are when the positions of a segment end."""
        return self._kept_bytes + WAITING_BYTES * self._waiting_size + ROW_BYTES * self._count

    def add(self, document: Document, anchors: Sequence[Anchor] = ()) -> None:
        if anchors:
            self._waiting_anchors[len(self._waiting)] = anchors
        from periplus.documents import with_picture_texts  # parsers, which a search need not load

        self._waiting.append(with_picture_texts(with_own_title(document)))
        self._current[document.key] = self._count
        self._count += 1
        self._waiting_size += len(document.text) + len(document.boilerplate)  # by far the most of it
        if self._waiting_size >= WAITING_CHARACTERS or len(self._waiting) >= WAITING_DOCUMENTS:
            self._cut_waiting()

    def successor(self, memory: int) -> SegmentBuilder:
        """A builder for the next segment, with the same vocabulary unless that takes too much of ``memory``."""
        is_small = self._vocabulary.memory <= VOCABULARY_SHARE * memory
        return SegmentBuilder(self._vocabulary if is_small else None, self._scratch)

    def discard(self, key: int) -> None:
        self._current.pop(key, None)

    def field_totals(self) -> NDArray[np.float64]:
        """Tokens by field, over all documents that count."""
        lengths = self._layout()[0]
        totals: NDArray[np.float64] = lengths[list(self._current.values())].sum(axis=0, dtype=np.float64)
        return totals

    def write(self, folders: Sequence[Path], epoch: Epoch) -> list[str]:
        """Write a segment for each shard that has documents, and the names of these; empty for a shard without any.

        There are as many shards as folders. The builder is of no use afterwards.
        """
        self._cut_waiting()
        if self._is_torn:
            raise StorageError("some documents could not be packed before: begin a new segment")
        rows = self._columns.in_order(self._current.values())
        shards = shards_of(self._columns.keys(rows), len(folders)).tolist() if len(folders) > 1 else [0] * len(rows)
        by_shard: list[list[int]] = [[] for _ in folders]
        for row, shard in zip(rows, shards, strict=True):
            by_shard[shard].append(row)
        last = max(shards, default=0)
        try:
            texts = LaidOutTexts(*self._layout(), *self._vocabulary.sorted()) if len(folders) > 1 else None
            return [
                self._write_segment(folder, kept, epoch, texts, is_last=shard == last) if kept else ""
                for shard, (folder, kept) in enumerate(zip(folders, by_shard, strict=True))
            ]
        finally:
            self._streams.clear()
            self._scratch.clear()

    def _write_segment(
        self, folder: Path, kept: list[int], epoch: Epoch, texts: LaidOutTexts | None, *, is_last: bool
    ) -> str:
        """Some documents; the memory of the last ones is used for turning them round."""
        writer = SegmentWriter(folder, len(kept), epoch)
        try:
            samples = self._packed.some([kept[place] for place in sampled(len(kept))])
            writer.texts.learn([bytes(one[:SAMPLE_BYTES]) for one in samples])
            writer.texts.extend(self._packed.some(kept))
            if is_last:
                self._packed.clear()
            texts = texts or LaidOutTexts(*self._layout(), *self._vocabulary.sorted())
            largest, lengths, starts = self._write_postings(writer, kept, epoch, texts)
            writer.finish(ColumnTable.of(self._columns, kept, largest, lengths, starts))
        except BaseException:
            writer.abort()
            raise
        return folder.name

    def _cut_waiting(self) -> None:
        """Pack the documents that wait, and cut them into words."""
        documents, anchors, first = self._waiting, self._waiting_anchors, len(self._columns)
        self._waiting, self._waiting_anchors, self._waiting_size = [], {}, 0
        if not documents:
            return
        keep_memory()
        try:
            batch = self._gatherer.gather(documents, self._columns.extend(documents), anchors)
        except BaseException:
            self._is_torn = True  # columns have them, and nothing else does
            raise
        self._packed.extend(batch.packed, batch.starts)
        rows = batch.owners >> FIELD_BITS
        languages = np.array([self._vocabulary.language(document.language) for document in documents], np.uint32)
        words, counts = self._vocabulary.numbers(batch.spans, languages[rows])
        stream = self._scratch.words.keep(words)
        self._streams.append(stream)
        self._words += len(stream)
        ends = np.cumsum(counts, dtype=np.int64)
        self._addresses.append(stream.ctypes.data + stream.itemsize * (ends - counts))
        self._counts.append(counts)
        self._piece_count += len(counts)
        pieces = np.stack([first + rows, batch.owners & ((1 << FIELD_BITS) - 1)], axis=1)
        self._pieces.append(pieces.astype(np.uint32).reshape(-1))
        self._kept_bytes = WORD_BYTES * self._words + self._vocabulary.memory + self._packed.size
        if self._words + (PIECE_GAP + 1) * self._piece_count + FIELD_COUNT * self._count > MAX_POSITIONS // 2:
            self._kept_bytes = sys.maxsize

    def _layout(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """Lengths and first positions by document and field; the first position of each piece."""
        from periplus.core.build import place_pieces

        self._cut_waiting()
        lengths = np.zeros((self._count, FIELD_COUNT), np.uint32)
        starts = np.zeros((self._count, FIELD_COUNT + 1), np.uint32)
        counts, pieces = _joined(self._counts), _joined(self._pieces)
        positions = np.empty(len(counts), np.uint32)
        place_pieces(pieces, counts, PIECE_GAP, lengths.reshape(-1), starts.reshape(-1), positions)
        self._counts, self._pieces = [counts], [pieces]
        return lengths, starts, positions

    def _write_postings(
        self, writer: SegmentWriter, kept: list[int], epoch: Epoch, texts: LaidOutTexts
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        lengths, starts = texts.lengths[kept], texts.starts[kept]
        order, documents = self._ordered_pieces(kept)
        bases = first_positions(starts)
        positions = texts.positions + bases[documents] + (self._pieces[0][1::2] << POSITION_BITS)
        pieces = Pieces(order, _joined(self._addresses, np.int64), self._counts[0], positions, documents, *texts.forms)
        inversion = Inversion(pieces, bases, lengths, epoch, self._scratch)
        inversion.write(writer, texts.terms)
        return inversion.largest, lengths, starts

    def _ordered_pieces(self, kept: list[int]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Pieces in the order of the new numbers of their documents, without those that were replaced."""
        new = np.full(self._count, -1, np.int64)
        new[kept] = np.arange(len(kept))
        documents = new[self._pieces[0][::2]]
        order = np.argsort(documents, kind="stable").astype(np.int64)
        order = order[documents[order] >= 0]
        return order, np.where(documents < 0, 0, documents).astype(np.uint32)


def _joined(parts: list[NDArray[Any]], kind: type[np.generic] = np.uint32) -> NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, kind)


def load_kernels() -> None:
    """Everything that building needs, so that copies of this process need not load it again."""
    from periplus.core import build
    from periplus.core import format as segment_format
    from periplus.core.compiler import Kernel

    class_table()
    letter_table()
    site("a.test")  # reads the rules of public suffixes
    for package in (build, segment_format):
        for value in vars(package).values():
            if isinstance(value, Kernel):
                value.load()


def keep_memory() -> None:
    """Let this process keep what it frees until ``give_memory_back``: what every batch takes is cleared only once."""
    _set_malloc(KEPT_FREE_BYTES, APART_BYTES)


def give_memory_back() -> None:
    """Let the system have what was freed, from now on at once."""
    _set_malloc(USUAL_FREE_BYTES, USUAL_APART_BYTES)
    with suppress(AttributeError, OSError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def _set_malloc(kept: int, apart: int) -> None:
    with suppress(AttributeError, OSError):  # another C library than glibc
        library = ctypes.CDLL(None)
        library.mallopt(M_TRIM_THRESHOLD, kept)
        library.mallopt(M_MMAP_THRESHOLD, apart)
