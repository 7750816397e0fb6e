"""Which batches are damaged: files that do not match their checksums, each other, or what the state says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.errors import Corrupt, PeriplusError

if TYPE_CHECKING:
    from typing import Any

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress
    from periplus.documents import BatchLog


class DamagedBatch(Struct, frozen=True):
    number: int
    error: str
    has_documents: bool  # they are whole, and only its links are not


def damaged_batches(collection: Collection, tell: Progress) -> list[DamagedBatch]:
    from periplus.documents import BatchLog

    log = BatchLog(collection.files, collection.database, collection.depot)
    with collection.database.read() as tx:
        rows = tx.rows("SELECT number, documents, links FROM batches ORDER BY number")
    found = []
    for number, documents, links in rows:
        tell(int(number), "documents")
        one = _examined(log, int(number), int(documents), int(links))
        if one is not None:
            found.append(one)
    return found


def _examined(log: BatchLog, number: int, documents: int, links: int) -> DamagedBatch | None:
    has_documents = False
    try:
        texts = log.document_table(number)
        _compare(f"documents of batch {number}", texts.num_rows, documents)
        log.documents(number)
        has_documents = True
        table = log.links(number)
        _compare(f"links of batch {number}", table.num_rows, links)
        if not _belong(texts, table):
            has_documents = False
            raise Corrupt(f"documents and links of batch {number} are not of one batch")
    except PeriplusError as error:
        return DamagedBatch(number, str(error), has_documents)
    return None


def _compare(what: str, rows: int, stated: int) -> None:
    if rows != stated:
        raise Corrupt(f"{what}: {rows:,} rows are stored, {stated:,} were")


def _belong(texts: Any, links: Any) -> bool:
    """Whether each link names the key of the document in whose row it says it is."""
    keys = np.asarray(texts.column("key").to_numpy(), np.int64)
    rows = np.asarray(links.column("row").to_numpy(), np.int64)
    if not len(rows):
        return True
    if rows.min() < 0 or rows.max() >= len(keys):
        return False
    return bool((keys[rows] == np.asarray(links.column("source_key").to_numpy(), np.int64)).all())
