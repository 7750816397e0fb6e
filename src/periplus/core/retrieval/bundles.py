"""Bundles: the arrays of a search under names, as its kernels pass them on."""

from __future__ import annotations

from typing import Any, NamedTuple


class Collector(NamedTuple):
    """The best k documents met so far (``collector``)."""

    table: Any  # of segments
    state: Any  # size, threshold, matches, and those at or above the threshold's bucket
    scores: Any
    numbers: Any
    histogram: Any  # of scores, where many are kept
    other_scores: Any  # as large as ``scores``, for sorting
    other_numbers: Any
    shift: Any  # of a score to the number of its bucket
    k: Any


class Lists(NamedTuple):
    """The lists of a query, in groups; groups of one clause stand side by side."""

    weights: Any
    rows: Any  # addresses of what is known of each list (``layout.lists``)
    starts: Any  # first list of each group, and their end
    clauses: Any  # of each group: a required one from 0 on, OPTIONAL or FORBIDDEN
    tables: Any  # of each list in each segment: the addresses of ``TABLE`` arrays
    bits: Any  # addresses of the bits of lists through all segments (0: none)
    required: Any  # clauses that are required
    prior_weight: Any


class Blocks(NamedTuple):
    """The windows of all segments, numbered through."""

    first: Any  # window of each segment
    segment: Any  # of each window
    bounds: Any  # what a document of each window can score at most; 0 when it is done with
    todo: Any
    spare: Any


class Desk(NamedTuple):
    """What a visit of one window works with."""

    scores: Any  # by document
    best: Any  # of several forms, by document
    found: Any  # documents that may be among the best, ascending
    found_scores: Any
    low: Any  # postings of each list in this window
    high: Any
    order: Any  # groups that are here, by rising value
    values: Any  # the most that each group can add here
    match: Any  # one bit a document: those that match
    union: Any


class Visit(NamedTuple):
    """One window."""

    wide: Any  # its number through all segments
    segment: Any
    window: Any  # its number in the segment
    bound: Any
    prior_bound: Any
    threshold: Any  # a document has to score as much
