"""Every address that the crawl knows, for other programs: as Arrow tables, some thousands of rows at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from periplus.crawl.frontier.rows import NEVER, STATE_NAMES
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from periplus.storage import Database

ROWS = 20_000
_COLUMNS = "url state reason refusal status depth found_at tried_at fetched_at next_at visits changes file place length"
_TIMES = ("found_at", "tried_at", "fetched_at", "next_at")


def page_tables(database: Database) -> Iterator[pa.Table]:
    """Addresses with their state, reason, visits, and where in the archive the last response is."""
    names = _COLUMNS.split()
    with database.read() as transaction:
        rows = transaction.stream(f"SELECT {', '.join(names)} FROM urls ORDER BY host, key")  # noqa: S608 - names of ours
        while part := list(islice(rows, ROWS)):
            yield _table(dict(zip(names, zip(*part, strict=True), strict=True)))


def page_starts(database: Database) -> list[tuple[int, int]]:
    """Host and key of every ``ROWS``-th address, from the first on."""
    with database.read() as transaction:
        rows = transaction.stream("SELECT host, key FROM urls ORDER BY host, key")
        return [(int(host), int(key)) for host, key in islice(rows, 0, None, ROWS)]


def page_part(database: Database, first: tuple[int, int], end: tuple[int, int]) -> pa.Table:
    """The addresses from a host and key on, up to but without those of ``end``; as ``page_tables`` has them."""
    names = _COLUMNS.split()
    asked = f"SELECT {', '.join(names)} FROM urls WHERE (host, key) >= (?, ?) AND (host, key) < (?, ?)"  # noqa: S608
    with database.read() as transaction:
        rows = transaction.rows(f"{asked} ORDER BY host, key", (*first, *end))
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return _table(dict(zip(names, columns, strict=True)))


def archived_places(database: Database, is_wanted: Callable[[str], bool]) -> Iterator[ArchiveLocation]:
    """Where the archive has the last response of each address that is wanted, file by file."""
    with database.read() as transaction:
        rows = transaction.stream("SELECT url, file, place, length FROM urls WHERE length > 0 ORDER BY file, place")
        for url, file, place, length in rows:
            if is_wanted(str(url)):
                yield ArchiveLocation(str(file), int(place), int(length))


def _table(columns: dict[str, tuple[object, ...]]) -> pa.Table:
    import pyarrow as pa

    whole = ("status", "depth", "visits", "changes", "place", "length")
    kinds = dict.fromkeys(whole, pa.int64()) | dict.fromkeys(_TIMES, pa.timestamp("ms", "UTC"))
    columns |= {"state": tuple(STATE_NAMES[int(str(state))] for state in columns["state"])}
    columns |= {name: tuple(_milliseconds(float(str(at))) for at in columns[name]) for name in _TIMES}
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()})


def _milliseconds(at: float) -> int | None:
    """None for what has not been, or never will be."""
    return int(at * 1000) if 0 < at < NEVER else None
