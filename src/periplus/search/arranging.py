"""A list as it is shown: near-duplicates folded, hosts kept apart, the operator's own results first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from periplus.records import Total
from periplus.search.columns import Numbers
from periplus.search.folding import folds

if TYPE_CHECKING:
    from periplus.search.execution import Listing, Task
    from periplus.search.generations import Generation

LEAST_COMPARED = 64  # results that are compared for near-duplicates; three times those wanted, when that is more


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
    return structs.replace(
        listing,
        numbers=listing.numbers[shown],
        scores=listing.scores[shown],
        duplicates={int(listing.numbers[i]): int(counts[i]) for i in np.flatnonzero(counts)},
        is_folded=True,
    )


def _diverse(generation: Generation, task: Task, wanted: int, listing: Listing) -> Listing:
    """The first ``wanted`` results with at most ``per_host`` of a host; those without a host are exempt."""
    if not task.per_host or not len(listing.numbers):
        return listing
    hosts = generation.snapshot.column("host", listing.numbers)
    found = spread(hosts, task.per_host, generation.nameless, wanted)
    kept = found.kept
    numbers = listing.numbers[kept]
    left = found.left.tolist()
    return structs.replace(
        listing,
        numbers=numbers,
        scores=listing.scores[kept],
        more={number: more for number, more in zip(numbers.tolist(), left, strict=True) if more},
        complete=len(kept) < wanted or (listing.complete and int(kept[-1]) + 1 == len(hosts)),
    )


class Spread(Struct, frozen=True):
    kept: Numbers  # places of the results that are shown
    left: Numbers  # of each of them, when it is the last one shown of its host: how many more that host has


def spread(hosts: Numbers, limit: int, nameless: int, wanted: int) -> Spread:
    """The first ``wanted`` places with at most ``limit`` of a host; those of ``nameless`` are exempt."""
    from periplus.search.kernels.hosts import spread as kernel

    kept, left = np.empty(len(hosts), np.int64), np.empty(len(hosts), np.int64)
    count = kernel(hosts, limit, nameless, wanted, kept, left)
    return Spread(kept[:count], left[:count])


def _with_pinned(task: Task, listing: Listing) -> Listing:
    if not task.pinned:
        return listing
    rest = ~np.isin(listing.numbers, task.pinned)
    best = float(listing.scores[0]) if len(listing.scores) else 0.0
    known = dict(zip(listing.numbers.tolist(), listing.scores.tolist(), strict=True))
    return structs.replace(
        listing,
        numbers=np.concatenate([np.array(task.pinned, np.int64), listing.numbers[rest]]),
        scores=np.concatenate([[known.get(number, best) for number in task.pinned], listing.scores[rest]]),
        total=Total(max(listing.total.value, len(task.pinned)), listing.total.relation),
        pinned=frozenset(task.pinned),
    )
