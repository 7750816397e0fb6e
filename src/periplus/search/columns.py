"""Filters over columns where the index's own query cannot express them: what is excluded, browsing without words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index.query import Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.snapshot import Snapshot

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


def host_matches(host: str, site: str) -> bool:
    """Is ``host`` (perhaps with a port) the site or below it?"""
    name = host.split(":", maxsplit=1)[0]
    return site in (host, name) or name.endswith(f".{site}")


def admitted(snapshot: Snapshot, filters: Filters, numbers: Numbers) -> Mask:
    """Which of ``numbers`` all the filters let through."""
    mask = np.ones(len(numbers), dtype=np.bool_)
    if filters.sites:
        mask &= _on_sites(snapshot, filters.sites, numbers)
    if filters.languages:
        mask &= _named(snapshot, "language", snapshot.language_names(), filters.languages, numbers)
    if filters.types:
        mask &= _named(snapshot, "type", snapshot.type_names(), filters.types, numbers)
    if filters.before or filters.after:
        moments = dates(snapshot, numbers)
        mask &= (moments < filters.before) if filters.before else True
        mask &= (moments >= filters.after) if filters.after else True
    return mask


def rejected(snapshot: Snapshot, filters: Filters, numbers: Numbers) -> Mask:
    """Which of ``numbers`` any one of the filters would let through: for what a query excludes."""
    mask = np.zeros(len(numbers), dtype=np.bool_)
    for single in _each(filters):
        mask |= admitted(snapshot, single, numbers)
    return mask


def dates(snapshot: Snapshot, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.float64]]:
    """When each was published, else fetched."""
    published = np.asarray(snapshot.column("published", numbers), dtype=np.float64)
    fetched = np.asarray(snapshot.column("fetched", numbers), dtype=np.float64)
    return np.where(published > 0, published, fetched)


def browse(snapshot: Snapshot, filters: Filters, order: str) -> tuple[Numbers, np.ndarray[Any, np.dtype[np.float64]]]:
    """All that the filters admit, by link prior (or by date), with that as their score."""
    numbers = snapshot.numbers()
    numbers = numbers[admitted(snapshot, filters, numbers)]
    worth = dates(snapshot, numbers) if order == "date" else np.asarray(snapshot.column("prior", numbers), np.float64)
    best = np.lexsort((snapshot.column("key", numbers), -worth))
    return numbers[best], np.asarray(snapshot.column("prior", numbers[best]), dtype=np.float64)


def _each(filters: Filters) -> list[Filters]:
    """One filter for each condition that is set."""
    candidates = [
        Filters(sites=filters.sites),
        Filters(languages=filters.languages),
        Filters(types=filters.types),
        Filters(before=filters.before),
        Filters(after=filters.after),
    ]
    return [single for single in candidates if single != Filters()]


def _on_sites(snapshot: Snapshot, sites: Sequence[str], numbers: Numbers) -> Mask:
    wanted = [i for i, host in enumerate(snapshot.host_names()) if any(host_matches(host, site) for site in sites)]
    return np.isin(snapshot.column("host", numbers), wanted)


def _named(snapshot: Snapshot, column: str, names: Sequence[str], wanted: Sequence[str], numbers: Numbers) -> Mask:
    return np.isin(snapshot.column(column, numbers), [i for i, name in enumerate(names) if name in wanted])
