"""Gathering: a batch of documents as a few large buffers, which kernels read, instead of many small texts.

Documents are packed as they will be stored, all in one call. The tokeniser reads titles, texts and descriptions where
they stand in there; behind them come the words of addresses, which a kernel writes, and the few texts that Python has
to make: headings, anchors, margins, addresses with escapes, and whatever NFKC changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from periplus.core.layout.documents import FIELD_BITS
from periplus.core.layout.word_tables import Spans
from periplus.errors import StorageError
from periplus.index.format.fields import address_table, further_pieces
from periplus.text import class_table, composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.records import Anchor, Document

PIECES = 5  # that a kernel finds in a document, at most
TAIL = 64  # bytes behind the texts, because kernels look at so many at once
SHORT_LIST, LONG_LIST = 16, 1 << 16  # values whose number takes one byte more, and four
FIRST_ROOM = 1 << 12

_ENCODER = msgspec.msgpack.Encoder()


class GatheredDocuments(NamedTuple):
    """A batch; all of it is valid until the next one is gathered."""

    spans: Spans
    owners: NDArray[np.int64]  # of each piece: its document in the batch, and its field
    packed: NDArray[np.uint8]  # the documents, one behind the other
    starts: NDArray[np.int64]  # where each begins in there, and the end


class _Cut(NamedTuple):
    """What a kernel found in packed documents."""

    owners: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    changing: NDArray[np.uint8]  # pieces that NFKC may change
    starts: NDArray[np.int64]
    others: NDArray[np.uint8]  # documents whose address is left to Python
    used: int  # bytes of the buffer


class Gatherer:
    """Keeps its memory from batch to batch."""

    def __init__(self) -> None:
        self._packed = bytearray()
        self._data = np.empty(FIRST_ROOM, np.uint8)

    def gather(
        self, documents: Sequence[Document], rows: Sequence[tuple[object, ...]], anchors: Mapping[int, Sequence[Anchor]]
    ) -> GatheredDocuments:
        """``rows`` are the documents as they are stored (``StoredDocument``), ``anchors`` those of some of them."""
        first = _list_head(len(documents))
        size, cut = self._cut(documents, rows, first)
        further = [
            (row << FIELD_BITS | field, text)
            for row in _with_more(documents, anchors, cut.others)
            for field, text in further_pieces(documents[row], anchors.get(row, ()), with_address=bool(cut.others[row]))
        ]
        data, owners, begin, end = self._data, cut.owners, cut.begin, cut.end
        changed = np.flatnonzero(cut.changing)
        texts = [data[begin[piece] : end[piece]].tobytes().decode() for piece in changed.tolist()]
        data, bounds = self._with_texts(cut.used, [*texts, *(text for _, text in further)])
        cuts = len(changed)
        begin[changed], end[changed] = bounds[:cuts], bounds[1 : cuts + 1] - 1
        if further:
            owners = np.concatenate([owners, np.array([owner for owner, _ in further], np.int64)])
            order = np.argsort(owners, kind="stable")
            begin = np.concatenate([begin, bounds[cuts:-1]])[order]
            end = np.concatenate([end, bounds[cuts + 1 :] - 1])[order]
            owners = owners[order]
        return GatheredDocuments(Spans(data, begin, end), owners, data[first:size], cut.starts - first)

    def _cut(self, documents: Sequence[Document], rows: Sequence[tuple[object, ...]], first: int) -> tuple[int, _Cut]:
        """Pack the documents into the buffer and find their texts; how many bytes they take."""
        from periplus.core.build import cut_documents

        _ENCODER.encode_into(rows, self._packed)
        size, count = len(self._packed), len(documents)
        data = self._room(size + sum([len(document.url) + 2 for document in documents]) + TAIL, 0)
        data[:size] = np.frombuffer(self._packed, np.uint8)
        starts, owners = np.empty(count + 1, np.int64), np.empty(PIECES * count, np.int64)
        begin, end = np.empty(PIECES * count, np.int64), np.empty(PIECES * count, np.int64)
        changing, others = np.empty(PIECES * count, np.uint8), np.empty(count, np.uint8)
        written = np.empty(1, np.int64)
        tables = (class_table(), address_table(), data[size:], starts, owners, begin, end, changing, others, written)
        pieces = cut_documents(data[:size], first, *tables)
        if pieces < 0:
            raise StorageError("documents were packed in another form than the index stores; report this as an error")
        found = (owners[:pieces], begin[:pieces], end[:pieces], changing[:pieces])
        return size, _Cut(*found, starts, others, size + int(written[0]))

    def _with_texts(self, used: int, texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The buffer with some texts behind what it has, normalised, a line each; where these begin, and the end."""
        encoded = [composed(text).encode("utf-8", "surrogatepass") for text in texts]
        bounds = np.full(len(encoded) + 1, used, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1, out=bounds[1:])
        bounds[1:] += used
        end = int(bounds[-1])
        data = self._room(end + TAIL, used)
        if encoded:
            data[used:end] = np.frombuffer(b"\n".join([*encoded, b""]), np.uint8)
        data[end : end + TAIL] = 0
        return data[: end + TAIL], bounds

    def _room(self, size: int, used: int) -> NDArray[np.uint8]:
        """So many bytes, the first of which stay as they are."""
        if len(self._data) < size:
            larger = np.empty(max(size, len(self._data) + len(self._data) // 4), np.uint8)
            larger[:used] = self._data[:used]
            self._data = larger
        return self._data


def _with_more(
    documents: Sequence[Document], anchors: Mapping[int, Sequence[Anchor]], others: NDArray[np.uint8]
) -> list[int]:
    """Which documents have texts that no kernel finds."""
    rows = {row for row, document in enumerate(documents) if document.headings or document.boilerplate}
    return sorted(rows | anchors.keys() | set(np.flatnonzero(others).tolist()))


def _list_head(count: int) -> int:
    """Bytes before the values of a packed list."""
    return 1 if count < SHORT_LIST else 3 if count < LONG_LIST else 5
