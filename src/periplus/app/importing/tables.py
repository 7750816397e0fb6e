"""Parquet files: read here in bounded portions of rows, which others turn into records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus.app.importing.items import BadRecord, FilePortion, Line, bad, record_of
from periplus.app.importing.opening import ask_for
from periplus.errors import Corrupt, Incompatible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa
    import pyarrow.parquet as pq

    from periplus.app.importing.items import Entry
    from periplus.app.importing.opening import Opener
    from periplus.app.importing.sizes import Sizes

SUFFIX: Final = ".parquet"
PORTION: Final = 32_000_000  # bytes of a portion, or one row
LONGEST_ROW: Final = 100_000_000  # bytes; its text would not be read, which has 64 MiB at most
_COLUMNS: Final = ("id", "url", "title", "text")
_NAMED: Final = 20  # columns of a table that has others
_TEXTS: Final = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
_NUMBERS: Final = ("int", "uint", "float", "double", "halffloat")


class PackedRows(FilePortion, frozen=True):
    """Rows of a table, packed as Arrow does; the first of them has the number ``first``."""

    file: str
    first: int
    count: int
    data: bytes
    moment: float

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, f"rows {self.first} to {self.first + self.count - 1}"

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        import pyarrow as pa

        with pa.ipc.open_stream(self.data) as stream:
            rows = (row for batch in stream for row in _rows(batch))
            for number, row in enumerate(rows, self.first):
                yield _entry(row, self.file, number, self.moment)


class LostRows(FilePortion, frozen=True):
    """Rows that cannot be read."""

    file: str
    first: int
    rows: int
    what: str
    reason: str = "damaged"
    count: int = 1
    size: int = 0

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        place = f"rows {self.first} to {self.first + self.rows - 1}" if self.rows > 1 else f"row {self.first}"
        yield bad(self.file, place, self.what, self.reason)


def check(path: Path, opened: Opener) -> None:
    """Raise what is wrong with a table that holds no records."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with ask_for(opened, path) as file, pq.ParquetFile(file) as table:
            schema = table.schema_arrow
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # names of columns are texts
        raise Corrupt(f"{path} cannot be read as Parquet: {_one_line(error)}") from error
    if "text" not in schema.names or not {"id", "url"} & set(schema.names):
        named = ", ".join(schema.names[:_NAMED]) or "none"
        raise Incompatible(f"{path}: rows need a column text, and id or url; there are {named}")
    for name in _COLUMNS:
        if name in schema.names and not _is_fit(schema.field(name).type, may_be_number=name == "id"):
            raise Incompatible(f"{path}: the column {name} holds {schema.field(name).type}, not text; convert it first")


def _is_fit(kind: pa.DataType, *, may_be_number: bool) -> bool:
    import pyarrow as pa

    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    name = str(kind)
    return name in _TEXTS or (may_be_number and name.startswith(_NUMBERS))


def portions(path: Path, opened: Opener, sizes: Sizes) -> Iterator[PackedRows | LostRows]:
    """The rows of a file, row group by row group: where one is damaged, the next one is read."""
    import pyarrow.parquet as pq

    with ask_for(opened, path) as file, pq.ParquetFile(file, page_checksum_verification=True) as table:
        reading = _PortionReader(table, str(path), file, sizes.rows)
        for group in range(table.num_row_groups):
            yield from reading.group(group)
        yield from reading.rest()


class _PortionReader:
    """Joins rows of small groups to portions."""

    def __init__(self, table: pq.ParquetFile, name: str, file: BinaryIO, rows: int) -> None:
        self._table = table
        self._file = name
        self._rows = rows
        self._moment = os.fstat(file.fileno()).st_mtime
        self._columns = [name for name in _COLUMNS if name in table.schema_arrow.names]
        self._batches: list[pa.RecordBatch] = []
        self._count = self._size = 0  # rows of them, and bytes
        self._next = 1  # the row that follows them

    def group(self, group: int) -> Iterator[PackedRows | LostRows]:
        import pyarrow as pa

        end = self._next + self._table.metadata.row_group(group).num_rows
        try:
            for batch in self._table.iter_batches(
                self._rows, row_groups=[group], columns=self._columns, use_threads=False
            ):
                yield from self._take(batch)
        except (pa.ArrowException, OSError) as error:
            yield from self.rest()
            yield LostRows(self._file, self._next, end - self._next, f"a row group cannot be read: {_one_line(error)}")
            self._next = end

    def rest(self) -> Iterator[PackedRows]:
        import pyarrow as pa

        if not self._count:
            return
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._batches[0].schema) as stream:
            for batch in self._batches:
                stream.write_batch(batch)
        data = sink.getvalue().to_pybytes()
        yield PackedRows(self._file, self._next - self._count, self._count, data, self._moment)
        self._batches, self._count, self._size = [], 0, 0

    def _take(self, batch: pa.RecordBatch) -> Iterator[PackedRows | LostRows]:
        """Add rows to those that wait; many bytes become several portions."""
        half = batch.num_rows // 2
        if half and batch.nbytes > PORTION:
            yield from self._take(batch.slice(0, half))
            yield from self._take(batch.slice(half))
            return
        if self._count + batch.num_rows > self._rows or self._size + batch.nbytes > PORTION:
            yield from self.rest()
        if batch.nbytes > LONGEST_ROW:
            yield LostRows(self._file, self._next, 1, f"longer than {LONGEST_ROW} bytes", "too-large")
        else:
            self._batches.append(batch)
            self._count += batch.num_rows
            self._size += batch.nbytes
        self._next += batch.num_rows


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Rows with texts as bytes: one that is no UTF-8 is to cost its row, and not all of them."""
    columns = [_as_bytes(column).to_pylist() for column in batch.columns]
    for values in zip(*columns, strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


def _as_bytes(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return column.cast(kinds.get(column.type, column.type))


def _entry(row: dict[str, Any], file: str, number: int, moment: float) -> Entry:
    try:
        given = {name: value.decode() if isinstance(value, bytes) else value for name, value in row.items()}
        return record_of(msgspec.convert(given, Line), moment)
    except (BadRecord, msgspec.ValidationError) as error:
        return bad(file, f"row {number}", str(error))
    except UnicodeDecodeError:
        return bad(file, f"row {number}", "bytes that are no UTF-8")


def _one_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
