"""The log of batches: documents and their links in numbered Parquet files, and the table that says which count.

Invariants:

- A batch is visible only when its row in ``batches`` is committed, and then both of its files are whole on disk.
- Numbers are given in the order of commits, so a reader that asks for what came after the last one it saw misses none.
- On many machines the files of a batch are objects with names of their own, which its row gives. They are uploaded
  before the transaction, and nothing is renamed in it. Whoever reads a batch pulls what its machine lacks. A takedown
  or a compaction writes new objects and swaps the row, if it still names what was read.
- A crash leaves at most temporary files, or files under a number that no row has. A number whose files are there is
  passed over by the next append: no file is ever overwritten, whatever the table says.
- Files never change once visible, but for takedowns, which replace rows in place (``replace``).
- Small batches become one (``compaction``), under the last of their numbers and in files of its own: a reader at any
  number comes to the same state, since a later row wins over an earlier one.
- A later batch wins over an earlier one, a later row over an earlier row.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from periplus.documents import schema, spans
from periplus.errors import Corrupt, Missing, NotFound, SettingError, StorageBusy
from periplus.storage import FILES, Stored, note_change, remove_retired, retire
from periplus.storage.files import TEMPORARY_PREFIX
from periplus.storage.parquet import ADVICE, check_whole, damage_named, seal_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from periplus.documents.spans import Span
    from periplus.records import Document
    from periplus.storage import Database, Depot, LocalFiles, Transaction

_COUNTER: Final = "batches"
_ROW: Final = "number, first, documents_file, links_file"
STREAMED_TOGETHER: Final = 256  # documents that ``stream`` makes of a table at once
# Level 1: a seventh more bytes than level 3, for two thirds of the time. No dictionaries: what repeats, zstd finds too;
# they cost a seventh of the time to write and a third of that to read, and save nothing.
_PACKING: Final[dict[str, Any]] = {"compression": "zstd", "compression_level": 1, "write_page_checksum": True}


class BatchTables(NamedTuple):
    """A batch in memory."""

    documents: pa.Table
    links: pa.Table


class BatchObjects(Struct, frozen=True):
    """The files of a batch in an object store."""

    documents: Stored
    links: Stored

    @property
    def columns(self) -> tuple[str, str]:
        """As the row of the batch has them."""
        return self.documents.encode(), self.links.encode()

    @property
    def names(self) -> tuple[str, str]:
        return self.documents.name, self.links.name


NO_OBJECTS: Final = ("", "")  # in the row of a batch in numbered files


class BatchNames(NamedTuple):
    """The names of a batch's files in the folder."""

    documents: str
    links: str


class StagedBatch(Struct, frozen=True):
    """A batch that is whole on disk but does not count yet; any process that has the log may publish it."""

    documents_name: str
    links_name: str
    documents: int
    links: int
    objects: BatchObjects | None = None

    @property
    def columns(self) -> tuple[str, str]:
        return self.objects.columns if self.objects is not None else NO_OBJECTS


class BatchFiles:
    """Reads batches by number, and stages new ones; can be sent to another process."""

    def __init__(
        self,
        files: LocalFiles,
        firsts: Mapping[int, int] | None = None,
        depot: Depot | None = None,
        objects: Mapping[int, BatchObjects] | None = None,
    ) -> None:
        """``firsts``: of batches that were compacted, the first number that they hold.

        ``depot``: of a collection on many machines; ``objects`` are the files of its batches.
        """
        self._files = files
        self._depot = depot
        self._firsts = dict(firsts or {})
        self._objects = dict(objects or {})

    def only(self, *numbers: int) -> BatchFiles:
        """Reads these batches, and is small when it is sent to another process."""
        firsts = {number: self.first(number) for number in numbers}
        objects = {number: found for number in numbers if (found := self.objects_of(number)) is not None}
        return BatchFiles(self._files, firsts, self._depot, objects)

    def first(self, number: int) -> int:
        """The first number that a compacted batch holds; 0 for one as it was appended."""
        return self._firsts.get(number, 0)

    def span(self, number: int) -> Span:
        return spans.span(number, self.first(number))

    def documents(self, number: int, *, links: bool = False, fields: Sequence[str] | None = None) -> list[Document]:
        """The documents of a batch, refusals included; with their links when asked for.

        With ``fields``, only these are read, and all others have their defaults.
        """
        with damage_named(self.span(number).documents):
            return schema.documents_of(self.document_table(number, fields), self.links(number) if links else None)

    def stream(self, number: int, fields: Sequence[str]) -> Iterator[Document]:
        """These fields of the documents of a batch, one after another: few are in memory at once, beside the table."""
        table = self.document_table(number, fields)
        for first in range(0, table.num_rows, STREAMED_TOGETHER):
            with damage_named(self.span(number).documents):
                some = schema.documents_of(table.slice(first, STREAMED_TOGETHER))
            yield from some

    def document_table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Columns of the documents of a batch (all when none are named) as Arrow; nested fields are JSON."""
        return self._table(number, columns)

    def links(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The links of a batch: source_key, source, target, text, title, rel, place and the document's row."""
        return self._table(number, columns, links=True)

    def addresses(self, number: int) -> list[str]:
        """The addresses of a batch, in the order of its rows."""
        return [str(url) for url in self.document_table(number, ("url",)).column("url").to_pylist()]

    def size(self, number: int) -> int:
        """Bytes of the documents of a batch, as they are packed."""
        shared = self.objects_of(number)
        return shared.documents.bytes if shared is not None else self._files.size(self.span(number).documents)

    def objects_of(self, number: int) -> BatchObjects | None:
        """The files of a batch where they are objects."""
        self.first(number)  # looks at the table where that was not done yet
        return self._objects.get(number)

    def names_of(self, number: int) -> BatchNames:
        """The files of a batch."""
        shared = self.objects_of(number)
        under = self.span(number)
        return BatchNames(*shared.names) if shared is not None else BatchNames(under.documents, under.links)

    def stage(self, tables: BatchTables) -> StagedBatch:
        """Write a batch durably, for ``BatchLog.publish`` or ``discard``."""
        names = BatchNames(*map(self._new_name, spans.FOLDERS))
        try:
            for name, table in zip(names, tables, strict=True):
                self._write(name, table)
            objects = BatchObjects(*map(self._depot.push, names)) if self._depot is not None else None
        except BaseException:
            self._remove(*names)
            raise
        return StagedBatch(names.documents, names.links, tables.documents.num_rows, tables.links.num_rows, objects)

    def discard(self, staged: StagedBatch) -> None:
        """Remove what was staged, as far as it was not published."""
        self._remove(staged.documents_name, staged.links_name)
        if self._depot is not None and staged.objects is not None:
            for name in staged.objects.names:
                self._depot.objects.remove(name)

    def _table(self, number: int, columns: Sequence[str] | None, *, links: bool = False) -> pa.Table:
        """A copy of an object that is damaged here is had from the store once more."""
        name = self._pulled(number, links=links)[links]
        try:
            return self._read(name, columns)
        except Corrupt:
            if self._depot is None or self.objects_of(number) is None:
                raise
            self._depot.drop(name)
        return self._read(self._pulled(number, links=links)[links], columns)

    def _pulled(self, number: int, *, links: bool = False) -> BatchNames:
        """The files of a batch, one of which is to be read now."""
        shared = self.objects_of(number)
        if shared is not None:
            if self._depot is None:
                raise SettingError(
                    f"batch {number} is in an object store; say in storage.files where that is", "storage.files"
                )
            self._depot.pull(shared.links if links else shared.documents)
        return self.names_of(number)

    def _remove(self, *names: str) -> None:
        for name in names:
            with suppress(NotFound):
                self._files.remove(name)

    def _new_name(self, folder: str) -> str:
        """Of a file that is moved into place later, or is an object under the same name."""
        if self._depot is not None:
            return f"{folder}/{uuid4().hex}.parquet"
        return f"{folder}/{TEMPORARY_PREFIX}{os.getpid()}-{secrets.token_hex(6)}.parquet"

    def _write(self, name: str, table: pa.Table) -> None:
        """The table in a file, durable."""
        with self._files.create(name) as path:
            pq.write_table(table, path, use_dictionary=False, write_statistics=False, **_PACKING)
            seal_file(path)

    def _read(self, name: str, columns: Sequence[str] | None) -> pa.Table:
        try:
            data = self._files.read(name)
        except NotFound as error:
            raise Missing(f"{name} is missing; {ADVICE}") from error
        check_whole(name, data)
        with damage_named(name):
            # One thread: Arrow's pool can abort an interpreter that exits soon after, and batches are small.
            file = pq.ParquetFile(pa.BufferReader(data))
            return file.read(columns=list(columns) if columns is not None else None, use_threads=False)


class BatchLog(BatchFiles):
    """Appends batches and reads them back; may be used from many threads and processes."""

    def __init__(self, files: LocalFiles, database: Database, depot: Depot | None = None) -> None:
        super().__init__(files, depot=depot)
        self._database = database
        self._left_out: frozenset[int] = frozenset()

    @property
    def depot(self) -> Depot | None:
        """Of a collection on many machines."""
        return self._depot

    @property
    def reader(self) -> BatchFiles:
        """Reads the same batches without the database."""
        return BatchFiles(self._files, self._firsts, self._depot, self._objects)

    def first(self, number: int) -> int:
        if number not in self._firsts:
            self.numbers()
        return super().first(number)

    def document_table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Columns of the documents of a batch, or of the one that holds it since it was compacted."""
        try:
            return super().document_table(number, columns)
        except NotFound:
            return self._held(number).document_table(self.holder(number), columns)

    def links(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The links of a batch, or of the one that holds it since it was compacted."""
        try:
            return super().links(number, columns)
        except NotFound:
            return self._held(number).links(self.holder(number), columns)

    def holder(self, number: int) -> int:
        """The batch that holds what was appended under a number: itself, or what it was compacted into."""
        sql = f"SELECT {_ROW} FROM batches WHERE number >= ? ORDER BY number LIMIT 1"  # noqa: S608
        with self._database.read() as transaction:
            found = transaction.row(sql, (number,))
        if found is None or (found[0] != number and not 0 < found[1] <= number):
            return number
        return self._learnt(found)

    def _learnt(self, row: tuple[Any, ...]) -> int:
        """Take over what a row of the table says of a batch; its number."""
        number, first, documents, links = row
        self._firsts[number] = first
        if documents:
            self._objects[number] = BatchObjects(Stored.decode(documents), Stored.decode(links))
        else:
            self._objects.pop(number, None)
        return int(number)

    def _held(self, number: int) -> BatchFiles:
        """The files as the table says now."""
        holder = self.holder(number)
        return self.reader.only(holder)

    def append(self, documents: Sequence[Document], also: Callable[[Transaction, int], None] | None = None) -> int:
        """Write a batch durably and make it visible; its number.

        ``also`` joins the transaction that makes it visible; when it raises, there is no batch.
        """
        return self.publish(self.stage(tables_of(list(documents))), also)

    def publish(
        self, staged: StagedBatch, also: Callable[[Transaction, int], None] | None = None, *, source: str = ""
    ) -> int:
        """Make a staged batch visible; its number. When that fails, nothing of it is left.

        ``source`` says what an import read it from.
        """
        try:
            with self._database.write() as transaction:
                number = self._free_number(transaction)
                with self.placed(staged, spans.span(number)):
                    transaction.execute(
                        "INSERT INTO batches (number, documents, links, created, source, documents_file, links_file)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (number, staged.documents, staged.links, time.time(), source, *staged.columns),
                    )
                    if also is not None:
                        also(transaction, number)
        except BaseException:
            self.discard_unplaced(staged)
            raise
        return number

    def _free_number(self, transaction: Transaction) -> int:
        """The next number that no file has: a crash may have left some, or the table may be older than the files."""
        while True:
            number = transaction.next_number(_COUNTER)
            if self._depot is not None:
                return number  # names of objects are not numbers
            free = spans.span(number)
            if not any(map(self._files.exists, (free.documents, free.links))):
                return number

    @contextmanager
    def placed(self, staged: StagedBatch, under: Span) -> Iterator[None]:
        """The files under their numbers. What fails before the commit takes them away; a commit in doubt does not."""
        placed = []
        if staged.objects is not None:
            with self._discarded_on_failure(staged):
                yield
            return
        try:
            for name, target in ((staged.documents_name, under.documents), (staged.links_name, under.links)):
                self._move(name, target, new=True)
                placed.append(target)
            yield
        except BaseException:
            for target in placed:
                self._files.remove(target)
            raise

    @contextmanager
    def _discarded_on_failure(self, staged: StagedBatch) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.discard(staged)
            raise

    def discard_unplaced(self, staged: StagedBatch) -> None:
        """After a failure: an object may be named by a commit that is in doubt, and is swept later if it is not."""
        if staged.objects is None:
            self.discard(staged)

    def numbers(self, after: int = 0) -> list[int]:
        """Numbers of the batches after ``after``, in order."""
        sql = f"SELECT {_ROW} FROM batches WHERE number > ? ORDER BY number"  # noqa: S608
        with self._database.read() as transaction:
            known = [self._learnt(row) for row in transaction.rows(sql, (after,))]
        return [number for number in known if number not in self._left_out]

    def leave_out(self, numbers: Collection[int]) -> None:
        """Do not list these batches; for a step that goes on without what is damaged."""
        self._left_out = frozenset(numbers)

    def forget_merged(self) -> None:
        """Remove files whose batches were compacted, at once: a takedown must leave nothing behind."""
        from periplus.documents.compaction import sweep

        sweep(self._files, self._database, older=0, depot=self._depot)

    def replace(self, number: int, rows: Mapping[int, Document]) -> None:
        """Put other documents in the place of these rows, and empty their links; for takedowns.

        Each file is replaced as a whole. Numbers of rows and of links stay, as others keep them beside the batch:
        an emptied link leads from its page to itself.
        """
        before, texts = self.objects_of(number), self.document_table(number)
        order = list(range(texts.num_rows))
        for place, row in enumerate(rows):
            order[row] = texts.num_rows + place
        joined = pa.concat_tables([texts, schema.documents_table(list(rows.values()))], promote_options="default")
        documents, links = joined.select(texts.column_names).take(order), _emptied(self.links(number), rows)
        if before is not None:
            self._swap(number, before, BatchTables(documents, links))
            return
        with self._staged("links", links) as staged:
            self._move(staged, self.span(number).links)  # first: whoever looks if all is done looks at the documents
        with self._staged("documents", documents) as staged:
            self._move(staged, self.span(number).documents)

    def empty(self, number: int, *, documents: bool = True) -> bool:
        """Put an empty batch in the place of a damaged one, or only empty links; whether its documents were kept."""
        before, tables = self.objects_of(number), tables_of(())
        if before is not None:
            self._swap(number, before, tables if documents else BatchTables(self.document_table(number), tables.links))
        else:
            with self._staged("links", tables.links) as staged:
                self._move(staged, self.span(number).links)
            if documents:
                with self._staged("documents", tables.documents) as staged:
                    self._move(staged, self.span(number).documents)
        with self._database.write() as transaction:
            sql = "UPDATE batches SET links = 0, documents = CASE WHEN ? = 1 THEN 0 ELSE documents END WHERE number = ?"
            transaction.execute(sql, (int(documents), number))
        return not documents

    def _swap(self, number: int, before: BatchObjects, tables: BatchTables) -> None:
        """New objects for old ones, which go at once."""
        assert self._depot is not None
        staged = self.stage(tables)
        sql = "UPDATE batches SET documents_file = ?, links_file = ? WHERE number = ? AND documents_file = ?"
        with self._database.write() as tx, self._discarded_on_failure(staged):
            if tx.execute(sql, (*staged.columns, number, before.columns[0])) != 1:
                raise StorageBusy(f"another process changed batch {number} meanwhile; do it again")
            retire(tx, before.names)
            note_change(tx, FILES)
        self.holder(number)
        remove_retired(self._database, self._depot, older=0)

    # Files

    @contextmanager
    def _staged(self, folder: str, table: pa.Table) -> Iterator[str]:
        """The table in a temporary file, durably; removed unless it was moved away."""
        name = self._new_name(folder)
        self._write(name, table)
        try:
            yield name
        finally:
            self._remove(name)

    def _move(self, name: str, target: str, *, new: bool = False) -> None:
        with self._files.create(target, new=new) as path:
            self._files.path(name).replace(path)


def tables_of(documents: Sequence[Document]) -> BatchTables:
    return BatchTables(schema.documents_table(documents), schema.links_table(documents))


def _emptied(links: pa.Table, rows: Mapping[int, Document]) -> pa.Table:
    import pyarrow.compute as pc  # a tenth of a second, which no crawl should pay for

    gone = pc.is_in(links.column("row"), pa.array(list(rows), pa.int32()))
    emptied = {"target": links.column("source"), "text": pa.scalar(""), "title": pa.scalar("")}
    for name, value in emptied.items():
        place = links.schema.get_field_index(name)
        links = links.set_column(place, links.schema.field(name), pc.if_else(gone, value, links.column(name)))
    return links
