"""Does the object store have what rows name? Asks for its list of objects, and reads none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.app.findings import Finding
from periplus.storage import PREFIXES, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress

_ROWS = (
    "SELECT documents_file FROM batches WHERE documents_file <> ''",
    "SELECT links_file FROM batches WHERE links_file <> ''",
    "SELECT file FROM archive_parts",
)
MOST_TOLD = 20


def objects(collection: Collection, tell: Progress) -> Iterator[Finding]:
    """Of a collection on many machines: each object that a row names, with its bytes."""
    depot = collection.depot
    if depot is None or collection.notice:
        return
    tell(0, "object store")
    with collection.database.read() as tx:
        named = [Stored.decode(text) for sql in _ROWS for (text,) in tx.rows(sql)]
    there = {one.name: one.bytes for prefix in PREFIXES for one in depot.objects.entries(prefix)}
    wrong = [one for one in named if there.get(one.name) != one.bytes]
    for one in wrong[:MOST_TOLD]:
        how = "is missing" if one.name not in there else f"has {there[one.name]:,} bytes instead of {one.bytes:,}"
        yield Finding("objects", "failed", f"{depot.objects.address}/{one.name} {how}", "restore it from a backup")
    if len(wrong) > MOST_TOLD:
        yield Finding("objects", "failed", f"{len(wrong) - MOST_TOLD:,} more objects are missing or cut off")
    if not wrong:
        yield Finding("objects", "ok", f"{len(named):,} objects in {depot.objects.address}, all there")
