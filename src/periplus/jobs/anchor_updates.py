"""Pages whose anchor text changed with new ranks, so that the index can take them again.

Anchor text is a field of the index. A page that others begin to call by a new name has not changed itself, so no batch
would bring it; waiting for a merge would never show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.documents import BatchLog
    from periplus.graph import AnchorTable
    from periplus.records import Document


def changed_pages(old: AnchorTable | None, new: AnchorTable) -> set[int]:
    """Page keys whose phrases are not what they were."""
    before = dict(old.items()) if old is not None else {}
    after = dict(new.items())
    return {key for key in before.keys() | after.keys() if before.get(key, ()) != after.get(key, ())}


def newest_versions(log: BatchLog, page_keys: set[int]) -> Iterator[Document]:
    """The newest row of each of these pages, batch by batch, refusals left out."""
    places: dict[int, tuple[int, int]] = {}
    for number in log.numbers():
        table = log.document_table(number, ["url"])
        for row, url in enumerate(table.column("url").to_pylist()):
            key = addresses.page_key(url)
            if key in page_keys:
                places[key] = (number, row)
    by_batch: dict[int, list[int]] = {}
    for number, row in places.values():
        by_batch.setdefault(number, []).append(row)
    for number in sorted(by_batch):
        documents = log.documents(number)
        yield from (documents[row] for row in sorted(by_batch[number]) if documents[row].indexable)
