"""Builder: documents → one segment, in bounded memory.

Documents are kept as streams of word numbers until ``write`` inverts them, a run of terms at a time. Within the
builder a later document replaces an earlier one with the same key.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from periplus.index.columns import ColumnRow, ColumnTable
from periplus.index.fields import PIECE_GAP, field_pieces
from periplus.index.norms import field_factors
from periplus.index.query import FIELDS
from periplus.index.segment import SegmentWriter
from periplus.index.stored import StoredDocument, identifier, place_of
from periplus.index.texts import pack
from periplus.index.vocabulary import Vocabulary, counts_as_word

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.index.segment import SegmentHeader
    from periplus.records import Anchor, Document

WORD_BYTES = 12  # memory a word of the stream takes until it is written
ENTRY_BYTES = 250  # memory an entry of the vocabulary takes
ROW_BYTES = 1_500  # memory a document takes beside its words and text
RUN_OCCURRENCES = 4_000_000  # occurrences that are inverted at once


class SegmentBuilder:
    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._stream = array("I")
        self._piece_start = array("q", [0])
        self._piece_document = array("I")
        self._piece_position = array("I")
        self._rows: list[ColumnRow] = []
        self._packed: list[bytes] = []
        self._packed_bytes = 0
        self._current: dict[int, int] = {}  # key → the row that counts

    def __len__(self) -> int:
        return len(self._current)

    @property
    def memory(self) -> int:
        """About how many bytes the documents take up now."""
        return (
            self._packed_bytes
            + WORD_BYTES * len(self._stream)
            + ENTRY_BYTES * self._vocabulary.size
            + ROW_BYTES * len(self._rows)
        )

    def add(self, document: Document, anchors: Sequence[Anchor] = ()) -> None:
        number = len(self._rows)
        lengths, starts = self._add_fields(number, document, anchors)
        place = place_of(document)
        packed = pack(stored_document(document))
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
                lengths,
                starts,
            )
        )

    def discard(self, key: int) -> None:
        self._current.pop(key, None)

    def field_totals(self) -> NDArray[np.float64]:
        """Tokens by field, over all documents that count."""
        totals = np.zeros(len(FIELDS))
        for row in self._current.values():
            totals += self._rows[row].lengths
        return totals

    def write(self, folder: Path, epoch: Epoch) -> SegmentHeader:
        """Write the segment; the builder is of no use afterwards."""
        kept = sorted(self._current.values(), key=lambda row: (self._rows[row].order, self._rows[row].key))
        writer = SegmentWriter(folder, len(kept), epoch)
        try:
            for row in kept:
                writer.texts.append(self._packed[row])
            self._packed.clear()
            rows = [self._rows[row] for row in kept]
            largest = self._write_postings(writer, kept, rows, epoch)
            return writer.finish(ColumnTable.of(rows, largest))
        except BaseException:
            writer.abort()
            raise

    def _add_fields(
        self, number: int, document: Document, anchors: Sequence[Anchor]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        lengths, starts, position = [], [], 0
        for pieces in field_pieces(document, anchors):
            starts.append(position)
            length = 0
            for piece in pieces:
                words = self._vocabulary.numbers(piece, document.language)
                self._stream.extend(words)
                self._piece_start.append(len(self._stream))
                self._piece_document.append(number)
                self._piece_position.append(position)
                position += len(words) + PIECE_GAP
                length += len(words)
            position += 1  # an empty field is a range of its own, too
            lengths.append(length)
        return tuple(lengths), (*starts, position)

    def _write_postings(
        self, writer: SegmentWriter, kept: list[int], rows: list[ColumnRow], epoch: Epoch
    ) -> NDArray[np.uint32]:
        terms, form_start, forms = self._vocabulary.sorted()
        inversion = _Inversion(
            np.array(self._stream, np.uint32),
            form_start,
            forms,
            *self._ordered_pieces(kept),
            np.array([row.starts for row in rows], np.uint32).reshape(-1),
            np.array([row.lengths for row in rows], np.uint32).reshape(-1, len(FIELDS)),
            epoch,
        )
        for low, high in inversion.runs(len(terms)):
            inversion.write_run(writer, terms[low:high], low, high)
        return inversion.largest

    def _ordered_pieces(
        self, kept: list[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Pieces in the order of the new numbers of their documents, without those that were replaced."""
        new = np.full(len(self._rows), -1, np.int64)
        new[kept] = np.arange(len(kept))
        documents = new[np.array(self._piece_document, np.int64)]
        order = np.argsort(documents, kind="stable").astype(np.int64)
        order = order[documents[order] >= 0]
        return (
            order,
            np.array(self._piece_start, np.int64),
            np.where(documents < 0, 0, documents).astype(np.uint32),
            np.array(self._piece_position, np.uint32),
        )


class _Inversion:
    """The occurrences of the builder, turned round by kernels."""

    def __init__(
        self,
        stream: NDArray[np.uint32],
        form_start: NDArray[np.int64],
        forms: NDArray[np.uint32],
        order: NDArray[np.int64],
        piece_start: NDArray[np.int64],
        piece_document: NDArray[np.uint32],
        piece_position: NDArray[np.uint32],
        starts: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        epoch: Epoch,
    ) -> None:
        self._pieces = (stream, order, piece_start, piece_document, piece_position, form_start, forms)
        self._starts = starts
        self._factors = field_factors(epoch, lengths).reshape(-1)
        self._k1 = epoch.k1
        self.largest = np.zeros(len(lengths), np.uint32)
        self._counts = np.zeros(0, np.int64)

    def runs(self, terms: int) -> list[tuple[int, int]]:
        """Ranges of terms with a bounded number of occurrences each."""
        from periplus.index.kernels.building import count_terms

        stream, _, _, _, _, form_start, forms = self._pieces
        self._counts = np.zeros(terms, np.int64)
        count_terms(stream, form_start, forms, self._counts)
        return bounded_runs(self._counts, RUN_OCCURRENCES)

    def write_run(self, writer: SegmentWriter, terms: list[bytes], low: int, high: int) -> None:
        from periplus.index.kernels.building import encode, scatter

        start = np.zeros(high - low + 1, np.int64)
        np.cumsum(self._counts[low:high], out=start[1:])
        size = int(start[-1])
        documents, positions = np.empty(size, np.uint32), np.empty(size, np.uint32)
        cursor = start[:-1].copy()
        scatter(*self._pieces, low, high, cursor, documents, positions)
        # Words of replaced documents were counted but not scattered: close the gaps they leave.
        if not np.array_equal(cursor, start[1:]):
            documents, positions, start = _without_gaps(documents, positions, start, cursor)
        self._encode_run(encode, writer, terms, start, documents, positions)

    def _encode_run(
        self,
        encode: object,
        writer: SegmentWriter,
        terms: list[bytes],
        start: NDArray[np.int64],
        documents: NDArray[np.uint32],
        positions: NDArray[np.uint32],
    ) -> None:
        size = len(documents)
        frequency = np.zeros(len(terms), np.uint32)
        found, impacts, sizes = np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint32)
        data, totals = np.empty(10 * size, np.uint8), np.zeros(2, np.int64)
        encode(  # type: ignore[operator]
            start,
            documents,
            positions,
            self._starts,
            self._factors,
            self._k1,
            counts_as_word(terms),
            frequency,
            found,
            impacts,
            sizes,
            data,
            self.largest,
            totals,
        )
        postings, length = totals.tolist()
        present = frequency > 0
        writer.append_terms(
            [term for term, there in zip(terms, present.tolist(), strict=True) if there],
            frequency[present],
            found[:postings],
            impacts[:postings],
            sizes[:postings],
            data[:length],
        )


def bounded_runs(counts: NDArray[np.int64], limit: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose counts add up to at most ``limit`` (or that hold a single entry)."""
    ends = np.cumsum(counts)
    runs, low = [], 0
    while low < len(counts):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + limit, "right")))
        runs.append((low, high))
        low = high
    return runs


def _without_gaps(
    documents: NDArray[np.uint32],
    positions: NDArray[np.uint32],
    start: NDArray[np.int64],
    cursor: NDArray[np.int64],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    used = cursor - start[:-1]
    index = np.arange(len(documents)) - np.repeat(start[:-1], np.diff(start))
    kept = index < np.repeat(used, np.diff(start))
    return documents[kept], positions[kept], np.concatenate([[0], np.cumsum(used)]).astype(np.int64)


def stored_document(document: Document) -> StoredDocument:
    place = place_of(document)
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
