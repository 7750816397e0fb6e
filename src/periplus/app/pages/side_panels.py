"""Panels beside the results of a collection, as its settings want them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from periplus.app.pages.icons import stored_picture, stored_pictures
from periplus.errors import PeriplusError
from periplus.verticals import (
    OwnIndex,
    PendingPanels,
    Thumbnails,
    Verticals,
    Whereabouts,
    can_decode,
    fetched_picture,
    fitting_picture,
    pictures_of,
    services,
)

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.records import SearchAnswer, SearchRequest
    from periplus.verticals import Position

TOP = 10  # results that say what a query is about
IMAGES = "images"  # the tab
THUMBNAILS = "thumbnails"  # in the folder of the collection


class CollectionVerticals:
    """A wrong key or file is an error when the server starts, not when somebody searches."""

    def __init__(self, collection: Collection) -> None:
        chosen = collection.settings.verticals
        self._collection = collection
        self._is_on = chosen.panels
        self.verticals = Verticals(
            OwnIndex(self._search, self.page_pictures), services(chosen) if chosen.panels else ()
        )
        self.thumbnails = Thumbnails(collection.folder / THUMBNAILS)
        database = collection.folder / chosen.ip_database if chosen.ip_database else None
        self._whereabouts = Whereabouts(chosen.position, database)

    def begin(self, request: SearchRequest, position: Position | None, answer: SearchAnswer | None) -> PendingPanels:
        """What stands beside a list; services are asked in threads of their own."""
        if not self._is_on:
            return PendingPanels([], [])
        engine = self._collection.engine
        answer = answer or engine.search(request)
        found = engine.kinds(answer.results[:TOP])
        # What was typed, since corrections are made of our own words, and services know others.
        return self.verticals.begin(answer.query.text, found, self.tabs(), position, request.reader)

    def tabs(self) -> tuple[str, ...]:
        """Kinds that there are pages of; pictures only where thumbnails of them can be shown."""
        shows = self._collection.settings.crawl.pictures and can_decode()
        hidden = {"definitions"} if shows else {"definitions", IMAGES}
        return tuple(tab for tab in self._collection.engine.tabs if tab not in hidden)

    def picture(self, url: str) -> bytes:
        """A small copy of a picture that the crawl brought, or that a service showed; of no other."""
        if not can_decode():
            return b""
        return self.thumbnails.get(url, lambda: self._source(url))

    def page_pictures(self, answer: SearchAnswer) -> dict[str, tuple[str, str]]:
        """Addresses and texts of the pictures of results, by the ids of these; only what the crawl brought."""
        if IMAGES not in self.tabs():
            return {}
        try:
            known = self._collection.engine.facts(answer.results, IMAGES)
        except PeriplusError:
            return {}  # a list without pictures is better than none
        listed = {name: pictures_of(facts) for name, facts in known.items()}
        shown = self._shown({address for some in listed.values() for address, _ in some})
        chosen = {
            name: fitting_picture([one for one in some if one[0] in shown], answer.query.text)
            for name, some in listed.items()
        }
        return {name: one for name, one in chosen.items() if one[0]}

    def _shown(self, wanted: set[str]) -> frozenset[str]:
        """Those of these pictures that there is a small copy of, or may be."""
        stored = stored_pictures(self._collection, wanted)
        return frozenset(address for address in stored if not self.thumbnails.is_hopeless(address))

    def _source(self, url: str) -> bytes | None:
        stored = stored_picture(self._collection, url)
        if stored is not None or urlsplit(url).hostname not in self.verticals.picture_hosts:
            return stored
        return fetched_picture(url)

    def _search(self, request: SearchRequest, tab: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
        return self._collection.engine.search_tab(request, tab)

    def whereabouts(self, address: str) -> Position | None:
        return self._whereabouts.of(address)


def forget_thumbnails(folder: Path) -> None:
    """All of a collection: one of them may show what is taken down."""
    Thumbnails(folder / THUMBNAILS).forget()
