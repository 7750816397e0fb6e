"""The doctor: is the machine fit, and is everything in the collection what was written?

Each check is a small function that gives findings and changes nothing. ``repair`` mends what can be made again from
what is stored: torn tails of the archive, the ranks, the index. It never touches what only exists once, and it waits
for nobody: while a crawl or a build runs, it refuses.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from periplus import archive
from periplus.app.state import StandIn
from periplus.crawl.crawler import LOCK as CRAWL_LOCK
from periplus.errors import Corrupt, NotReady, PeriplusError, StorageBusy, StorageError, Truncated
from periplus.jobs.pipeline import LOCK_FILE as BUILD_LOCK
from periplus.storage import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.storage import Database

    Progress = Callable[[int, str], None]

State = Literal["ok", "warning", "failed", "mended"]

ARCHIVE = "archive"
RANKS = "ranks/current.json"
LEAST_PYTHON = (3, 11)
LEAST_DISK, LITTLE_DISK = 200 * 1024**2, 2 * 1024**3  # bytes
LITTLE_MEMORY = 1024**3
FEW_FILES = 1_024  # open files of a process: one a connection and some for the index
EVERY = 200  # records between two signs of life


class Finding(Struct, frozen=True):
    """What one check found; ``advice`` says what to do unless all is well."""

    check: str
    state: State
    detail: str
    advice: str = ""


def examine(collection: Collection, progress: Progress | None = None) -> list[Finding]:
    """Every check of the machine and of the collection; reads the whole archive."""
    tell = progress or (lambda _done, _note: None)
    findings: list[Finding] = []
    for check in (_machine, _database, _archive, _documents, _ranks, _index, _politeness):
        try:
            findings.extend(check(collection, tell))
        except PeriplusError as error:
            findings.append(Finding(check.__name__.lstrip("_"), "failed", str(error), "see the message"))
    return findings


def repair(collection: Collection, progress: Progress | None = None) -> list[Finding]:
    """Examine, mend what can be made again, and say what is left."""
    with folder_lock(collection.folder / CRAWL_LOCK, "crawling"):  # building has its own lock, taken below
        mended_state = _mended_state(collection, progress)
        cut = archive.repair(collection.folder / ARCHIVE)
        broken = {finding.check for finding in examine(collection, progress) if finding.state == "failed"}
        mended = [Finding("archive", "mended", f"{item.file}: {item.removed:,} torn bytes cut off") for item in cut]
        if "ranks" in broken:
            collection.files.remove(RANKS)  # neither step below may read them
        if "index" in broken:
            collection.index(rebuild=True)
            mended.append(Finding("index", "mended", "built again from the stored documents"))
        if "ranks" in broken:
            collection.rank()
            mended.append(Finding("ranks", "mended", "computed again from the stored links"))
    return [*mended_state, *mended, *examine(collection, progress)]


def _mended_state(collection: Collection, progress: Progress | None) -> list[Finding]:
    """A state that is lost or damaged is built again before anything else: all other checks rest on it."""
    from periplus.app.rebuilding import rebuild_state

    if not (isinstance(collection.database, StandIn) or _damage(collection.database)):
        return []
    collection.close()
    with folder_lock(collection.folder / BUILD_LOCK, "indexing or ranking"):
        said = rebuild_state(collection, progress)
    return [Finding("database", "mended", line) for line in said]


def _machine(collection: Collection, _: Progress) -> Iterator[Finding]:
    from periplus.app.warming import kernels_are_warm

    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < LEAST_PYTHON:
        yield Finding("python", "failed", f"version {version}", "install Python 3.11 or later")
    else:
        yield Finding("python", "ok", f"version {version}")
    yield _disk(collection.folder)
    yield _memory()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    few = files < FEW_FILES
    yield Finding("open files", "warning" if few else "ok", f"up to {files:,}", f"ulimit -n {FEW_FILES}" if few else "")
    if kernels_are_warm():
        yield Finding("kernels", "ok", "compiled")
    else:
        yield Finding("kernels", "warning", "not compiled for this version and processor", "periplus warm")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1024**3:.1f} GB free"
    if free < LEAST_DISK:
        return Finding("disk", "failed", detail, "make room: nothing can be stored soon")
    return Finding("disk", "warning", detail, "make room") if free < LITTLE_DISK else Finding("disk", "ok", detail)


def _memory() -> Finding:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    detail = f"{size / 1024**3:.1f} GB"
    if size < LITTLE_MEMORY:
        return Finding("memory", "warning", detail, "lower index.memory in periplus.toml")
    return Finding("memory", "ok", detail)


def _database(collection: Collection, tell: Progress) -> Iterator[Finding]:
    tell(0, "state database")
    if collection.notice:
        lost, _, advice = collection.notice.partition("; ")
        yield Finding("database", "failed", lost, advice)
        return
    name = collection.database.name
    if wrong := _damage(collection.database):
        advice = "periplus doctor --repair builds it again from the stored files, or restore it from a backup"
        yield Finding("database", "failed", f"{name}: {wrong}", advice)
    else:
        yield Finding("database", "ok", name)


def _damage(database: Database) -> str:
    """What is wrong inside the database file; empty when it is sound."""
    try:
        return next(iter(database.check()), "")
    except Corrupt as error:
        return str(error).partition(";")[0]


def _archive(collection: Collection, tell: Progress) -> Iterator[Finding]:
    records = files = 0
    bad, growing = False, _crawls(collection.folder)
    for path in sorted((collection.folder / ARCHIVE).glob("*.warc.gz")):
        files += 1
        try:
            for _ in archive.iterate(path):
                records += 1
                if records % EVERY == 0:
                    tell(records, path.name)
        except StorageError as error:
            if growing and isinstance(error, Truncated):
                continue  # the record that is being written at this moment
            bad = True
            advice = "periplus doctor --repair cuts a torn tail; other damage needs a copy of the file"
            yield Finding("archive", "failed", str(error), advice)
    if not bad:
        yield Finding("archive", "ok", f"{records:,} responses in {files} files, all digests right")


def _crawls(folder: Path) -> bool:
    try:
        with folder_lock(folder / CRAWL_LOCK, "crawling"):
            return False
    except StorageBusy:
        return True


def _documents(collection: Collection, tell: Progress) -> Iterator[Finding]:
    from periplus.documents import BatchLog

    log = BatchLog(collection.files, collection.database)
    numbers, rows, bad = log.numbers(), 0, False
    for number in numbers:
        tell(number, "documents")
        try:
            rows += log.document_table(number).num_rows
            log.links(number)
        except PeriplusError as error:
            bad = True
            yield Finding("documents", "failed", f"batch {number}: {error}", "restore the file from a backup")
    if not bad:
        yield Finding("documents", "ok", f"{rows:,} rows in {len(numbers)} batches")


def _ranks(collection: Collection, _: Progress) -> Iterator[Finding]:
    from periplus.graph import RankStore

    store = RankStore(collection.folder / "ranks")
    try:
        store.verify()
        table = store.current()
    except StorageError as error:
        yield Finding("ranks", "failed", str(error), "periplus doctor --repair, or periplus rank")
        return
    if table is None:
        yield Finding("ranks", "warning", "none are published yet", "periplus rank")
    else:
        yield Finding("ranks", "ok", f"{table.pages:,} pages on {table.hosts:,} hosts, generation {table.generation}")


def _index(collection: Collection, _: Progress) -> Iterator[Finding]:
    from periplus.index import IndexStore

    try:
        with IndexStore(collection.folder / "index").open() as snapshot:
            detail = f"{snapshot.live:,} documents, generation {snapshot.generation}, all checksums right"
            yield Finding("index", "ok", detail)
    except NotReady:
        yield Finding("index", "warning", "no generation is published yet", "periplus index")
    except StorageError as error:
        yield Finding("index", "failed", str(error), "periplus doctor --repair, or periplus index --rebuild")


def _politeness(collection: Collection, _: Progress) -> Iterator[Finding]:
    report = collection.politeness()
    if report.violations:
        advice = "periplus politeness lists them"
        yield Finding("politeness", "failed", f"{len(report.violations):,} violations in the journal", advice)
    else:
        yield Finding("politeness", "ok", f"{report.requests:,} requests, no violation")
