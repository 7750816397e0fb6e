"""The link prior of a page: PageRank turned into a number from 0 to 1 that a score can carry.

    strength(r) = ln(r / least rank);      scaled(r) = strength / (strength + HALF)
    prior       = max(scaled(page rank), HOST_SHARE * scaled(host rank))

Ranks follow a power law, so their logarithm is what differs between pages. The scaling is bounded and monotone, and
does not move when one page becomes very popular, as scaling by the largest rank would. A page without links of its own
inherits part of what its host has earned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALF = float(np.log(30.0))  # a rank of 30 times the least one gives one half
HOST_SHARE = 0.5


def scaled(ranks: Floats, least: float) -> Floats:
    """0 for the least rank and for unknown ones (0), towards 1 for the greatest."""
    if least <= 0:
        return np.zeros_like(ranks)
    strength = np.log(np.maximum(ranks, least) / least)
    return strength / (strength + HALF)


def prior(page_ranks: Floats, least_page: float, host_ranks: Floats, least_host: float) -> Floats:
    return np.maximum(scaled(page_ranks, least_page), HOST_SHARE * scaled(host_ranks, least_host))
