"""A list as it is shown: near-duplicates folded, hosts kept apart, the operator's own results first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from periplus.records import Total
from periplus.search.columns import Mask, Numbers
from periplus.search.folding import LEAST_COMPARED, folds

if TYPE_CHECKING:
    from periplus.search.execution import Listing, Task
    from periplus.search.generations import Generation

MORE, FOLDED, PINNED, COUNTS = 0, 1, 2, 3  # places of a result's counts, and how many there are


def arranged(generation: Generation, task: Task, wanted: int, listing: Listing) -> Listing:
    folded = _folded(generation, wanted, listing) if task.fold else listing
    return _with_pinned(task, _diverse(generation, task, wanted, folded))


def _folded(generation: Generation, wanted: int, listing: Listing) -> Listing:
    fingerprints = generation.fingerprints
    if fingerprints is None or not len(fingerprints) or len(listing.numbers) < 2:
        return listing
    into, counts = folds(fingerprints, listing.numbers[: max(LEAST_COMPARED, 3 * wanted)])
    if not counts.any():
        return listing
    shown = np.ones(len(listing.numbers), np.bool_)
    shown[: len(into)] = into == np.arange(len(into))
    rows = counts_of(listing)
    rows[: len(counts), FOLDED] = counts
    return structs.replace(picked(listing, shown, rows), is_folded=True)


def _diverse(generation: Generation, task: Task, wanted: int, listing: Listing) -> Listing:
    """The first ``wanted`` results with at most ``per_host`` of a host; those without a host are exempt."""
    if not task.per_host or not len(listing.numbers):
        return listing
    hosts = generation.snapshot.column("host", listing.numbers)
    found = spread(hosts, task.per_host, generation.nameless, wanted)
    kept = found.kept
    rows = counts_of(listing)
    rows[kept, MORE] = found.left
    complete = len(kept) < wanted or (listing.complete and int(kept[-1]) + 1 == len(hosts))
    return structs.replace(picked(listing, kept, rows), complete=complete)


class Spread(Struct, frozen=True):
    kept: Numbers  # places of the results that are shown
    left: Numbers  # of each of them, when it is the last one shown of its host: how many more that host has


def spread(hosts: Numbers, limit: int, nameless: int, wanted: int) -> Spread:
    """The first ``wanted`` places with at most ``limit`` of a host; those of ``nameless`` are exempt."""
    from periplus.ranking.kernels import spread as kernel

    kept, left = np.empty(len(hosts), np.int64), np.empty(len(hosts), np.int64)
    count = kernel(hosts, limit, nameless, wanted, kept, left)
    return Spread(kept[:count], left[:count])


def _with_pinned(task: Task, listing: Listing) -> Listing:
    if not task.pinned:
        return listing
    rest = ~np.isin(listing.numbers, task.pinned)
    best = float(listing.scores[0]) if len(listing.scores) else 0.0
    place = {number: place for place, number in enumerate(listing.numbers.tolist())}
    known = [place.get(number) for number in task.pinned]
    rows = counts_of(listing)
    first = np.array([[0, 0, 1] if at is None else [*rows[at, :PINNED], 1] for at in known], np.int64)
    return structs.replace(
        listing,
        numbers=np.concatenate([np.array(task.pinned, np.int64), listing.numbers[rest]]),
        scores=np.concatenate([[best if at is None else listing.scores[at] for at in known], listing.scores[rest]]),
        total=Total(max(listing.total.value, len(task.pinned)), listing.total.relation),
        counts=np.concatenate([first, rows[rest]]).reshape(-1),
        pinned=frozenset(task.pinned),
    )


# Counts of results


def counts_of(listing: Listing) -> Numbers:
    """A row of each result, to be changed."""
    if listing.counts is None:
        return np.zeros((len(listing.numbers), COUNTS), np.int64)
    return listing.counts.reshape(-1, COUNTS).copy()


def picked(listing: Listing, kept: Numbers | Mask, rows: Numbers) -> Listing:
    """Some of the results, and of the rows with their counts."""
    return structs.replace(
        listing, numbers=listing.numbers[kept], scores=listing.scores[kept], counts=rows[kept].reshape(-1)
    )
