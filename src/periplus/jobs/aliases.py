"""Aliases: addresses whose newest row in the log names another one as the page itself, by redirect or as canonical.

They are kept in a table that follows the log, batch by batch, so that the index step need not read the whole log to
know who points where. It is a function of the log: lost or never made, it is made again from the first batch on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from periplus import addresses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from periplus.documents import BatchLog
    from periplus.documents.spans import Span
    from periplus.storage import Database, Transaction

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

CANONICAL: Final = "canonical-elsewhere"
POINTING: Final = (CANONICAL, "redirected")
BATCHES_AT_ONCE: Final = 64  # in one transaction
_READ: Final = ("key", "refusal", "canonical", "content_hash", "word_count")
_MARK: Final = "aliases.batch"  # in meta: the last batch that the table knows, and how many rows it had then
_NAMES: Final = "key, target, target_host, is_page, body, batch"
_PUT: Final = (
    f"INSERT INTO aliases ({_NAMES}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"  # noqa: S608
    " target = excluded.target, target_host = excluded.target_host, is_page = excluded.is_page, body = excluded.body,"
    " batch = excluded.batch"
)
_RENUMBERED: Final = "SELECT 1 FROM aliases WHERE batch NOT IN (SELECT number FROM batches) LIMIT 1"
_PUT_MARK: Final = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class Aliases(NamedTuple):
    """All of them, in the order of their keys: 45 bytes each."""

    keys: Integers
    targets: Integers  # keys of the addresses that they name
    target_hosts: Integers
    is_page: Booleans  # has words of its own
    bodies: Integers  # hashes of bytes; 0 for none
    batches: Integers


class Told(NamedTuple):
    """The addresses of a few batches, in the order of their keys: 9 bytes each."""

    keys: Integers
    is_found: Booleans  # the newest row is a document to be found


class Newest(NamedTuple):
    """The addresses of some batches, a few batches at a time."""

    told: list[Told]  # a later one wins

    def look_up(self, keys: Integers) -> tuple[Booleans, Booleans]:
        """Which of ``keys`` are among them, and which of those are found."""
        known, is_found = np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.bool_)
        for told in self.told:
            places = np.minimum(np.searchsorted(told.keys, keys), len(told.keys) - 1)
            here = told.keys[places] == keys
            known |= here
            is_found[here] = told.is_found[places[here]]
        return known, is_found


class AliasTable:
    """The table ``aliases`` of one collection."""

    def __init__(self, database: Database, log: BatchLog) -> None:
        self._database = database
        self._log = log

    def follow(self, after: int, last: int) -> Newest:
        """Bring the table up to batch ``last``; the newest rows of the batches after ``after``."""
        mark = self._mark()
        numbers = [number for number in self._log.numbers(min(after, mark)) if number <= last]
        newest = Newest([])
        for start in range(0, len(numbers), BATCHES_AT_ONCE):
            part = numbers[start : start + BATCHES_AT_ONCE]
            tables = {number: self._log.document_table(number, _READ) for number in part}
            self._put({number: table for number, table in tables.items() if number > mark})
            newest.told.extend(_told([table for number, table in tables.items() if number > after]))
        return newest

    def forget(self) -> None:
        """Have the table made again from the first batch on."""
        with self._database.write() as tx:
            tx.execute("DELETE FROM meta WHERE key = ?", (_MARK,))

    def all(self) -> Aliases:
        with self._database.read() as tx:
            rows = tx.rows(f"SELECT {_NAMES} FROM aliases ORDER BY key")  # noqa: S608
        table = np.array(rows, np.int64).reshape(len(rows), len(Aliases._fields))
        keys, targets, hosts, is_page, bodies, batches = (np.ascontiguousarray(column) for column in table.T)
        return Aliases(keys, targets, hosts, is_page.astype(np.bool_), bodies, batches)

    def removed(self) -> tuple[Integers, Integers]:
        """Keys of the addresses and of the hosts that were taken down."""
        with self._database.read() as tx:
            targets = [str(target) for (target,) in tx.rows("SELECT target FROM removed")]
        urls = [addresses.key(target) for target in targets if "://" in target]
        hosts = [addresses.host_key(target) for target in targets if "://" not in target]
        return np.array(urls, np.int64), np.array(hosts, np.int64)

    def renumber(self, tx: Transaction, span: Span) -> None:
        """Follow a compaction, in its transaction: what these batches held is in the last of them now."""
        tx.execute("UPDATE aliases SET batch = ? WHERE batch >= ? AND batch < ?", (span.last, span.first, span.last))

    def _mark(self) -> int:
        """The last batch that the table knows; 0 when rows are missing or batches were renumbered: it is made again."""
        with self._database.read() as tx:
            mark = str(tx.value("SELECT value FROM meta WHERE key = ?", (_MARK,)) or "")
            if mark and mark.split()[1] == str(_count(tx)) and tx.value(_RENUMBERED) is None:
                return int(mark.split(maxsplit=1)[0])
        with self._database.write() as tx:
            tx.execute("DELETE FROM aliases")
        return 0

    def _put(self, tables: dict[int, pa.Table]) -> None:
        if not tables:
            return
        with self._database.write() as tx:
            for number, table in tables.items():
                _put_batch(tx, number, table)
            tx.execute(_PUT_MARK, (_MARK, f"{max(tables)} {_count(tx)}"))


def _count(tx: Transaction) -> int:
    return int(tx.value("SELECT COUNT(*) FROM aliases"))


def _put_batch(tx: Transaction, number: int, table: pa.Table) -> None:
    rows = zip(*(table.column(name).to_pylist() for name in _READ), strict=True)
    newest = {key: (refusal, canonical or "", body, words) for key, refusal, canonical, body, words in rows}
    naming = []
    for key, (refusal, canonical, body, words) in newest.items():
        if refusal in POINTING and canonical and addresses.key(canonical) != key:
            host = addresses.host_key(addresses.host(canonical))
            is_page = int(refusal == CANONICAL and bool(words))
            naming.append((key, addresses.key(canonical), host, is_page, body or 0, number))
    others = newest.keys() - {row[0] for row in naming}
    tx.executemany("DELETE FROM aliases WHERE key = ?", [(key,) for key in sorted(others)])
    tx.executemany(_PUT, naming)


def _told(tables: Sequence[pa.Table]) -> Iterator[Told]:
    """The last row of each key wins; nothing when there are no rows."""
    keys = [table.column("key").to_numpy() for table in tables if table.num_rows]
    if not keys:
        return
    found = [not refusal for table in tables for refusal in table.column("refusal").to_pylist()]
    unique, places = np.unique(np.concatenate(keys)[::-1], return_index=True)
    yield Told(unique, np.array(found[::-1], np.bool_)[places])
