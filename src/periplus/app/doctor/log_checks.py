"""Do the rows of the state and the files of the log agree? Batches without rows, and archive files that lost their end.

Rows without files are found with the damaged batches (``jobs.damage``). A file without a row is what an interrupted
write leaves behind, and its number is passed over; but a state that is older than the files looks the same. So nothing
of it is ever thrown away: ``doctor --repair`` takes in what is whole, and sets aside what is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from periplus import archive
from periplus.app.findings import Finding
from periplus.crawl.keeping.takedown import recall
from periplus.documents import BatchLog, spans
from periplus.documents.batches import BatchFiles
from periplus.errors import Corrupt, PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress
    from periplus.documents.spans import Span

ARCHIVE = "archive"
ASIDE = "damaged"
MOST = 1 << 62  # more bytes than any file has
_COUNTER = "SELECT value FROM counters WHERE name = 'batches'"
_ADOPTED = "INSERT INTO batches (number, first, documents, links, created) VALUES (?, ?, ?, ?, ?)"
_FORGET = (  # where the lost records were; pages that still wait for a document are asked for again by the next crawl
    "UPDATE urls SET file = '', place = 0, length = 0 WHERE file = ? AND place + length > ? AND pending = 0"
)


class ShortArchive(Struct, frozen=True):
    """An archive file that is shorter than the state knows it."""

    file: str
    known: int
    size: int  # -1: it is missing


def log(collection: Collection, _: Progress) -> Iterator[Finding]:
    """Whether rows and files agree; of a state that stands in for the lost one there is nothing to compare."""
    if collection.notice:
        return
    found = strays(collection)
    lost = lost_records(collection)
    if found:
        some = f"{len(found):,} batches without a row ({next(iter(found)).documents} …)"
        detail = f"{some}: left by an interrupted write, or newer than the state"
        yield Finding("log", "warning", detail, "periplus doctor --repair takes in what is whole")
    for one in lost:
        how = "is missing" if one.size < 0 else f"ends at {one.size:,}"
        advice = "restore it from a backup, or periplus doctor --repair forgets what is lost"
        detail = f"{ARCHIVE}/{one.file} {how}, the state knows {one.known:,} bytes of it"
        yield Finding("log", "failed", detail, advice)
    if not found and not lost:
        yield Finding("log", "ok", "rows and files agree")


def strays(collection: Collection) -> dict[Span, frozenset[str]]:
    """Batches that are stored and that no row holds; compacted ones are removed by the next compaction."""
    with collection.database.read() as tx:
        rows = [spans.span(number, first) for number, first in tx.rows("SELECT number, first FROM batches")]
    cover = spans.covered_by(rows)
    stored = spans.stored(collection.files).items()
    return {one: folders for one, folders in stored if one.first == one.last and cover(one) is None}


def lost_records(collection: Collection) -> list[ShortArchive]:
    with collection.database.read() as tx:
        marks = [(str(file), int(place)) for file, place in tx.rows("SELECT file, place FROM archive_marks")]
    found = []
    for file, place in sorted(marks):
        path = collection.folder / ARCHIVE / file
        size = _extent(path)
        if size < place:
            found.append(ShortArchive(file, place, size))
    return found


def _extent(path: Path) -> int:
    """Up to where a file has the records that it had; of one that cannot be told, the check of the archive tells."""
    try:
        return archive.extent(path)
    except FileNotFoundError:
        return -1
    except Corrupt:
        return MOST


def mend_log(collection: Collection) -> Iterator[Finding]:
    """Take in batches without a row, and forget where records were that are lost."""
    found = strays(collection)
    adopted = [one.last for one, folders in found.items() if _adopt(collection, one, folders)]
    if adopted:
        numbers = ", ".join(map(str, adopted))
        yield Finding("log", "mended", f"taken in: batches {numbers}, which had no row")
    if adopted and _has_passed(collection, adopted[0]):
        collection.index(rebuild=True)
        yield Finding("index", "mended", "built again, with batches that it had passed over")
    aside = len(found) - len(adopted)
    if aside:
        yield Finding("log", "mended", f"{aside:,} torn batches without a row are set aside in {ASIDE}/")
    for one in lost_records(collection):
        with collection.database.write() as tx:
            tx.execute(_FORGET, (one.file, max(one.size, 0)))
            if one.size < 0:
                tx.execute("DELETE FROM archive_marks WHERE file = ?", (one.file,))
            else:
                tx.execute("UPDATE archive_marks SET place = ? WHERE file = ?", (one.size, one.file))
        yield Finding("log", "mended", f"{ARCHIVE}/{one.file}: what is lost is forgotten; stored documents are kept")


def _adopt(collection: Collection, one: Span, folders: frozenset[str]) -> bool:
    """Give a batch its row, or set its files aside where it is not whole; taken-down pages are emptied in it."""
    files, database = collection.files, collection.database
    try:
        documents = BatchFiles(files).documents(one.last, links=True)
    except PeriplusError:
        for folder in sorted(folders):
            name = one.documents if folder == "documents" else one.links
            files.write(f"{ASIDE}/{name}", files.read(name))
            files.remove(name)
        return False
    made = files.path(one.documents).stat().st_mtime
    links = sum(len(document.links) for document in documents)
    with database.write() as tx:
        tx.rows(f"{_COUNTER}{tx.row_lock}")  # no other batch is published now
        if tx.value("SELECT 1 FROM batches WHERE number = ?", (one.last,)):
            return True  # it was just being published
        tx.execute(_ADOPTED, (one.last, 0, len(documents), links, made))
        tx.execute("UPDATE counters SET value = ? WHERE name = 'batches' AND value < ?", (one.last, one.last))
    recall(database, collection.folder, BatchLog(files, database), one.last, documents)
    return True


def _has_passed(collection: Collection, number: int) -> bool:
    """Whether the index has taken in later batches."""
    try:
        manifest = collection.stores.index.manifest()
    except PeriplusError:
        return False
    return manifest is not None and manifest.last_batch >= number
