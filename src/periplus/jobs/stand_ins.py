"""Stand-ins: pages that name another address as their canonical one, and are found until that one is.

A page is out of the index when the address it names is in it, directly or at the end of a chain of redirects and
canonical addresses. It stands in for that address when the chain ends with one that is not there (never fetched, dead,
refused, noindex, out of scope) or comes back to the page. Of a chain that ends nowhere, the last page stands in.
Whoever names an address that was taken down stays out with it. All of it is a function of the log of batches and of
the takedowns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from periplus.index.building.sources import INDEXED_FIELDS, DocumentSource
from periplus.jobs.aliases import CANONICAL, Aliases, AliasTable
from periplus.records import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.documents.batches import BatchFiles
    from periplus.jobs.aliases import Booleans, Integers

HOPS = 10  # redirects and canonical addresses that are followed; a page with a longer way is found by itself


class Chosen(NamedTuple):
    """What the index must do about pages that name another address."""

    shown: dict[int, frozenset[int]]  # by batch: keys of pages that are found all the same
    revived: dict[int, frozenset[int]]  # the same of batches that the index has seen
    dropped: tuple[int, ...]  # keys of pages that stood in and need not any more


def choose(table: AliasTable, after: int, last: int, held: Callable[[Integers], Booleans]) -> Chosen:
    """For an index that has seen the batches up to ``after`` and is brought up to ``last``; ``held``: what it has."""
    newest = table.follow(after, last)
    aliases = table.all()
    if not len(aliases.keys):
        return Chosen({}, {}, ())
    is_new, is_found = newest.look_up(aliases.targets)
    in_index = np.where(is_new, is_found, held(aliases.targets))
    removed_urls, removed_hosts = table.removed()
    removed = np.isin(aliases.targets, removed_urls) | np.isin(aliases.target_hosts, removed_hosts)
    shown = _without_copies(aliases, standing(aliases, in_index, removed))
    told = newest.look_up(aliases.keys)[0]  # by a row that the index is about to take
    here = held(aliases.keys)
    return Chosen(
        _by_batch(aliases, shown & told),
        _by_batch(aliases, shown & ~told & ~here),
        tuple(aliases.keys[~shown & ~told & here].tolist()),
    )


def standing(aliases: Aliases, in_index: Booleans, removed: Booleans) -> Booleans:
    """Which aliases are to be found. ``in_index`` and ``removed`` are said of their targets."""
    count = len(aliases.keys)
    nowhere, taken = count, count + 1  # two places behind all others, where ways end
    places = np.minimum(np.searchsorted(aliases.keys, aliases.targets), count - 1)
    following = np.where(aliases.keys[places] == aliases.targets, places, np.where(in_index, taken, nowhere))
    following = np.concatenate([np.where(removed, taken, following), [nowhere, taken]])
    is_page = np.concatenate([aliases.is_page, [False, False]])
    own = np.arange(count)
    at, circles, passes = own, np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for _ in range(HOPS):
        at = following[at]
        circles |= at == own
        passes |= is_page[at] & (at != own)
    inner = np.minimum(at, count - 1)
    in_circle = (at < count) & circles[inner]  # not its own: the way leads into one
    defers = np.where(in_circle, passes | is_page[at], (at == nowhere) & passes) | (at == taken)
    shown: Booleans = aliases.is_page & (circles | ~defers)
    return shown


def _without_copies(aliases: Aliases, shown: Booleans) -> Booleans:
    """Of pages with the same bytes that stand in for the same address, one."""
    places = np.flatnonzero(shown & (aliases.bodies != 0))
    if not len(places):
        return shown
    _, first = np.unique(np.stack([aliases.targets[places], aliases.bodies[places]]), axis=1, return_index=True)
    kept: Booleans = shown & (aliases.bodies == 0)
    kept[places[first]] = True
    return kept


def _by_batch(aliases: Aliases, wanted: Booleans) -> dict[int, frozenset[int]]:
    grouped: dict[int, set[int]] = {}
    for key, batch in zip(aliases.keys[wanted].tolist(), aliases.batches[wanted].tolist(), strict=True):
        grouped.setdefault(batch, set()).add(key)
    return {batch: frozenset(keys) for batch, keys in sorted(grouped.items())}


def found_all_the_same(document: Document, keys: frozenset[int]) -> Document:
    return replace(document, refusal="") if document.refusal == CANONICAL and document.key in keys else document


class LateStandIns(DocumentSource):
    """Pages of batches that the index has seen which begin to stand in, and those that end to."""

    def __init__(self, batches: BatchFiles, chosen: Chosen) -> None:
        self._batches = batches.only(*chosen.revived)
        self._chosen = chosen

    @property
    def name(self) -> str:
        revived = {number: sorted(keys) for number, keys in self._chosen.revived.items()}
        return f"stand-ins {sorted(self._chosen.dropped)} {revived}"

    def __iter__(self) -> Iterator[Document]:
        for key in self._chosen.dropped:
            yield Document(url="", key=key, fetched=0.0, refusal=CANONICAL)
        for number, keys in self._chosen.revived.items():
            yield from _revived(self._batches, number, keys)


def _revived(log: BatchFiles, number: int, keys: frozenset[int]) -> list[Document]:
    """The newest rows of these pages in their batch, to be found."""
    documents = [found_all_the_same(document, keys) for document in log.documents(number, fields=INDEXED_FIELDS)]
    newest = {document.key: document for document in documents if document.key in keys}
    return [document for document in newest.values() if document.indexable]
