"""Who links to a page, as pages wrote it: every link of the newest versions, whatever its rel and wherever it leads.

The graph of the ranks leaves links out and lets pages stand for others; whoever asks for the links to an address wants
them all. Pages are known by their page keys (http and https alike), who links by the keys of the documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.graph import csr
from periplus.graph.links import counted_links
from periplus.graph.sorting import PairSorter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Run

    Integers = NDArray[np.int64]
    Places = NDArray[np.uint32]

_THIRTY_TWO = np.uint64(32)


class Backlinks(NamedTuple):
    """``link_sources[link_offsets[p]:link_offsets[p + 1]]`` are the documents that link to the page ``p``."""

    link_targets: Integers  # page keys, sorted
    link_offsets: Integers
    link_sources: Places  # places in ``link_documents``
    link_documents: Integers  # keys, sorted

    def to(self, page_key: int) -> Integers:
        """Keys of the documents that link to a page, ascending."""
        place = int(np.searchsorted(self.link_targets, page_key))
        if place == len(self.link_targets) or self.link_targets[place] != page_key:
            return np.empty(0, np.int64)
        return np.asarray(
            self.link_documents[self.link_sources[self.link_offsets[place] : self.link_offsets[place + 1]]]
        )


def backlinks_of(runs: Iterable[tuple[int, Run]], pages: NewestPages) -> Backlinks:
    """Takes 4 bytes a distinct link, 16 a target and 8 a document that links; while they are sorted, as ``sorting``."""
    targets, documents = _Distinct(), _Distinct()
    for number, run in runs:
        counted = counted_links(run, pages.counted[number], followed=False)
        targets.add(run.pages[_met(run.link_targets[counted], len(run.pages))])
        documents.add(run.doc_keys[_met(run.link_rows[counted], len(run.doc_keys))])
    target_keys, document_keys = targets.all(), documents.all()
    sorter = PairSorter(len(target_keys))
    for number, run in runs:
        counted = counted_links(run, pages.counted[number], followed=False)
        to = np.searchsorted(target_keys, run.pages)[run.link_targets[counted]]
        by = np.searchsorted(document_keys, run.doc_keys)[run.link_rows[counted]]
        sorter.add(csr.distinct(csr.pair(by, to)))
    sources, counts = [np.empty(0, np.uint32)], np.zeros(len(target_keys), np.int64)
    for links in sorter.sorted():
        sources.append(links.astype(np.uint32))  # the lower half
        counts += np.bincount((links >> _THIRTY_TWO).astype(np.int64), minlength=len(target_keys))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Backlinks(target_keys, offsets, np.concatenate(sources), document_keys)


def _met(places: Places, count: int) -> NDArray[np.bool_]:
    """Which of so many places are among ``places``."""
    met = np.zeros(count, np.bool_)
    met[places] = True
    return met


class _Distinct:
    """Distinct keys of many runs; what was added is merged whenever it doubled."""

    def __init__(self) -> None:
        self._keys = [np.empty(0, np.int64)]
        self._waiting = 0

    def add(self, keys: Integers) -> None:
        self._keys.append(keys)
        self._waiting += len(keys)
        if self._waiting > 1_000_000 + len(self._keys[0]):
            self._keys, self._waiting = [self.all()], 0

    def all(self) -> Integers:
        return np.unique(np.concatenate(self._keys))
