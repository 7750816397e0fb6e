"""How many pages link to a page in their text, of its own site or of others: menus and footers say nothing of a page.

PageRank counts links of one site as those of one voice, so that within a site it hardly tells a page from another. What
the authors of a site refer to tells: of five pages on sorting, the one that thirty texts point to is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.graph.links import links_to_read

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import LogTables, Run

    Integers = NDArray[np.int64]


class Citations(NamedTuple):
    """Pages that are linked to in a text."""

    cited_keys: Integers  # page keys, sorted
    cited_counts: NDArray[np.uint32]  # how many pages do

    def of(self, page_keys: Integers) -> Integers:
        """The counts of pages; 0 for a page that no text links to."""
        if not len(self.cited_keys):
            return np.zeros(len(page_keys), np.int64)
        places = np.minimum(np.searchsorted(self.cited_keys, page_keys), len(self.cited_keys) - 1)
        return np.where(self.cited_keys[places] == page_keys, self.cited_counts[places], 0).astype(np.int64)


def citations_of(batches: LogTables, runs: Iterable[tuple[int, Run]], pages: NewestPages) -> Citations:
    """Takes 8 bytes a page that was read, and the links of one batch."""
    counts = np.zeros(len(pages.keys), np.int64)
    for number, run in runs:
        counted, targets = links_to_read(run, pages, number)
        in_text = _in_text(batches.links(number, ("place",)))[counted]
        documents, cited = run.link_rows[counted][in_text].astype(np.int64), targets[in_text]
        own = pages.aliases.resolve(run.pages[run.doc_pages], run.page_hosts[run.doc_pages].astype(np.int64))[0]
        others = own[documents] != pages.keys[cited] if len(cited) else np.zeros(0, np.bool_)
        pairs = np.unique(documents[others] * np.int64(max(len(counts), 1)) + cited[others])  # a page counts once
        counts += np.bincount(pairs % max(len(counts), 1), minlength=len(counts))
    linked = np.flatnonzero(counts)
    return Citations(pages.keys[linked], counts[linked].astype(np.uint32))


def _in_text(links: pa.Table) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    return np.asarray(pc.equal(links.column("place"), "content").to_numpy(), np.bool_)
