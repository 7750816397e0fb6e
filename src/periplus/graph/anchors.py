"""Anchor text: by which phrases other pages call a page, and how many sites do so.

    weight of a phrase = sum over the sites that use it of  1    (from another site)
                                                            1/2  (in another site's navigation or footer)
                                                            1/2  (within the page's own site)
                                                            0    (in its own navigation or footer)

rounded, at least 1. Repeating a link costs nothing and so counts for nothing: only distinct sites do. Within its own
site, where nobody but itself is flattered, a phrase gains half a site for every tenfold use: what a site calls a page a
thousand times is its name. Phrases that say nothing (``generic_anchors.txt``), bare addresses and links that are not
followed are left out.

Phrases of equal weight stand in the order of their letters, and of the spellings of a phrase the first one is shown
(one in capitals alone after all others), so that neither depends on how links are grouped into batches.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus import addresses
from periplus.graph import csr
from periplus.graph.hosts import voices_of
from periplus.graph.links import links_to_read, newest_pages
from periplus.graph.runs import Runs, texts
from periplus.records import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from periplus.graph.links import NewestPages
    from periplus.graph.runs import Batches, Run

    Integers = NDArray[np.int64]

MAX_PHRASES = 32  # of one page
MAX_LENGTH = 120  # characters of a phrase
REMEMBERED = 500_000  # texts that are not looked at twice

_MOST = 2  # halves of a use in another site's text; its own site and a margin each take one off
_LOW = np.uint64(2**32 - 1)
_EDGES = " \t\n\"'.,:;!?()[]{}<>«»»›‹→←↑…–—-|·•*"


# A use is two numbers that sort by page, phrase and site, the weightiest first; pages by their place among those read.
_USE = np.dtype([("what", np.uint64), ("who", np.uint64), ("times", np.int64)])  # of its own site
_THIRTY_TWO = np.uint64(32)


class AnchorTable(NamedTuple):
    """Phrases of all pages in flat arrays, which can be stored and memory-mapped as they are."""

    keys: Integers  # page keys, sorted
    offsets: Integers  # into the phrases
    sites: Integers
    text_offsets: Integers  # into the bytes
    text: NDArray[np.uint8]  # UTF-8

    def __call__(self, page_key: int) -> tuple[Anchor, ...]:
        """The phrases of a page, the most used first; none for an unknown page."""
        place = int(np.searchsorted(self.keys, page_key))
        if place == len(self.keys) or self.keys[place] != page_key:
            return ()
        return tuple(self._anchor(number) for number in range(int(self.offsets[place]), int(self.offsets[place + 1])))

    def items(self) -> Iterator[tuple[int, tuple[Anchor, ...]]]:
        for key in self.keys.tolist():
            yield key, self(key)

    def _anchor(self, number: int) -> Anchor:
        start, stop = self.text_offsets[number : number + 2]
        return Anchor(self.text[start:stop].tobytes().decode("utf-8", "replace"), int(self.sites[number]))


def anchors(batches: Batches, pages: NewestPages | None = None, runs: Runs | None = None) -> AnchorTable:
    """The anchor phrases of every page that was read."""
    runs = runs or Runs(batches)
    pages = pages or newest_pages(runs)
    uses = _Uses(pages)
    for number, run in runs:
        wanted, targets = links_to_read(run, pages, number)
        if wanted.any():
            table = batches.links(number, ("text", "title", "place")).filter(wanted)
            uses.add(run, wanted, targets, table)
    return _table(uses)


def table_of(phrases: Mapping[int, Sequence[Anchor]]) -> AnchorTable:
    """Flat arrays of phrases by page key."""
    keys = sorted(phrases)
    entries = [anchor for key in keys for anchor in phrases[key]]
    return _flat(
        np.array(keys, np.int64),
        np.array([len(phrases[key]) for key in keys], np.int64),
        np.array([anchor.sites for anchor in entries], np.int64),
        [anchor.text.encode("utf-8", "replace") for anchor in entries],
    )


def _flat(keys: Integers, counts: Integers, sites: Integers, encoded: list[bytes]) -> AnchorTable:
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return AnchorTable(keys, _offsets(counts), sites, _offsets(lengths), np.frombuffer(b"".join(encoded), np.uint8))


class _Uses:
    """Who calls which page how: numbers for phrases and sites, and rows of those numbers."""

    def __init__(self, pages: NewestPages) -> None:
        self._pages = pages
        self._sites = voices_of(map(addresses.site, pages.host_table.names))
        self._phrases: dict[str, int] = {}
        self._by_text: dict[str, int] = {}
        self.spellings: list[str] = []
        self._uses: list[NDArray[np.void]] = []

    def add(self, run: Run, wanted: NDArray[np.bool_], targets: Integers, table: pa.Table) -> None:
        """Takes the wanted links of one run with their texts."""
        sites = self._sites[self._pages.host_table.of(run)[run.page_hosts]]
        source_site = sites[run.doc_pages[run.link_rows[wanted]]]
        target_site = sites[run.link_targets[wanted]]
        phrase = self._phrase_numbers(table)
        margin = np.array([place != "content" for place in table.column("place").to_pylist()], np.bool_)
        halves = 1 + (source_site != target_site) - margin
        used = (phrase >= 0) & (halves > 0)
        uses = np.empty(int(used.sum()), _USE)
        uses["what"] = csr.pair(phrase[used], targets[used])
        uses["who"] = csr.pair(_MOST - halves[used], source_site[used])
        uses["times"] = (source_site == target_site)[used]
        self._uses.append(_distinct_uses(uses))

    def all(self) -> NDArray[np.void]:
        return _distinct_uses(np.concatenate([np.empty(0, _USE), *self._uses]))

    def keys(self, places: Integers) -> Integers:
        return self._pages.keys[places]

    def order(self) -> Integers:
        """For each number of a phrase its place in the order of letters; numbers follow the order of reading."""
        ordered = np.fromiter((self._phrases[folded] for folded in sorted(self._phrases)), np.int64, len(self._phrases))
        places = np.empty_like(ordered)
        places[ordered] = np.arange(len(ordered))
        return places

    def _phrase_numbers(self, table: pa.Table) -> Integers:
        """Numbers of the phrases; -1 where there is none. The title stands in for a link without text."""
        shown, titles = texts(table.column("text")), texts(table.column("title"))
        by_text = np.array([self._phrase(text) for text in shown.distinct], np.int64)[shown.places]
        by_title = np.array([self._phrase(text) for text in titles.distinct], np.int64)[titles.places]
        empty = np.array([not text.strip() for text in shown.distinct], np.bool_)[shown.places]
        return np.where(empty, by_title, by_text)

    def _phrase(self, text: str) -> int:
        """The number of a phrase; texts seen before are looked up as they are."""
        known = self._by_text.get(text)
        if known is not None:
            return known
        phrase = clean_phrase(text)
        number = -1
        if phrase:
            number = self._phrases.setdefault(phrase.casefold(), len(self.spellings))
            if number == len(self.spellings):
                self.spellings.append(phrase)
            self.spellings[number] = min(phrase, self.spellings[number], key=_preference)
        if len(self._by_text) < REMEMBERED:
            self._by_text[text] = number
        return number


def _preference(spelling: str) -> tuple[bool, str]:
    return spelling.isupper(), spelling


def clean_phrase(text: str) -> str:
    """A phrase worth keeping, without needless blanks; empty when it says nothing."""
    phrase = " ".join(text.split())[:MAX_LENGTH].strip(_EDGES)
    folded = phrase.casefold()
    if folded in _generic() or folded.startswith(("http://", "https://", "www.")) or not any(map(str.isalnum, phrase)):
        return ""
    return phrase


def _distinct_uses(uses: NDArray[np.void]) -> NDArray[np.void]:
    """Of the uses of a phrase for a page by one site, the weightiest, and how many are of its own site."""
    ordered = uses[np.lexsort((uses["who"], uses["what"]))]
    starts = np.flatnonzero(_changes(ordered["what"], ordered["who"] >> _THIRTY_TWO))
    distinct = ordered[starts]
    if len(starts):
        distinct["times"] = np.add.reduceat(ordered["times"], starts)
    return distinct


def _table(uses: _Uses) -> AnchorTable:
    rows = uses.all()
    starts = np.flatnonzero(_changes(rows["what"]))
    halves = _MOST - (rows["who"] & _LOW).astype(np.int64)
    repeated = np.log10(np.maximum(rows["times"], 1))
    score = np.add.reduceat(halves + repeated, starts) / 2 if len(starts) else halves / 2
    target = (rows["what"][starts] >> _THIRTY_TWO).astype(np.int64)
    phrase = (rows["what"][starts] & _LOW).astype(np.int64)
    best = np.lexsort((uses.order()[phrase], -score, target))
    best = best[_place_in_group(target[best]) < MAX_PHRASES]
    sites = np.maximum(1, (score[best] + 0.5).astype(np.int64))
    places, counts = np.unique(target[best], return_counts=True)
    encoded = [text.encode("utf-8", "replace") for text in uses.spellings]
    return _flat(uses.keys(places), counts, sites, [encoded[number] for number in phrase[best].tolist()])


def _place_in_group(ordered: Integers) -> Integers:
    """For each row its place among the rows of the same value."""
    starts = np.flatnonzero(_changes(ordered))
    lengths = np.diff(starts, append=len(ordered))
    return np.arange(len(ordered)) - np.repeat(starts, lengths)


def _changes(*columns: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Where a row differs from the one before it in any column."""
    new = np.ones(len(columns[0]), np.bool_)
    if len(new):
        new[1:] = False
        for column in columns:
            new[1:] |= column[1:] != column[:-1]
    return new


def _offsets(lengths: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


@cache
def _generic() -> frozenset[str]:
    text = resources.files(__package__).joinpath("generic_anchors.txt").read_text(encoding="utf-8")
    return frozenset(line.strip().casefold() for line in text.splitlines() if line and not line.startswith("#"))
