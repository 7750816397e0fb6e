"""What host diversity keeps back of a list: it follows when every host has had its results, on pages of its own.

So no page of the list itself has more of a host than it may, and paging still reaches all that the total counts. A list
of one host alone is not cut at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus.search.listing import picked, run
from periplus.search.requests import MAX_RESULTS

if TYPE_CHECKING:
    from periplus.search.context import SearchContext
    from periplus.search.listing import Listing, Task


def own_part(context: SearchContext, task: Task, size: int, results: int, known: Listing | None = None) -> Listing:
    """The list itself, as its last page of so many shows it; it has about as many ``results`` as are given, and may be
    ``known`` as the page with the last of these shows it.

    How far it is asked for decides how far near-duplicates are looked for, and so where it ends: all pages behind have
    to take the end that the reader has seen.
    """
    page = pages_of(results, size)
    listing = run(context, task, page * size + 1) if known is None else known
    while len(listing.numbers) > page * size:
        page += 1
        listing = run(context, task, page * size + 1)
    while page > 1:
        shorter = run(context, task, (page - 1) * size + 1)
        if len(shorter.numbers) > (page - 1) * size:
            break
        page, listing = page - 1, shorter
    return listing


def keeps_back(listing: Listing) -> bool:
    """Whether there is more of some host than a whole list shows."""
    return bool(listing.shown.more.any())


def held_back(context: SearchContext, task: Task, listing: Listing) -> Listing:
    """The results that a whole list keeps back, as many as can be paged through, best first."""
    everything = run(context, structs.replace(task, per_host=0), MAX_RESULTS)
    return picked(everything, np.flatnonzero(~np.isin(everything.numbers, listing.numbers)))


def pages_of(results: int, size: int) -> int:
    """That so many results fill, the last of them not always whole."""
    return max(1, -(-results // size))
