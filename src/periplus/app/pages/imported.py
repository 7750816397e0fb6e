"""Pages that came by import: in which batch an address is, from where, and what it became there.

The address table knows nothing of imports, so the addresses of their batches are read, newest first: about a
millisecond a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import addresses
from periplus.documents import BatchLog
from periplus.errors import Corrupt, NotFound, NotReady, StorageError
from periplus.reasons import REASONS, sentence
from periplus.records import Document, StepRecord

if TYPE_CHECKING:
    from periplus.app.collection import Collection

NOT_ASKED = "not asked of imports"


class Imported(Struct, frozen=True):
    """One address in the newest batch of an import that has it."""

    document: Document
    batch: int
    at: float
    source: str  # what the import was told to read; empty where it is not known any more

    def steps(self) -> list[StepRecord]:
        """Its way to the log of batches, in the stops of a crawl."""
        page = self.document
        came = f"imported from {self.source}" if self.source else "imported"
        return [
            StepRecord("discovered", "ok", detail=came, at=self.at),
            *(StepRecord(name, "ok", detail=NOT_ASKED) for name in ("scope", "robots", "queue")),
            StepRecord("fetch", "ok", detail=NOT_ASKED, at=page.fetched),
            self.parsed(),
        ]

    def parsed(self) -> StepRecord:
        came = f"batch {self.batch}, imported from {self.source}" if self.source else f"batch {self.batch}"
        refusal = self.document.refusal
        if not refusal:
            return StepRecord("parse", "ok", detail=came, at=self.at)
        known = REASONS.get(refusal)
        detail = self.document.canonical or f"{sentence(refusal)}; {came}"
        return StepRecord("parse", "refused", refusal, detail, known.advice if known else "", self.at)


def find_imported(collection: Collection, url: str) -> Imported | None:
    """The newest row of an address among the batches of imports."""
    log = BatchLog(collection.files, collection.database, collection.depot)
    for number, at, source in _batches(collection, url):
        try:
            rows = [row for row, stored in enumerate(log.addresses(number)) if stored == url]
            if rows:
                return Imported(log.documents(number)[rows[-1]], number, at, source)
        except (Corrupt, NotFound):
            continue  # doctor names it
    return None


def _batches(collection: Collection, url: str) -> list[tuple[int, float, str]]:
    """Batches of imports, newest first; all batches where a page is found and nobody knows which were."""
    with collection.database.read() as tx:
        rows = tx.rows("SELECT number, created, source FROM batches ORDER BY number DESC")
    imports = [(int(number), float(at), str(source)) for number, at, source in rows if source]
    if imports or not _is_found(collection, url):
        return imports
    return [(int(number), float(at), "") for number, at, _ in rows]


def _is_found(collection: Collection, url: str) -> bool:
    try:
        return collection.engine.holds(addresses.key(url))
    except (NotReady, StorageError):
        return False
