"""Is every file of a collection what was written? Each check gives findings and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import archive
from periplus.app.findings import Finding
from periplus.app.state import check_identity, state_damage
from periplus.crawl.leading.crawler import LOCK as CRAWL_LOCK
from periplus.errors import NotReady, PeriplusError, StorageBusy, StorageError, Truncated
from periplus.storage import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress

ARCHIVE = "archive"
EVERY = 200  # records between two signs of life
REPAIR = "periplus doctor --repair"


def database(collection: Collection, tell: Progress) -> Iterator[Finding]:
    tell(0, "state database")
    name = collection.database.name
    if collection.notice:
        lost, _, advice = collection.notice.partition("; ")
        yield Finding("database", "failed", lost, advice)
        return
    if wrong := state_damage(collection.database):
        advice = f"{REPAIR} builds it again from the stored files, or restore it from a backup"
        yield Finding("database", "failed", f"{name}: {wrong}", advice)
    else:
        yield Finding("database", "ok", name)


def archives(collection: Collection, tell: Progress) -> Iterator[Finding]:
    records = files = 0
    bad, growing = False, is_crawling(collection.folder)
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
            if not path.exists():
                continue  # nothing of it was left when it was thinned, at this moment
            bad = True
            advice = f"{REPAIR} cuts a torn tail; other damage needs a copy of the file"
            yield Finding("archive", "failed", str(error), advice)
    try:
        archive.check_plan(collection.folder / ARCHIVE)
    except StorageError as error:
        bad = True
        yield Finding("archive", "failed", str(error), REPAIR)
    if not bad:
        yield Finding("archive", "ok", f"{records:,} responses in {files} files, all digests right")


def is_crawling(folder: Path) -> bool:
    try:
        with folder_lock(folder / CRAWL_LOCK, "crawling"):
            return False
    except StorageBusy:
        return True
    except StorageError:
        return False  # a folder that cannot be written to is looked at as it is


def documents(collection: Collection, tell: Progress) -> Iterator[Finding]:
    from periplus.documents import BatchLog
    from periplus.jobs import damaged_batches

    log = BatchLog(collection.files, collection.database, collection.depot)
    bad = damaged_batches(log, collection.database, tell)
    for one in bad:
        yield Finding("documents", "failed", f"batch {one.number}: {one.error}", REPAIR)
    if not bad:
        with collection.database.read() as tx:
            batches, rows = tx.row("SELECT COUNT(*), SUM(documents) FROM batches") or (0, 0)
        yield Finding("documents", "ok", f"{int(rows or 0):,} rows in {int(batches)} batches")


def ranks(collection: Collection, tell: Progress) -> Iterator[Finding]:
    tell(0, "ranks")
    store = collection.stores.ranks
    try:
        store.verify()
        meta = store.meta()
    except StorageError as error:
        yield Finding("ranks", "failed", str(error), f"{REPAIR}, or periplus rank")
        return
    if meta is None:
        yield Finding("ranks", "warning", "none are published yet", "periplus rank")
    else:
        yield Finding("ranks", "ok", f"{meta.pages:,} pages on {meta.hosts:,} hosts, generation {meta.generation}")


def index(collection: Collection, tell: Progress) -> Iterator[Finding]:
    tell(0, "index")
    try:
        manifest = collection.stores.index.verify()
    except NotReady:
        yield Finding("index", "warning", "no generation is published yet", "periplus index")
    except StorageError as error:
        yield Finding("index", "failed", str(error), f"{REPAIR}, or periplus index --rebuild")
    else:
        shards = f" in {manifest.shards:,} shards" if manifest.shards > 1 else ""
        detail = f"{manifest.documents:,} documents{shards}, generation {manifest.generation}, all checksums right"
        yield Finding("index", "ok", detail)


def small_files(collection: Collection, _tell: Progress) -> Iterator[Finding]:
    """The operator's own files, which carry no checksum: can they be read?"""
    from periplus.app.console.judging import Judgements
    from periplus.search.query.rules import read_rules
    from periplus.search.suggesting.popular import read_popular
    from periplus.storage import Blocklist

    is_lost = bool(collection.notice)  # which is said already
    readers: tuple[Callable[[], object], ...] = (
        lambda: read_rules(collection.folder, collection.settings.search.rules),
        lambda: read_popular(collection.folder, collection.settings.search.popular),
        lambda: is_lost or collection.keys.programs.all(),
        lambda: is_lost or collection.keys.operator.check(),
        lambda: Blocklist(collection.files).targets(),
        lambda: is_lost or Judgements(collection.sound_state, collection.files).all(),
        lambda: check_identity(collection.folder),
    )
    bad = False
    for read in readers:
        try:
            read()
        except PeriplusError as error:
            bad = True
            said, _, what_to_do = str(error).partition("; ")
            yield Finding("files", "failed", said, what_to_do or "mend the file, or move it away")
    if not bad:
        yield Finding("files", "ok", "settings, rules, keys, blocked hosts and judgements can be read")


def politeness(collection: Collection, _: Progress) -> Iterator[Finding]:
    report = collection.politeness()
    if report.violations:
        advice = "periplus politeness lists them"
        yield Finding("politeness", "failed", f"{len(report.violations):,} violations in the journal", advice)
    else:
        yield Finding("politeness", "ok", f"{report.requests:,} requests, no violation")
