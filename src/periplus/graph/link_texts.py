"""What links say, with how many say it of a page: completion suggests the most frequent ones.

It must not suggest what links to blocked pages say, and pages are blocked at any time; so the table tells of each text
where the links lead that say it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus import addresses
from periplus.graph import csr
from periplus.graph.counting import PairCounts
from periplus.graph.links import counted_links
from periplus.graph.measures import flat_texts
from periplus.graph.runs import texts

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Batches, Run, Runs

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.uint32]

LEAST_SAID = 3  # times, for a text to be suggested
MAX_TEXTS = 200_000
LONGEST = 70  # characters

_LOW = np.uint64(2**32 - 1)
_THIRTY_TWO = np.uint64(32)


class LinkTexts(NamedTuple):
    """Texts, the most frequent first; text ``t`` leads to the pages ``said_of[said_rows[t]:said_rows[t + 1]]``."""

    said_text: NDArray[np.uint8]  # UTF-8, in the order of the offsets
    said_offsets: Integers
    said_rows: Integers
    said_of: Numbers  # places in ``said_pages``
    said_links: Numbers  # how many links of that text lead there
    said_pages: Integers  # page keys, sorted
    said_hosts: Integers  # their host keys

    def counts(self, blocked: Collection[str] = ()) -> dict[str, int]:
        """How many links say each text, of those that lead to one page on average: ``next`` leads everywhere.

        Links to ``blocked`` hosts and addresses say nothing.
        """
        pages = [addresses.page_key(target) for target in blocked if "://" in target]
        hosts = [addresses.host_key(target) for target in blocked if "://" not in target]
        hidden = np.isin(self.said_pages, pages) | np.isin(self.said_hosts, hosts)
        links = np.where(hidden[self.said_of], 0, self.said_links).astype(np.int64)
        sums, led_to = self._of_texts(links), self._of_texts(links > 0)
        each = sums // np.maximum(led_to, 1)
        order = np.argsort(-each, kind="stable")
        return {self._text(text): int(each[text]) for text in order[sums[order] >= LEAST_SAID].tolist()}

    def _of_texts(self, numbers: NDArray[Any]) -> Integers:
        """What each text has of numbers that stand at the pages it leads to, added up."""
        added: Integers = np.diff(np.concatenate((np.zeros(1, np.int64), np.cumsum(numbers)))[self.said_rows])
        return added

    def _text(self, place: int) -> str:
        start, stop = self.said_offsets[place : place + 2]
        return self.said_text[start:stop].tobytes().decode("utf-8", "replace")


def link_texts_of(batches: Batches, runs: Runs, pages: NewestPages, targets: Integers) -> LinkTexts:
    """Those of the newest versions; equally frequent ones in the order of their letters, however batches are grouped.

    ``targets`` are the sorted keys of all pages that are linked to. Takes 8 bytes for each text and page it leads to,
    and 16 for such a page; twice that and the distinct texts while it is made.
    """
    said = _Said(pages, targets)
    for number, run in runs:
        counted = counted_links(run, pages.counted[number], followed=False)
        if counted.any():
            shown = texts(batches.links(number, ("text",)).filter(counted).column("text"))
            said.add(run, run.link_targets[counted], said.numbers(shown.distinct)[shown.places])
    return said.table()


class _Said:
    """Numbers for texts in the order they are met, and how often each leads where."""

    def __init__(self, pages: NewestPages, targets: Integers) -> None:
        self._host_table = pages.host_table
        self._targets = targets
        self._hosts = np.zeros(len(targets), np.int64)
        self._numbers: dict[str, int] = {}
        self._links = PairCounts()

    def numbers(self, distinct: list[str]) -> Integers:
        """-1 for what is not suggested."""
        known = self._numbers
        return np.array(
            [known.setdefault(text, len(known)) if 0 < len(text) <= LONGEST else -1 for text in distinct], np.int64
        )

    def add(self, run: Run, links: Numbers, numbers: Integers) -> None:
        """The links of a run that count: the page in it that each leads to, and the number of what it says."""
        places = np.searchsorted(self._targets, run.pages)
        self._hosts[places[links]] = self._host_table.of(run)[run.page_hosts[links]]
        suits = numbers >= 0
        self._links.add(csr.pair(places[links[suits]], numbers[suits]))

    def table(self) -> LinkTexts:
        pairs, counts = self._links.all()  # by text, then by page
        text, page = (pairs >> _THIRTY_TWO).astype(np.int64), (pairs & _LOW).astype(np.int64)
        sums = np.bincount(text, counts, len(self._numbers)).astype(np.int64)
        names = list(self._numbers)
        by_letters = np.empty(len(names), np.int64)
        by_letters[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        best = np.lexsort((by_letters, -sums))[:MAX_TEXTS]
        best = best[sums[best] >= LEAST_SAID]
        place = np.full(len(sums), -1, np.int64)
        place[best] = np.arange(len(best))
        order = np.argsort(place[text], kind="stable")
        order = order[place[text[order]] >= 0]
        led_to, said_of = np.unique(page[order], return_inverse=True)
        rows = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(place[text[order]], minlength=len(best)))))
        return LinkTexts(
            *flat_texts([names[number].encode("utf-8", "replace") for number in best.tolist()]),
            rows,
            said_of.astype(np.uint32),
            counts[order].astype(np.uint32),
            self._targets[led_to],
            self._host_table.keys()[self._hosts[led_to]],
        )
