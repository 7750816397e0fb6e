"""How many matches each value of the filters would leave: sites, languages, types, years.

Every match is counted while a shard has at most ``MAX_COUNTED`` of them; of more, the best by first pass, and
``relation`` says so. Made only for requests that ask for it, because counting forbids pruning.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index import text_language
from periplus.records import Count, FilterCounts
from periplus.search.shards.columns import dates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Numbers, ShardQuery

MAX_COUNTED = 100_000
MAX_VALUES = 20  # shown of one filter
SECONDS_OF_YEAR = 365.2425 * 86_400


class Counted(Struct, frozen=True):
    """The matches of a shard by name."""

    site: dict[str, int]
    language: dict[str, int]
    type: dict[str, int]
    year: dict[str, int]
    whole: bool  # all of them


def counted(snapshot: Snapshot, first_pass: Callable[[ShardQuery, int], Any], asked: ShardQuery) -> Counted:
    """The matches of a query; one without a value (no host, no date) is in none of its counts."""
    numbers: Numbers = first_pass(asked, MAX_COUNTED).numbers
    return Counted(
        _by_name(snapshot.column("site", numbers), snapshot.site_names()),
        _by_name(snapshot.column("language", numbers), list(map(text_language, snapshot.language_names()))),
        _by_name(snapshot.column("type", numbers), snapshot.type_names()),
        _by_year(snapshot, numbers),
        len(numbers) < MAX_COUNTED,
    )


def summed(parts: Sequence[Counted]) -> FilterCounts:
    """What all shards counted: most frequent first, years from the last one on."""
    return FilterCounts(
        site=_most(part.site for part in parts),
        language=_most(part.language for part in parts),
        type=_most(part.type for part in parts),
        year=tuple(sorted(_all(part.year for part in parts), key=lambda one: -int(one.value)))[:MAX_VALUES],
        relation="eq" if all(part.whole for part in parts) else "gte",
    )


def _most(parts: Iterable[dict[str, int]]) -> tuple[Count, ...]:
    return tuple(sorted(_all(parts), key=lambda one: (-one.count, one.value)))[:MAX_VALUES]


def _all(parts: Iterable[dict[str, int]]) -> list[Count]:
    whole: Counter[str] = Counter()
    for part in parts:
        whole.update(part)
    return [Count(name, count) for name, count in whole.items()]


def _by_name(places: Any, names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(np.asarray(places, np.int64), minlength=len(names))
    found: Counter[str] = Counter()
    for place in np.flatnonzero(counts).tolist():
        if names[place]:
            found[names[place]] += int(counts[place])
    return dict(found)


def _by_year(snapshot: Snapshot, numbers: Numbers) -> dict[str, int]:
    moments = dates(snapshot, numbers)
    sane = moments[(moments > 0) & (moments < 8000 * SECONDS_OF_YEAR)]
    years = sane.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
    values, counts = np.unique(years, return_counts=True)
    return dict(zip(map(str, values.tolist()), counts.tolist(), strict=True))
