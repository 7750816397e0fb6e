"""News and places: which pages are a dated article or describe a place, by the structured data that they carry.

Read from the batches in a thread of its own whenever a new generation is served; nothing is asked of anybody else. A
search in one of them is the ordinary search among the pages that belong, without host diversity.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from periplus import addresses
from periplus.errors import PeriplusError
from periplus.search import Among

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.app.collection import Collection
    from periplus.documents import BatchLog
    from periplus.records import SearchAnswer, SearchRequest

NAMES = ("news", "places")
MOST = 50_000  # pages of each that are known
LONGEST = 160  # characters of a fact

ARTICLES = frozenset({
    "Article", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "OpinionNewsArticle", "BlogPosting",
    "LiveBlogPosting", "BackgroundNewsArticle", "ReviewNewsArticle",
})  # fmt: skip
PLACES = frozenset({
    "Place", "LocalBusiness", "Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "BarOrPub", "Bakery", "Hotel",
    "LodgingBusiness", "Hostel", "Store", "Museum", "Library", "TouristAttraction", "CivicStructure", "Park", "Beach",
    "Landform", "LandmarksOrHistoricalBuildings", "Hospital", "Pharmacy", "School", "SportsActivityLocation",
})  # fmt: skip

Facts = dict[str, str]
_NOTHING = Among(())
_decode = msgspec.json.Decoder(list[dict[str, Any]]).decode


class Verticals:
    """Every call may come from any thread; until a collection is read, there is none."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._read: dict[str, dict[int, Facts]] = {name: {} for name in NAMES}
        self._generation = 0  # for which it was read, or is being read
        self._batch = 0  # the last one read
        self._parts: dict[str, tuple[int, Among]] = {}  # with the batch up to which it holds

    def names(self) -> tuple[str, ...]:
        """Those that the collection has pages for; begins to read what is new, and does not wait for it."""
        generation = self._collection.engine.generation
        if generation != self._generation and self._lock.acquire(blocking=False):
            self._generation = generation
            threading.Thread(target=self._catch_up, name="verticals", daemon=True).start()
        return tuple(name for name in NAMES if self._read[name])

    def search(self, request: SearchRequest, name: str) -> tuple[SearchAnswer, dict[str, Facts]]:
        """The results that belong, and what is known of each by its id."""
        known = self._read.get(name, {})
        asked = structs.replace(request, explain=False, counts=False)
        answer = self._collection.engine.search(asked, per_host=0, among=self._among(name))
        found = {result.id: known.get(addresses.key(result.url), {}) for result in answer.results if result.url}
        return structs.replace(answer, suggestions=()), found

    def _among(self, name: str) -> Among:
        """The pages that belong; the same object while nothing new was read, so that answers are kept."""
        batch, known = self._parts.get(name, (-1, _NOTHING))
        if batch != self._batch:
            batch = self._batch
            known = Among(list(self._read.get(name, {})))
            self._parts[name] = (batch, known)
        return known

    def _catch_up(self) -> None:
        from periplus.documents import BatchLog  # which loads Arrow

        try:
            log = BatchLog(self._collection.files, self._collection.database)
            for number in log.numbers(self._batch):
                self._take(log, number)
                self._batch = number
        except PeriplusError:
            self._generation = 0  # a batch is being replaced, or the collection closes: look again with the next page
        finally:
            self._lock.release()

    def _take(self, log: BatchLog, number: int) -> None:
        table = log.document_table(number, ["key", "refusal", "structured"])
        columns = (table.column(name).to_pylist() for name in ("key", "refusal", "structured"))
        for key, refusal, structured in zip(*columns, strict=True):
            kinds = {} if refusal or len(structured) < 3 else dict(_kinds(_decode(structured)))
            for name, pages in self._read.items():
                if name in kinds and len(pages) < MOST:
                    pages[key] = kinds[name]
                else:
                    pages.pop(key, None)


def _kinds(items: list[dict[str, Any]]) -> Iterator[tuple[str, Facts]]:
    for item in items[::-1]:  # the first item of a page counts most
        names = set(_types(item))
        if names & ARTICLES and _text(item.get("datePublished")):
            yield "news", _told(source=_text(item.get("publisher")), author=_text(item.get("author")))
        if names & PLACES or (
            _text(item.get("name")) and item.get("address") and (item.get("geo") or "telephone" in item)
        ):
            yield "places", _place(item)


def _place(item: dict[str, Any]) -> Facts:
    rating = item.get("aggregateRating")
    value = _text(rating.get("ratingValue")) if isinstance(rating, dict) else ""
    best = (_text(rating.get("bestRating")) if isinstance(rating, dict) else "") or "5"
    return _told(
        address=_address(item.get("address")),
        telephone=_text(item.get("telephone")),
        hours=_text(item.get("openingHours")),
        rating=f"{value} / {best}" if value else "",
        price=_text(item.get("priceRange")),
    )


def _address(value: Any) -> str:
    if not isinstance(value, dict):
        return _text(value)
    parts = (_text(value.get(name)) for name in ("streetAddress", "postalCode", "addressLocality", "addressCountry"))
    return ", ".join(part for part in parts if part)


def _types(item: dict[str, Any]) -> list[str]:
    value = item.get("@type")
    names = value if isinstance(value, list) else [value]
    return [name.rpartition("/")[2] for name in names if isinstance(name, str)]


def _text(value: Any) -> str:
    """A readable text of a property: a string, a number, the name of a thing, or the first few of a list."""
    if isinstance(value, list):
        return ", ".join(part for part in map(_text, value[:3]) if part)[:LONGEST]
    if isinstance(value, dict):
        return _text(value.get("name"))
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split())[:LONGEST] if is_plain else ""


def _told(**facts: str) -> Facts:
    return {name: text for name, text in facts.items() if text}
