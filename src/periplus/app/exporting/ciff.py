"""The index in the Common Index File Format (CIFF 1), which PISA, Anserini, OldDog and others read.

One text a document, title and body, as plain BM25 counts it; a term is the stem of a word, or the word itself where it
has none. Postings are held in memory until they are written, 8 bytes each.
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING, Final

from periplus.app.exporting.postings import IndexedCollection, widest_terms
from periplus.errors import NotFound
from periplus.storage import LocalFiles
from periplus.text import STEM_MARK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    from periplus.app.collection import Collection

VERSION: Final = 1
_VARINT, _DOUBLE, _BYTES = 0, 1, 2  # kinds of fields in Protocol Buffers


def write_ciff(collection: Collection, target: Path, progress: Callable[[int], None] | None = None) -> int:
    """Write the published index to ``target``, whole or not at all; how many documents it has."""
    postings: dict[str, array[int]] = {}  # document, frequency, document …
    names: list[str] = []
    lengths = array("q")
    with IndexedCollection(collection) as index:
        if not index.documents:
            raise NotFound("the index has no documents; import or crawl something, then periplus index")
        for document in index:
            names.append(document.stored.id)
            lengths.append(document.length)
            text = " \n".join((document.stored.title, document.stored.text))
            wanted = set(widest_terms(text, document.stored.language))
            for term, count in zip(document.terms, document.text_counts().tolist(), strict=True):
                if count and term in wanted:
                    postings.setdefault(term, array("i")).extend((document.number, count))
            if progress is not None:
                progress(document.number + 1)
        average = index.average_length
    with LocalFiles(target.parent).create(target.name) as temporary, temporary.open("wb") as file:
        _delimited(file, _header(len(postings), len(names), sum(lengths), average))
        for term in sorted(postings, key=str.encode):
            _delimited(file, _list_of(term, postings[term]))
        for number, name in enumerate(names):
            _delimited(file, _record(number, name, lengths[number]))
    return len(names)


def _header(lists: int, documents: int, terms: int, average: float) -> bytes:
    told = "Periplus; stems; title and body as one text"
    numbers = enumerate((VERSION, lists, documents, lists, documents, terms), 1)
    return b"".join(
        [
            *(_number(field, value) for field, value in numbers),
            _key(7, _DOUBLE) + struct.pack("<d", average),
            _text(8, told),
        ]
    )


def _list_of(term: str, pairs: array[int]) -> bytes:
    counts = pairs[1::2]
    parts = [_text(1, term.removeprefix(STEM_MARK)), _number(2, len(counts)), _number(3, sum(counts))]
    before = 0
    for document, count in zip(pairs[::2], counts, strict=True):
        posting = _number(1, document - before) + _number(2, count)
        parts.append(_key(4, _BYTES) + varint(len(posting)) + posting)
        before = document
    return b"".join(parts)


def _record(number: int, name: str, length: int) -> bytes:
    return _number(1, number) + _text(2, name) + _number(3, length)


def _delimited(file: BinaryIO, message: bytes) -> None:
    file.write(varint(len(message)) + message)


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + varint(value) if value else b""


def _text(field: int, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return _key(field, _BYTES) + varint(len(data)) + data


def _key(field: int, kind: int) -> bytes:
    return varint(field << 3 | kind)


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    parts: list[int] = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
