"""Every address that the crawl knows, for other programs: as Arrow tables, some thousands of rows at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from periplus.crawl.rows import NEVER, STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

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
