"""Pages whose anchor text changed with new ranks, so that the index can take them again.

Anchor text is a field of the index. A page that others begin to call by a new name has not changed itself, so no batch
would bring it; waiting for a merge would never show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses
from periplus.jobs.stand_ins import found_all_the_same

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
    """The newest row of each address of these pages, batch by batch, refusals left out.

    Pages that name another address come as if to be found: the index takes only what it has, and if it has them, they
    stand in for that address.
    """
    places: dict[str, tuple[int, int]] = {}
    for number in log.numbers():
        table = log.document_table(number, ["url"])
        for row, url in enumerate(table.column("url").to_pylist()):
            if addresses.page_key(url) in page_keys:
                places[url] = (number, row)
    by_batch: dict[int, list[int]] = {}
    for number, row in places.values():
        by_batch.setdefault(number, []).append(row)
    for number in sorted(by_batch):
        documents = log.documents(number)
        for row in sorted(by_batch[number]):
            document = found_all_the_same(documents[row], frozenset({documents[row].key}))
            if document.indexable:
                yield document
