"""The doctor examines a collection, and repairs it.

``examine`` runs every check (``machine_checks``, ``file_checks``) and changes nothing. ``repair`` mends what can be
made again from what is stored (``mending``). It waits for nobody: while a crawl or a build runs, it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus.app.doctor import file_checks, log_checks, machine_checks, object_checks
from periplus.app.doctor.mending import TAKEDOWN, mend, mend_archive, mend_identity, mend_state
from periplus.app.findings import Finding
from periplus.crawl.leading.crawler import LOCK as CRAWL_LOCK
from periplus.errors import Incompatible, PeriplusError
from periplus.storage import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress

    Check = Callable[[Collection, Progress], Iterator[Finding]]

CHECKS: Final[dict[str, Check]] = {
    "machine": machine_checks.machine,
    "database": file_checks.database,
    "archive": file_checks.archives,
    "documents": file_checks.documents,
    "log": log_checks.log,
    "objects": object_checks.objects,
    "ranks": file_checks.ranks,
    "index": file_checks.index,
    "files": file_checks.small_files,
    "politeness": file_checks.politeness,
}
# What a check of damaged data may stumble over besides our own errors: it must not keep the others from being done.
_STUMBLES = (PeriplusError, ValueError, TypeError, LookupError, OSError)


OF_FILES: Final = ("database", "archive", "documents", "log", "ranks", "index", "files")


def examine(
    collection: Collection, progress: Progress | None = None, names: Iterable[str] = tuple(CHECKS)
) -> list[Finding]:
    """Every check of the machine and of the collection, or those of these names; reads every file."""
    tell = progress or (lambda _done, _note: None)
    findings: list[Finding] = []
    said: set[str] = set()  # one cause, such as a state of a newer version, stops several checks
    for name in names:
        try:
            findings.extend(CHECKS[name](collection, tell))
        except _STUMBLES as error:
            if str(error) not in said:
                findings.append(_stumble(name, error))
            said.add(str(error))
    return findings


def examine_files(collection: Collection, progress: Progress | None = None) -> list[Finding]:
    """Is every file of the collection what was written?"""
    return examine(collection, progress, OF_FILES)


def _stumble(name: str, error: Exception) -> Finding:
    """What kept a check from being done; after the semicolon a message says what to do."""
    detail, _, advice = str(error).partition("; ") if isinstance(error, PeriplusError) else (str(error), "", "")
    if isinstance(error, Incompatible) and "index" not in name:
        advice = f"{advice}, or periplus restore a backup that this version made"
    return Finding(name, "failed", detail, advice or "see the message")


def repair(collection: Collection, progress: Progress | None = None) -> list[Finding]:
    """Examine, mend what can be made again, and say what is left."""
    tell = progress or (lambda _done, _note: None)
    with folder_lock(collection.folder / CRAWL_LOCK, "crawling"):  # building has its own lock, taken below
        mended = [*mend_state(collection, tell), *mend_identity(collection)]
        mended += [*mend_archive(collection), *log_checks.mend_log(collection)]
        broken = {finding.check for finding in examine(collection, progress) if finding.state == "failed"}
        mended += mend(collection, broken | {finding.check for finding in mended} & {TAKEDOWN}, tell)
    return [*mended, *examine(collection, progress)]
