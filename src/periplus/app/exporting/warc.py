"""A part of the archive as one WARC file: what a query finds, what a site has, or what of a site a query finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from periplus import __version__, addresses, archive
from periplus.crawl import archived_places
from periplus.errors import NotFound, PeriplusError
from periplus.index import hexadecimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.records import Exchange

MOST_FOUND: Final = 1_000  # pages of a query, the best first


class WarcSubset(NamedTuple):
    responses: int
    unreadable: int  # damaged, or taken down


def write_warc(
    collection: Collection,
    target: Path,
    query: str = "",
    site: str = "",
    progress: Callable[[int], None] | None = None,
) -> WarcSubset:
    """Write the last response of each page that is asked for; ``NotFound`` where the archive has none of them."""
    responses = _Responses(collection, _wanted(collection, query, site.lower()), progress or (lambda _: None))
    if responses.first is None:
        raise NotFound("the archive has no page that was asked for; imports and older crawls may not be in it")
    count = archive.write_subset(target, responses, f"Periplus {__version__}")
    return WarcSubset(count, responses.unreadable)


class _Responses:
    def __init__(self, collection: Collection, is_wanted: Callable[[str], bool], say: Callable[[int], None]) -> None:
        self.unreadable, self._say = 0, say
        self._archive = collection.archive
        self._places = archived_places(collection.database, is_wanted)
        self.first = self._next()

    def __iter__(self) -> Iterator[Exchange]:
        exchange, count = self.first, 0
        while exchange is not None:
            yield exchange
            count += 1
            self._say(count)
            exchange = self._next()

    def _next(self) -> Exchange | None:
        for place in self._places:
            try:
                return archive.read(self._archive, place)
            except PeriplusError:
                self.unreadable += 1
        return None


def _wanted(collection: Collection, query: str, site: str) -> Callable[[str], bool]:
    found = dict(collection.engine.ranking(query, MOST_FOUND, plain=False)) if query else {}

    def is_wanted(url: str) -> bool:
        return (not query or hexadecimal(addresses.key(url)) in found) and (not site or _is_of(site, url))

    return is_wanted


def _is_of(site: str, url: str) -> bool:
    host = addresses.host(url)
    name = host.rpartition(":")[0] or host
    return site in (host, name) or name.endswith(f".{site}")
