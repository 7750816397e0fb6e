"""Mending: what can be made again from what is stored is made again, in the order in which one is made of another.

A lost state comes first, since all else rests on it. Torn tails of the archive are cut off; damaged batches are set
aside and made again from the archive; ranks are computed from the links, and the index is built from the documents.
What only exists once is never removed: a damaged batch is kept under ``damaged/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import archive
from periplus.app.doctor.file_checks import ARCHIVE
from periplus.app.findings import Finding
from periplus.app.state import IDENTITY_FILE, StandIn, check_identity, require_state, state_damage
from periplus.crawl.keeping.takedown import sweep
from periplus.documents import BatchLog
from periplus.errors import Corrupt, NotFound, StorageError
from periplus.jobs import damaged_batches, remake
from periplus.jobs.pipeline import LOCK_FILE as BUILD_LOCK
from periplus.storage import folder_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress
    from periplus.jobs import DamagedBatch

RANKS = "ranks/"
PLAN, MANIFEST = f"{ARCHIVE}/blanking.json", "index/manifest.json"
TAKEDOWN = "takedown"  # the check that a takedown done again is told under
SHOWN = 3  # addresses that a finding names


def mend(collection: Collection, broken: set[str], tell: Progress) -> Iterator[Finding]:
    """Make again what ``broken`` names by the checks that failed."""
    if "documents" in broken:
        yield from _mend_batches(collection, tell)
    again = {"ranks", "documents"} & broken and collection.files.names(RANKS)
    if again:
        for name in collection.files.names(RANKS):  # its runs too: they are of the batches as they were
            collection.files.remove(name)
        collection.rank(hand_over="index" not in broken)
        yield Finding("ranks", "mended", "computed again from the stored links")
    if "index" in broken:
        collection.index(rebuild=True)
        yield Finding("index", "mended", "built again from the stored documents")
    elif {"documents", TAKEDOWN} & broken and collection.files.exists(MANIFEST):
        collection.index()


def mend_state(collection: Collection, progress: Progress) -> list[Finding]:
    """A state that is lost or damaged is built again before anything else: all other checks rest on it."""
    from periplus.app.doctor.rebuilding import rebuild_state

    if not (isinstance(collection.database, StandIn) or state_damage(collection.database)):
        return []
    collection.close()
    with folder_lock(collection.folder / BUILD_LOCK, "indexing or ranking"):
        said = rebuild_state(collection, progress)
    return [Finding("database", "mended", line) for line in said]


def mend_archive(collection: Collection) -> list[Finding]:
    taken_down = _mend_takedown(collection)
    cut = archive.repair(collection.folder / ARCHIVE)
    return taken_down + [
        Finding("archive", "mended", f"{item.file}: {item.removed:,} torn bytes cut off") for item in cut
    ]


def _mend_takedown(collection: Collection) -> list[Finding]:
    """A plan of records to overwrite that is damaged is made again from the state, which lists unfinished takedowns."""
    try:
        archive.check_plan(collection.folder / ARCHIVE)
    except StorageError:
        _set_aside(collection, PLAN)
        collection.files.remove(PLAN)
        sweep(collection.database, collection.folder, collection.depot)
        return [Finding(TAKEDOWN, "mended", f"{PLAN} was damaged; unfinished takedowns are done again")]
    return []


def mend_identity(collection: Collection) -> list[Finding]:
    """The name that the folder shares with its state, from the state."""
    try:
        check_identity(collection.folder)
    except Corrupt:
        require_state(collection.folder, collection.database)
        return [Finding("files", "mended", f"{IDENTITY_FILE} is written again from the state")]
    return []


def _mend_batches(collection: Collection, tell: Progress) -> Iterator[Finding]:
    log = BatchLog(collection.files, collection.database, collection.depot)
    for batch in damaged_batches(log, collection.database, tell):
        yield _mended_batch(collection, log, batch)


def _mended_batch(collection: Collection, log: BatchLog, batch: DamagedBatch) -> Finding:
    """Set a batch aside and have its pages made again; what it held otherwise is said to be lost."""
    made = remake(log, collection.files, collection.database, batch)
    shown = ", ".join(made.pages[:SHOWN]) + (" …" if len(made.pages) > SHOWN else "")
    again = f"{len(made.pages):,} pages are made again from the archive ({shown})"
    detail = f"batch {batch.number} held {made.documents:,} documents; {again}"
    rest = made.documents - len(made.pages)
    if made.keeps_documents or rest <= 0:
        return Finding("documents", "mended", detail)
    lost = f"{rest:,} others are stored in newer versions, or were imported and are lost"
    return Finding("documents", "mended", f"{detail}; {lost}", "import again what was imported")


def _set_aside(collection: Collection, name: str) -> None:
    files = collection.files
    try:
        data = files.read(name)
    except NotFound:
        return
    files.write(f"damaged/{name}", data)
