"""Bounds by window: what a document of each window can score at most."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper


@bare_helper
def fill(window_of: Any, impacts: Any, starts: Any, ends: Any, maxima: Any) -> Any:
    """The window table of a list without one; offsets are set only where the list has documents."""
    window: Any
    for window in range(len(maxima)):
        maxima[window] = 0
    before: Any = np.int64(-1)
    first: Any = np.int64(0)
    largest = np.uint8(0)
    for posting in range(len(window_of)):
        window = np.int64(window_of[posting])
        value = impacts[posting]
        first = first if window == before else np.int64(posting)  # without a branch: windows change at random
        largest = max(largest, value) if window == before else value
        before = window
        starts[np.uint64(window)] = first
        ends[np.uint64(window)] = posting + 1
        maxima[np.uint64(window)] = largest


@bare_helper
def set_bound(bound: Any, maxima: Any, weight: Any) -> Any:
    for window in range(len(maxima)):
        bound[window] = weight * np.int32(maxima[window])


@bare_helper
def zero_bound(bound: Any) -> Any:
    for window in range(len(bound)):
        bound[window] = 0


@bare_helper
def raise_bound(bound: Any, maxima: Any, weight: Any) -> Any:
    for window in range(len(maxima)):
        bound[window] = max(bound[window], weight * np.int32(maxima[window]))


@bare_helper
def add_group(bound: Any, group: Any) -> Any:
    for window in range(len(bound)):
        bound[window] += group[window]


@bare_helper
def require_group(bound: Any, group: Any) -> Any:
    """The same, and nothing where either is nothing."""
    for window in range(len(bound)):
        both = min(bound[window], np.int32(1)) * min(group[window], np.int32(1))  # without a branch: many at once
        bound[window] = (bound[window] + group[window]) * both


@bare_helper
def add_where(bound: Any, group: Any) -> Any:
    """The same, and nothing where the bound is nothing."""
    for window in range(len(bound)):
        bound[window] = (bound[window] + group[window]) * min(bound[window], np.int32(1))


@bare_helper
def add_prior(bound: Any, prior_max: Any, weight: Any) -> Any:
    for window in range(len(bound)):
        more = weight * np.int32(prior_max[window])
        bound[window] = (bound[window] + more) * min(bound[window], np.int32(1))


LEVELS = 256  # of bounds, when windows are ordered by them


@bare_helper
def most_promising(bound: Any, chosen: Any) -> Any:
    """The windows with the largest bounds, at most ``len(chosen)`` of them, best first; how many."""
    count = 0
    least = np.int32(0)
    for window in range(len(bound)):
        if bound[window] <= least:
            continue
        at = min(count, len(chosen) - 1)
        while at > 0 and bound[chosen[at - 1]] < bound[window]:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = window
        count = min(count + 1, len(chosen))
        if count == len(chosen):
            least = bound[chosen[count - 1]]
    return count


@bare_helper
def by_bound(bound: Any, floor: Any, chosen: Any, spare: Any) -> Any:
    """The windows that reach the floor, by falling bound (roughly); how many."""
    count = 0
    for window in range(len(bound)):
        chosen[np.uint64(count)] = window
        count += bound[window] >= floor
    if count < 2:
        return count
    largest = np.int32(0)
    for window in range(len(bound)):
        largest = max(largest, bound[window])
    shift = 0
    while (np.int64(largest) - floor) >> shift >= LEVELS:
        shift += 1
    ends = spare[: LEVELS + 1]
    ends[:] = 0
    level: Any = 0
    for at in range(count):
        level = (np.int64(largest) - np.int64(bound[chosen[at]])) >> shift
        ends[level + 1] += 1
    for level in range(LEVELS):
        ends[level + 1] += ends[level]
    sorted_windows = spare[LEVELS + 1 :]
    for at in range(count):
        level = (np.int64(largest) - np.int64(bound[chosen[at]])) >> shift
        sorted_windows[ends[level]] = chosen[at]
        ends[level] += 1
    for at in range(count):
        chosen[at] = sorted_windows[at]
    return count
