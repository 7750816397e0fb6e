"""Segment: an immutable folder of mapped files with everything about a set of documents, in address order.

segment.json   counts, epoch, length and seal of every file; checksummed
terms.bin      dictionary
postings.bin   lists with impacts and window tables
positions.bin  positions of every posting
columns.bin    arrays by document number
texts.bin      stored documents in compressed blocks
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from periplus.errors import INDEX_PART, Corrupt, Incompatible, Missing, Truncated
from periplus.index.format.columns import Columns
from periplus.index.format.dictionary import Dictionary, DictionaryWriter
from periplus.index.format.files import (
    FORMAT,
    READABLE,
    ArrayFile,
    ArrayFileWriter,
    read_whole,
    write_atomically,
)
from periplus.index.format.norms import Epoch, field_factors
from periplus.index.format.positions import Positions, PositionsWriter
from periplus.index.format.postings import Postings, PostingsWriter
from periplus.index.format.texts import Texts, TextsWriter
from periplus.storage import sync

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.format.columns import ColumnSource
    from periplus.index.format.dictionary import JoinedTerms

HEADER = "segment.json"
KINDS = {"terms": "TERM", "postings": "POST", "positions": "POSI", "columns": "COLS", "texts": "TEXT"}


class SegmentHeader(Struct, frozen=True):
    documents: int
    terms: int
    postings: int
    epoch: int
    files: dict[str, int]
    format: int = FORMAT
    seals: dict[str, int] = {}  # of the files; segments of earlier versions have none


class SegmentWriter:
    """Writes a segment beside its final place; ``finish`` moves it there, whole."""

    def __init__(self, folder: Path, documents: int, epoch: Epoch) -> None:
        self._folder = folder
        self._temporary = folder.with_name(f"{folder.name}.tmp")
        shutil.rmtree(self._temporary, ignore_errors=True)
        self._temporary.mkdir(parents=True)
        self._documents = documents
        self._epoch = epoch
        self._terms = 0
        self._files = {name: ArrayFileWriter(self._path(name), kind) for name, kind in KINDS.items()}
        self.dictionary = DictionaryWriter(self._files["terms"])
        self.postings = PostingsWriter(self._files["postings"], documents)
        self.positions = PositionsWriter(self._files["positions"])
        self.texts = TextsWriter(self._files["texts"])

    def append_terms(
        self,
        terms: JoinedTerms,
        frequency: NDArray[np.uint32],
        documents: NDArray[np.uint32],
        impacts: NDArray[np.uint8],
    ) -> None:
        """The next terms in byte order, with their postings."""
        self._terms += len(terms.ends)
        self.dictionary.append(terms)
        self.postings.append(frequency, documents, impacts)

    def append_positions(self, counts: NDArray[np.uint32], steps: NDArray[np.uint32]) -> None:
        """Positions of the next postings, as ``PositionsWriter`` takes them; these may be of part of a term."""
        self.positions.append(counts, steps)

    def finish(self, columns: ColumnSource) -> SegmentHeader:
        self.texts.finish()
        columns.write(self._files["columns"])
        self.dictionary.finish()
        postings = self.postings.finish()
        self.positions.finish()
        closed = {f"{name}.bin": file.close() for name, file in self._files.items()}
        lengths = {name: one.length for name, one in closed.items()}
        seals = {name: one.seal for name, one in closed.items()}
        header = SegmentHeader(self._documents, self._terms, postings, self._epoch.number, lengths, seals=seals)
        write_atomically(self._temporary / HEADER, _sealed(header))
        self._temporary.rename(self._folder)
        sync(self._folder.parent)
        return header

    def abort(self) -> None:
        for file in self._files.values():
            file.abort()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self._temporary / f"{name}.bin"


class Segment:
    """An open segment; immutable and safe to share between threads."""

    def __init__(self, folder: Path, seal: str = "") -> None:
        """``seal`` is the one that its header must have; empty where none was kept."""
        self.folder = folder
        self.name = folder.name
        self.header, self.seal = sealed_header(folder)
        if seal and seal != self.seal:
            raise Corrupt(f"{folder / HEADER} is of another segment; rebuild the index", INDEX_PART)
        for name, length in self.header.files.items():
            _check_length(folder / name, length)
        self.documents = self.header.documents
        terms = self.header.terms
        self._maps: list[ArrayFile] = []
        self.dictionary = Dictionary(self._file("terms"))
        self.postings = Postings(self._file("postings"), self.documents, terms)
        self.positions = Positions(self._file("positions"), len(self.postings.place))
        self.columns = Columns(self._file("columns"), self.documents)
        # Blocks of text carry checksums of their own and are compared when they are read.
        self.texts = Texts(self._file("texts", unchecked=("blocks",)))
        if len(self.dictionary) != terms:
            raise Corrupt(f"{folder}: the dictionary has {len(self.dictionary)} terms instead of {terms}", INDEX_PART)

    def field_tables(self, epoch: Epoch) -> tuple[NDArray[np.uint32], NDArray[np.float64], float]:
        """Where fields lie and what an occurrence is worth, as kernels take them."""
        factors = field_factors(epoch, self.columns.lengths)
        return self.columns.starts, np.ascontiguousarray(factors).reshape(-1), epoch.k1

    def verify(self) -> None:
        """Compare every byte that carries a checksum, those of stored texts too; ``Corrupt`` when one is wrong."""
        for file in self._maps:
            file.verify()

    def rest(self) -> None:
        """Keep nothing of the files in this process's memory until it is asked for again; the system may still."""
        for file in self._maps:
            file.rest()

    def _file(self, name: str, unchecked: tuple[str, ...] = ()) -> ArrayFile:
        file = f"{name}.bin"
        seal = self.header.seals.get(file, 0)
        self._maps.append(ArrayFile(self.folder / file, KINDS[name], unchecked=unchecked, seal=seal))
        return self._maps[-1]


def read_header(folder: Path) -> SegmentHeader:
    return sealed_header(folder)[0]


def sealed_header(folder: Path) -> tuple[SegmentHeader, str]:
    """The header of a segment and its seal."""
    path = folder / HEADER
    head, _, body = read_whole(path).partition(b"\n")
    seal = head.decode("ascii", "replace")
    if seal != xxh3_64_hexdigest(body):
        raise Corrupt(f"{path} does not match its checksum; rebuild the index", INDEX_PART)
    fields = msgspec.json.decode(body)
    if fields.get("format") not in READABLE:
        raise Incompatible(f"{path} has format {fields.get('format')}, this version reads {FORMAT}; rebuild the index")
    return msgspec.convert(fields, SegmentHeader), seal


def _sealed(header: SegmentHeader) -> bytes:
    body = msgspec.json.encode(header)
    return xxh3_64_hexdigest(body).encode() + b"\n" + body


def _check_length(path: Path, length: int) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise Missing(f"{path} is missing; rebuild the index", INDEX_PART) from error
    if size < length:
        raise Truncated(f"{path} has {size} bytes instead of {length}; rebuild the index", INDEX_PART)
