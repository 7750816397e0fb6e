"""Marks: what a document is beside its text. Unfit for all ages, a dated article, the description of a place.

By the share of telling words that parsing measured, and by the structured data that pages carry (schema.org). A density
of words is no verdict on pictures, and says nothing in languages that its list does not know. Articles and places come
with facts, such as the author or the telephone number, which a list of them shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNFIT, NEWS, PLACES = 1, 2, 4  # bits of a mark
TABS = {"news": NEWS, "places": PLACES}
ADULT_WORDS = "adult_words"  # the signal
MOST_ADULT = 0.01  # of the words of a page that is fit for all ages
LONGEST = 160  # characters of a fact, of an address four times as many

ARTICLES = frozenset({
    "Article", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "OpinionNewsArticle", "BlogPosting",
    "LiveBlogPosting", "BackgroundNewsArticle", "ReviewNewsArticle",
})  # fmt: skip
SCENES = frozenset({
    "Place", "LocalBusiness", "Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "BarOrPub", "Bakery", "Hotel",
    "LodgingBusiness", "Hostel", "Store", "Museum", "Library", "TouristAttraction", "CivicStructure", "Park", "Beach",
    "Landform", "LandmarksOrHistoricalBuildings", "Hospital", "Pharmacy", "School", "SportsActivityLocation",
})  # fmt: skip

Facts = dict[str, str]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Facts]).decode


def marks_of(signals: dict[str, float], structured: Sequence[dict[str, Any]]) -> tuple[int, str]:
    """The marks of a document, and its facts as they are kept."""
    marks = UNFIT if signals.get(ADULT_WORDS, 0.0) >= MOST_ADULT else 0
    if not structured:
        return marks, ""
    kinds = dict(kinds_of(structured))
    for tab in kinds:
        marks |= TABS[tab]
    facts = {tab: told for tab, told in kinds.items() if told}
    return marks, _encode(facts).decode() if facts else ""


def facts_of(kept: bytes, tab: str) -> Facts:
    """What is known of a document for one tab."""
    return _decode(kept).get(tab, {}) if kept else {}


def kinds_of(items: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Facts]]:
    """The tabs that a page belongs to by its items, each with facts; of several for one tab the last counts."""
    for item in items[::-1]:  # the first item of a page counts most
        names = set(_types(item))
        if names & ARTICLES and _text(item.get("datePublished")):
            yield "news", _told(source=_text(item.get("publisher")), author=_text(item.get("author")))
        if names & SCENES or (
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
