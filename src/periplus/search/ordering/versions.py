"""Newest version first, where a query asks for what is new.

Pages of one series differ in nothing but numbers: same host, and address and title alike once numbers are taken out. A
series of versions takes the places that it has in a ranking, the newest first: 3.10 before 3.9, unlike letters would
have it. Numbers of chapters are no versions: one of several numbers is, such as 15.3 or 2019-11-19, or one behind a
word that says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.search.opening.context import SearchContext
    from periplus.search.ordering.listing import Ranking

LOOKED_AT = 50  # results
_NUMBERS = re.compile(r"\d+(?:[._-]\d+)*")
_VERSION = re.compile(r"(?:(?:version|release)[ /_-]*)?(\d+(?:[._-]\d+)+)|(?:version|release)[ /_-]*(\d+)")

Version = tuple[int, ...]


def newest_first(context: SearchContext, ranking: Ranking) -> Ranking:
    """The ranking with the versions of each series in their order."""
    count = min(LOOKED_AT, ranking.compared)
    if count < 2:
        return ranking
    places = np.array(in_order(context.shards.titles(ranking.numbers[:count])), np.int64)
    if np.all(places[1:] > places[:-1]):
        return ranking
    order = np.concatenate([places, np.arange(count, len(ranking.numbers))])
    moved = {name: getattr(ranking, name)[order] for name in ("numbers", "hosts", "prints", "fits")}
    return structs.replace(ranking, **moved)


def in_order(pages: Sequence[tuple[str, str]]) -> list[int]:
    """For each place the page that stands there, of pages by address and title."""
    series: dict[tuple[str, str, str], list[tuple[Version, int]]] = defaultdict(list)
    for place, (url, title) in enumerate(pages):
        parts = urlsplit(url)
        version = version_of(parts.path) or version_of(title)
        if version:
            series[parts.netloc, _NUMBERS.sub("#", parts.path), _NUMBERS.sub("#", title)].append((version, place))
    result = list(range(len(pages)))
    for known in series.values():
        newest = sorted(known, key=lambda entry: entry[0], reverse=True)
        for (_, place), (_, page) in zip(known, newest, strict=True):
            result[place] = page
    return result


def version_of(text: str) -> Version:
    """The first version that a text names; empty when it names none."""
    found = _VERSION.search(text.lower())
    return tuple(map(int, re.findall(r"\d+", found.group(1) or found.group(2)))) if found else ()
