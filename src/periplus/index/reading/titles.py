"""Titles of the best pages: what the pages with the highest prior are called, for completing what people type.

Which pages these are, and what is said of them, does not depend on how documents lie in segments: of pages with the
same prior those with the smallest keys are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index.format.overlays import LARGEST_PRIOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from periplus.index.retrieval.view import SegmentView

    KnownTitles = Callable[[str, NDArray[np.int64]], Mapping[int, "PageTitle"]]

TITLED_PAGES = 50_000
MAX_HEADINGS = 4  # of one page
ROWS = 1 << 16  # documents that are looked at together
WAITING = 4  # times as many as are wanted may wait to be compared


class PageTitle(NamedTuple):
    """As a page says it itself."""

    title: str
    headings: tuple[str, ...]


class TitledPage(Struct, frozen=True):
    """What one page is called."""

    host: str
    page_key: int
    prior: int  # 0 to 255
    title: PageTitle
    segment: str  # where it is stored, and its number there
    number: int

    @property
    def worth(self) -> float:
        """The prior, from 0 to 1."""
        return self.prior / LARGEST_PRIOR


class _Ranked(NamedTuple):
    """Documents by what decides among them."""

    prior: NDArray[np.int64]
    key: NDArray[np.int64]
    ordinal: NDArray[np.int64]
    number: NDArray[np.int64]

    def best(self, limit: int) -> _Ranked:
        order = np.lexsort((self.key, -self.prior))[:limit]
        return _Ranked(*(column[order] for column in self))


def titled_pages(views: Sequence[SegmentView], known: KnownTitles | None = None) -> Iterator[TitledPage]:
    """The best of all live documents, those of a segment in its order: neighbours share a block of text.

    ``known`` may have titles of documents of a segment, by their numbers; these are not read again.
    """
    chosen = _chosen(views, TITLED_PAGES)
    for view in views:
        own = chosen.ordinal == view.ordinal
        order = np.argsort(chosen.number[own])
        numbers, priors = chosen.number[own][order], chosen.prior[own][order].tolist()
        columns, name = view.segment.columns, view.segment.name
        keys = columns.array("page_key")[numbers].tolist()
        hosts = [columns.names["host"][place] for place in columns.array("host")[numbers].tolist()]
        titles = known(name, numbers) if known else {}
        for number, host, key, prior in zip(numbers.tolist(), hosts, keys, priors, strict=True):
            yield TitledPage(host, key, prior, titles.get(number) or _read(view, number), name, number)


def _read(view: SegmentView, number: int) -> PageTitle:
    stored = view.segment.texts.document(number)
    return PageTitle(stored.title, tuple(heading.text for heading in stored.headings[:MAX_HEADINGS]))


def _chosen(views: Sequence[SegmentView], limit: int) -> _Ranked:
    nobody = np.empty(0, np.int64)
    best, waiting, size = _Ranked(nobody, nobody, nobody, nobody), list[_Ranked](), 0
    for view in views:
        for first in range(0, view.segment.documents, ROWS):
            least = int(best.prior[-1]) if len(best.prior) >= limit else 0
            waiting.append(_some(view, first, least))
            size += len(waiting[-1].key)
            if size > WAITING * limit:
                best, waiting, size = _joined([best, *waiting]).best(limit), [], 0
    return _joined([best, *waiting]).best(limit)


def _some(view: SegmentView, first: int, least: int) -> _Ranked:
    """Live documents of a range with at least this prior."""
    last = min(first + ROWS, view.segment.documents)
    numbers = np.arange(first, last) if view.alive is None else first + np.flatnonzero(view.alive[first:last])
    prior = view.prior[numbers].astype(np.int64) if len(view.prior) else np.zeros(len(numbers), np.int64)
    numbers, prior = numbers[prior >= least], prior[prior >= least]
    return _Ranked(prior, view.segment.columns.key[numbers], np.full(len(numbers), view.ordinal), numbers)


def _joined(parts: Sequence[_Ranked]) -> _Ranked:
    return _Ranked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
