"""Builder: documents → one segment, in bounded memory.

Texts are collected, cut into words by a kernel some megabytes at a time, and kept as streams of word numbers until
``write`` inverts them, a run of terms at a time. Within the builder a later document replaces an earlier one with the
same key.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.analysis import class_table, composed
from periplus.index.columns import ColumnRow, ColumnTable
from periplus.index.fields import PIECE_GAP, add_pieces
from periplus.index.inversion import MAX_POSITIONS, POSITION_BITS, Inversion, Pieces, Scratch, first_positions
from periplus.index.query import FIELDS
from periplus.index.segment import SegmentWriter
from periplus.index.stored import StoredDocument, identifier, place_of
from periplus.index.texts import pack, sampled
from periplus.index.vocabulary import Vocabulary, are_unsettled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.segment import SegmentHeader
    from periplus.index.stored import Place
    from periplus.records import Anchor, Document

WORD_BYTES = 8  # memory a word of the stream takes until it is written
ROW_BYTES = 1_500  # memory a document takes beside its words and text
PENDING_CHARACTERS = 1 << 20  # of text that is cut into words at once
VOCABULARY_SHARE = 0.3  # of the memory, that words and terms may take when a segment is begun
FIELD_COUNT = len(FIELDS)
FIELD_BITS = 3


class SegmentBuilder:
    def __init__(self, vocabulary: Vocabulary | None = None, scratch: Scratch | None = None) -> None:
        """``vocabulary`` of a builder before this one spares the search for forms that it knows already."""
        self._vocabulary = vocabulary or Vocabulary()
        self._scratch = scratch or Scratch()
        self._pending = _Pending(0)
        self._streams: list[NDArray[np.uint32]] = []
        self._addresses: list[NDArray[np.int64]] = []  # where in these the words of each piece begin
        self._words = 0
        self._kept_bytes = 0  # streams and vocabulary, once some were cut
        self._counts: list[NDArray[np.uint32]] = []  # words by piece
        self._pieces: list[NDArray[np.uint32]] = []  # rows (document, field)
        self._piece_count = 0
        self._rows: list[ColumnRow] = []
        self._packed: list[bytes] = []
        self._packed_bytes = 0
        self._current: dict[int, int] = {}  # key → the row that counts

    def __len__(self) -> int:
        return len(self._current)

    @property
    def memory(self) -> int:
        """About how many bytes the documents take up now; more than there are when the positions of a segment end."""
        if self._words + (PIECE_GAP + 1) * self._piece_count + FIELD_COUNT * len(self._rows) > MAX_POSITIONS // 2:
            return sys.maxsize
        return self._kept_bytes + self._packed_bytes + 3 * self._pending.size + ROW_BYTES * len(self._rows)

    def add(self, document: Document, anchors: Sequence[Anchor] = (), place: Place | None = None) -> None:
        number = len(self._rows)
        place = place or place_of(document)
        self._pending.add(number, self._vocabulary.language(document.language), document, anchors)
        packed = pack(stored_document(document, place))
        self._packed.append(packed)
        self._packed_bytes += len(packed)
        self._current[document.key] = number
        self._rows.append(
            ColumnRow(
                document.key,
                place.page_key,
                place.host,
                place.site,
                document.language,
                document.content_type,
                document.published,
                document.fetched,
                place.order,
                document.id,
            )
        )
        if self._pending.size >= PENDING_CHARACTERS:
            self._cut_pending()

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

    def write(self, folder: Path, epoch: Epoch) -> SegmentHeader:
        """Write the segment; the builder is of no use afterwards."""
        kept = self._in_order()
        writer = SegmentWriter(folder, len(kept), epoch)
        try:
            writer.texts.learn([self._packed[kept[place]] for place in sampled(len(kept))])
            writer.texts.extend(map(self._packed.__getitem__, kept))
            self._packed.clear()
            rows = [self._rows[row] for row in kept]
            largest, lengths, starts = self._write_postings(writer, kept, epoch)
            return writer.finish(ColumnTable.of(rows, largest, lengths, starts))
        except BaseException:
            writer.abort()
            raise
        finally:
            self._rows.clear()
            give_memory_back()

    def _in_order(self) -> list[int]:
        """Rows that count, by address, and by key where one address has several: strings alone sort fastest."""
        rows = self._rows
        kept = sorted(self._current.values(), key=[row.key for row in rows].__getitem__)
        kept.sort(key=[row.order for row in rows].__getitem__)
        return kept

    def _cut_pending(self) -> None:
        """Cut what was collected into words."""
        pending, self._pending = self._pending, _Pending(len(self._rows))
        if pending.texts:
            pieces, languages = pending.tables()
            stream, counts = self._vocabulary.numbers(pending.encoded(), languages)
            self._streams.append(stream)
            self._words += len(stream)
            ends = np.cumsum(counts, dtype=np.int64)
            self._addresses.append(stream.ctypes.data + stream.itemsize * (ends - counts))
            self._counts.append(counts)
            self._piece_count += len(counts)
            self._pieces.append(pieces)
            self._kept_bytes = WORD_BYTES * self._words + self._vocabulary.memory

    def _layout(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """Lengths and first positions by document and field; the first position of each piece."""
        from periplus.index.kernels.building import place_pieces

        self._cut_pending()
        lengths = np.zeros((len(self._rows), FIELD_COUNT), np.uint32)
        starts = np.zeros((len(self._rows), FIELD_COUNT + 1), np.uint32)
        counts, pieces = _joined(self._counts), _joined(self._pieces)
        positions = np.empty(len(counts), np.uint32)
        place_pieces(pieces, counts, PIECE_GAP, lengths.reshape(-1), starts.reshape(-1), positions)
        self._counts, self._pieces = [counts], [pieces]
        return lengths, starts, positions

    def _write_postings(
        self, writer: SegmentWriter, kept: list[int], epoch: Epoch
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        lengths, starts, positions = self._layout()
        terms, forms = self._vocabulary.sorted()
        lengths, starts = lengths[kept], starts[kept]
        order, documents = self._ordered_pieces(kept)
        bases = first_positions(starts)
        positions += bases[documents] + (self._pieces[0][1::2] << POSITION_BITS)
        pieces = Pieces(order, _joined(self._addresses, np.int64), self._counts[0], positions, documents, *forms)
        inversion = Inversion(pieces, bases, lengths, epoch, self._scratch)
        inversion.write(writer, terms)
        self._streams.clear()
        return inversion.largest, lengths, starts

    def _ordered_pieces(self, kept: list[int]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Pieces in the order of the new numbers of their documents, without those that were replaced."""
        new = np.full(len(self._rows), -1, np.int64)
        new[kept] = np.arange(len(kept))
        documents = new[self._pieces[0][::2]]
        order = np.argsort(documents, kind="stable").astype(np.int64)
        order = order[documents[order] >= 0]
        return order, np.where(documents < 0, 0, documents).astype(np.uint32)


class _Pending:
    """Texts that wait to be cut into words."""

    def __init__(self, first: int) -> None:
        self.texts: list[str] = []
        self.size = 0  # characters
        self._first = first  # number of the first document
        self._owners: list[int] = []  # of each text: number of the document and field
        self._languages: list[int] = []  # of each document

    def add(self, number: int, language: int, document: Document, anchors: Sequence[Anchor]) -> None:
        before = len(self.texts)
        self._languages.append(language)
        add_pieces(document, anchors, number << FIELD_BITS, self.texts, self._owners)
        self.size += sum(map(len, self.texts[before:]))

    def encoded(self) -> list[bytes]:
        """The texts as the tokeniser takes them: NFKC in UTF-8."""
        encoded = [_utf8(text) for text in self.texts]
        foreign = [row for row, text in enumerate(self.texts) if not text.isascii()]
        for row, unsettled in zip(foreign, are_unsettled([encoded[row] for row in foreign]), strict=True):
            if unsettled:
                encoded[row] = _utf8(composed(self.texts[row]))
        return encoded

    def tables(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Document and field of each text, one after the other; and the number of its language."""
        owners = np.array(self._owners, np.int64)
        numbers = owners >> FIELD_BITS
        pieces = np.stack([numbers, owners & ((1 << FIELD_BITS) - 1)], axis=1).astype(np.uint32)
        return pieces.reshape(-1), np.array(self._languages, np.uint32)[numbers - self._first]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _joined(parts: list[NDArray[Any]], kind: type[np.generic] = np.uint32) -> NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, kind)


def stored_document(document: Document, place: Place) -> StoredDocument:
    return StoredDocument(
        document.url,
        identifier(document),
        document.title,
        document.description,
        document.text,
        document.headings,
        document.language,
        document.content_type,
        document.published,
        document.fetched,
        place.host,
        place.site,
        document.author,
        document.noarchive,
    )


def load_kernels() -> None:
    """Everything that building needs, so that copies of this process need not load it again."""
    from periplus.index.kernels import building, forms, lookup, positions, spellings, tokens
    from periplus.index.kernels.compiler import Kernel

    class_table()
    for module in (building, forms, lookup, positions, spellings, tokens):
        for value in vars(module).values():
            if isinstance(value, Kernel):
                value.compile()


def give_memory_back() -> None:
    """Let the system have what was freed in the middle of the heap; else every segment would begin where one ended."""
    with suppress(AttributeError, OSError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
