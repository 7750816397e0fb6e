"""How many matches each value of the filters would leave: sites, languages, types, years.

Every match is counted while there are at most ``MAX_COUNTED`` of them in all; of more, the best by first pass, and
``relation`` says so. Made only for requests that ask for it, because counting forbids pruning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.records import Count, FilterCounts
from periplus.search.columns import browse, dates, rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.search.columns import Numbers
    from periplus.search.execution import Task

MAX_COUNTED = 100_000
MAX_VALUES = 20  # shown of one filter
SECONDS_OF_YEAR = 365.2425 * 86_400


def counted(snapshot: Snapshot, task: Task) -> FilterCounts:
    """The matches of a task by filter; a match without a value (no host, no date) is in none of its counts."""
    numbers, whole = _matches(snapshot, task)
    return FilterCounts(
        site=_by_name(snapshot.column("site", numbers), snapshot.site_names()),
        language=_by_name(snapshot.column("language", numbers), snapshot.language_names()),
        type=_by_name(snapshot.column("type", numbers), snapshot.type_names()),
        year=_by_year(snapshot, numbers),
        relation="eq" if whole else "gte",
    )


def _matches(snapshot: Snapshot, task: Task) -> tuple[Numbers, bool]:
    plan = task.plan
    if plan.browses:
        numbers, whole = browse(snapshot, plan.query.filters, "score")[0], True
    else:
        hits = snapshot.top(plan.query, MAX_COUNTED, prior_weight=task.profile.prior_weight)
        numbers, whole = hits.numbers, len(hits.numbers) < MAX_COUNTED
    kept = ~rejected(snapshot, plan.excluded, numbers)
    if task.only is not None:
        kept &= np.isin(numbers, task.only)
    if task.unfit is not None:
        kept &= ~np.isin(numbers, task.unfit)
    return numbers[kept], whole


def _by_name(places: Any, names: Sequence[str]) -> tuple[Count, ...]:
    counts = np.bincount(np.asarray(places, np.int64), minlength=len(names))
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda place: (-int(counts[place]), names[place]))
    return tuple(Count(names[place], int(counts[place])) for place in order if names[place])[:MAX_VALUES]


def _by_year(snapshot: Snapshot, numbers: Numbers) -> tuple[Count, ...]:
    moments = dates(snapshot, numbers)
    sane = moments[(moments > 0) & (moments < 8000 * SECONDS_OF_YEAR)]
    years = sane.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
    values, counts = np.unique(years, return_counts=True)
    pairs = sorted(zip(values.tolist(), counts.tolist(), strict=True), reverse=True)
    return tuple(Count(str(year), count) for year, count in pairs)[:MAX_VALUES]
