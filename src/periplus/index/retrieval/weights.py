"""Weights: idf and prior as whole numbers, so that scores add up alike whatever the order of addition.

    score = sum over matching groups of max over forms (weight * impact)  +  prior weight * prior      (all integers)

``UNIT`` of ``core.layout.scores`` are a score of 1.0.
"""

from __future__ import annotations

import math

from periplus.core.layout.scores import FIXED_POINT, LARGEST_IMPACT

LARGEST_WEIGHT = 1 << 20  # 255 times this, for 8 groups, still fits 32 bits
LARGEST_WEIGHTS = ((1 << 31) - 1) // LARGEST_IMPACT  # of a query together: kernels add up in 32 bits


def idf(documents: int, frequency: int) -> float:
    """ln(1 + (N - n + 1/2) / (n + 1/2)): never negative, however common the term."""
    frequency = min(frequency, documents)
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def fixed(weight: float) -> int:
    """A weight as a whole number of at least 1: whatever matches scores, if only a point."""
    return min(LARGEST_WEIGHT, max(1, round(weight * FIXED_POINT)))
