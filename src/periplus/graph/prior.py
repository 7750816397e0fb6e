"""The link prior of a page: PageRank turned into a number from 0 to 1 that a score can carry.

    strength(r) = ln(r / least rank);      scaled(r) = strength / (strength + HALF)
    linked      = max(scaled(page rank), HOST_SHARE * scaled(host rank))
    prior       = linked + (1 - linked) * CITED_SHARE * n / (n + CITED_HALF);   n pages link to it in their text

Ranks follow a power law, so their logarithm is what differs between pages. The scaling is bounded and monotone, and
does not move when one page becomes very popular, as scaling by the largest rank would. A page without links of its own
inherits part of what its host has earned. What texts link to counts for little between sites, as anybody can write many
pages, and tells the pages of one site apart, which have nearly the same rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALF = float(np.log(30.0))  # a rank of 30 times the least one gives one half
HOST_SHARE = 0.5
CITED_SHARE = 0.2  # of the prior, at most
CITED_HALF = 10.0  # pages that link to one in their text, for half of that


def scaled(ranks: Floats, least: float) -> Floats:
    """0 for the least rank and for unknown ones (0), towards 1 for the greatest."""
    if least <= 0:
        return np.zeros_like(ranks)
    strength = np.log(np.maximum(ranks, least) / least)
    return strength / (strength + HALF)


def prior(page_ranks: Floats, least_page: float, host_ranks: Floats, least_host: float) -> Floats:
    return np.maximum(scaled(page_ranks, least_page), HOST_SHARE * scaled(host_ranks, least_host))


def with_citations(linked: Floats, pages: NDArray[np.int64]) -> Floats:
    """The prior of pages that so many others link to in their text."""
    return linked + (1.0 - linked) * CITED_SHARE * pages / (pages + CITED_HALF)
