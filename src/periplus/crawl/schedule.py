"""When to look at a page again, learnt from how often it had changed when we came.

A page that is looked at at intervals T and had changed X times in n looks changes at the rate
-ln((n - X + 0.5) / (n + 0.5)) / T (Cho and Garcia-Molina, "Estimating frequency of change", 2003): a plain X/(nT) is
too low for pages that change between two looks. One step at most doubles or quarters the interval.
"""

from __future__ import annotations

import math

LEAST = 600.0
MOST = 180 * 86_400.0
GROWTH, SHRINKAGE = 2.0, 0.25
MISSING_AGAIN = 86_400.0  # a page that was missing is looked at again after a day
FAILED_AGAIN = 7 * 86_400.0
REFUSED_AGAIN = 7 * 86_400.0
FEED_FIRST, FEED_MOST = 3_600.0, 7 * 86_400.0  # feeds exist to be polled: the second look, and the longest interval
GONE_AFTER = 2  # looks in a row that found a page missing


def next_interval(*, visits: int, changes: int, span: float, last: float, first: float, most: float = MOST) -> float:
    """Seconds to the next look after ``visits`` looks over ``span`` seconds, the last two ``last`` apart."""
    looks = visits - 1
    if looks < 1:
        return _bounded(first, most)
    rate = _rate(looks, min(changes, looks), max(span, LEAST) / looks)
    wanted = 1 / rate if rate > 0 else most
    base = max(last, first / 2)
    return _bounded(min(max(wanted, base * SHRINKAGE), base * GROWTH), most)


def _rate(looks: int, changes: int, interval: float) -> float:
    return -math.log((looks - changes + 0.5) / (looks + 0.5)) / interval


def _bounded(interval: float, most: float) -> float:
    return min(max(interval, LEAST), most)
