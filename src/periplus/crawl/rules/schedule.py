"""When to look at a page again, learnt from how often it had changed when we came.

A page that is looked at at intervals T and had changed X times in n looks changes at the rate
-ln((n - X + 0.5) / (n + 0.5)) / T (Cho and Garcia-Molina, "Estimating frequency of change", 2003): a plain X/(nT) is
too low for pages that change between two looks. One step at most doubles or quarters the interval.

Pages (``worthwhile_interval``) share the requests so that as many copies as possible are current. A look more is worth
what it adds to the time in which the copy is current, and all pages get looks down to the same worth, the price
(Cho and Garcia-Molina, "Effective page refresh policies", 2003). So a page that changes four times as often is looked
at about twice as often, and one that changes faster than it could be followed no more often than ``first`` says.

What leads to new pages (``polled_interval``: feeds, sitemaps, seeds) is looked at as often as it changes: there every
change counts, not the time for which a copy is current. docs/decisions/0126-visits-are-shared-by-worth.md
"""

from __future__ import annotations

import math

LEAST = 600.0
MOST = 180 * 86_400.0
GROWTH, SHRINKAGE = 2.0, 0.25
MISSING_AGAIN = 86_400.0  # at most until a page that was missing is looked at again
FAILED_AGAIN = 7 * 86_400.0
REFUSED_AGAIN = 7 * 86_400.0
FEED_FIRST, FEED_MOST = 3_600.0, 7 * 86_400.0  # feeds exist to be polled: the second look, and the longest interval
UNSEEN = 0.1  # of a change is supposed of a page that never changed: otherwise it would never change
PRICE = 1 / 8  # of ``first``: a look is worth that much time in which a copy is current
GONE_AFTER = 2  # looks in a row that found a page missing


def polled_interval(*, visits: int, changes: int, span: float, last: float, first: float, most: float = MOST) -> float:
    """Seconds to the next look after ``visits`` looks over ``span`` seconds, the last two ``last`` apart."""
    if visits < 2:
        return _bounded(first, most)
    rate = _rate(visits, changes, span)
    return _step(1 / rate if rate > 0 else most, last, first, most)


def worthwhile_interval(*, visits: int, changes: int, span: float, last: float, first: float) -> float:
    """Seconds to the next look at a page whose copy is to be current as long as looks at one price can make it."""
    if visits < 2:
        return _bounded(first, MOST)
    return _step(_worthwhile(_rate(visits, changes, span, UNSEEN), first), last, first, MOST)


def missing_interval(times: int, *, first: float) -> float:
    """Seconds to the next look at a page that was missing so many times in a row.

    The second look is what drops a page that is gone, so it comes no later than a look at any other page would.
    """
    return _bounded(min(MISSING_AGAIN, first) * 2 ** min(times - 1, 10), MOST)


def _rate(visits: int, changes: int, span: float, unseen: float = 0.0) -> float:
    looks = visits - 1
    interval = max(span, LEAST) / looks
    return -math.log((looks - min(changes, looks) + 0.5) / (looks + 0.5 + unseen)) / interval


def _worthwhile(rate: float, first: float) -> float:
    """The interval T at which a look more adds the price: 1 - (1 + x) e^-x = price * rate, with x = rate * T."""
    worth = PRICE * first * rate
    low, high = 0.0, 1 / PRICE
    if worth >= _gained(high):  # it changes faster than looks at this price could follow
        return first
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _gained(middle) < worth else (low, middle)
    return high / rate


def _gained(x: float) -> float:
    return 1 - (1 + x) * math.exp(-x)


def _step(wanted: float, last: float, first: float, most: float) -> float:
    base = max(last, first / 2)
    return _bounded(min(max(wanted, base * SHRINKAGE), base * GROWTH), most)


def _bounded(interval: float, most: float) -> float:
    return min(max(interval, LEAST), most)
