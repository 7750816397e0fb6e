"""Marks: what a document is beside its text. Unfit for all ages, a dated article, a place, a product, a picture.

By the share of telling words that parsing measured, and by the structured data that pages carry (schema.org). A density
of words is no verdict on pictures, and says nothing in languages that its list does not know. Articles, places and
products come with facts, such as the author, the telephone number or the price, which a list of them shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNFIT, NEWS, PLACES, PRODUCTS, IMAGES, DEFINITIONS = 1, 2, 4, 8, 16, 32  # bits of a mark
TABS = {"news": NEWS, "places": PLACES, "products": PRODUCTS, "images": IMAGES, "definitions": DEFINITIONS}
ADULT_WORDS = "adult_words"  # the signal
MOST_ADULT = 0.01  # of the words of a page that is fit for all ages
LONGEST = 160  # characters of a fact, of an address four times as many
LONGEST_LINK = 500  # characters of the address of a picture
MOST_TERMS = 5  # that a page defines
LONGEST_TEXT = 400  # characters of a definition
MOST_HOURS = 14  # entries of opening hours that are read

ARTICLES = frozenset({
    "Article", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "OpinionNewsArticle", "BlogPosting",
    "LiveBlogPosting", "BackgroundNewsArticle", "ReviewNewsArticle",
})  # fmt: skip
SCENES = frozenset({
    "Place", "LocalBusiness", "Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "BarOrPub", "Bakery", "Hotel",
    "LodgingBusiness", "Hostel", "Store", "Museum", "Library", "TouristAttraction", "CivicStructure", "Park", "Beach",
    "Landform", "LandmarksOrHistoricalBuildings", "Hospital", "Pharmacy", "School", "SportsActivityLocation",
})  # fmt: skip
GOODS = frozenset({"Product", "ProductModel", "ProductGroup", "IndividualProduct", "SomeProducts", "Book", "Vehicle"})
DAYS = {
    "Monday": "Mo", "Tuesday": "Tu", "Wednesday": "We", "Thursday": "Th", "Friday": "Fr", "Saturday": "Sa",
    "Sunday": "Su",
}  # fmt: skip
STOCK = {
    "InStock": "in stock", "OnlineOnly": "in stock", "InStoreOnly": "in the shop only",
    "LimitedAvailability": "few left", "OutOfStock": "sold out", "SoldOut": "sold out", "Discontinued": "sold out",
    "PreOrder": "on order", "BackOrder": "on order",
}  # fmt: skip

Facts = dict[str, str]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Facts]).decode


def marks_of(
    signals: dict[str, float], structured: Sequence[dict[str, Any]], images: Sequence[tuple[str, str]] = ()
) -> tuple[int, str]:
    """The marks of a document, and its facts as they are kept."""
    marks = UNFIT if signals.get(ADULT_WORDS, 0.0) >= MOST_ADULT else 0
    if not structured and not images:
        return marks, ""
    kinds = dict(kinds_of(structured))
    from periplus.documents import telling_pictures  # parsers, which a search need not load

    pictures = telling_pictures(images)
    if defined := _definitions(structured):
        kinds["definitions"] = {"definitions": "\n".join(f"{term}\t{text}" for term, text in defined)}
    if pictures:
        kinds["images"] = {"pictures": "\n".join(f"{address} {text}" for address, text in pictures)}
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
            yield (
                "news",
                _told(source=_text(item.get("publisher")), author=_text(item.get("author")), image=_picture(item)),
            )
        if names & SCENES or (
            _text(item.get("name")) and item.get("address") and (item.get("geo") or "telephone" in item)
        ):
            yield "places", _place(item)
        offer = _first(item.get("offers"))
        if names & GOODS and _text(item.get("name")) and offer:
            yield "products", _product(item, offer)


def _definitions(items: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Terms that a page defines, with how: ``DefinedTerm`` by itself, or in a set of them."""
    listed: list[Any] = []
    for item in items:
        names = _types(item)
        if "DefinedTermSet" in names and isinstance(item.get("hasDefinedTerm"), list):
            listed += item["hasDefinedTerm"][:MOST_TERMS]
        elif "DefinedTerm" in names:
            listed.append(item)
    told = [
        (_text(one.get("name")), _text(one.get("description"), LONGEST_TEXT)) for one in listed if isinstance(one, dict)
    ]
    return [(term, text) for term, text in told if term and text][:MOST_TERMS]


def _place(item: dict[str, Any]) -> Facts:
    geo = _first(item.get("geo"))
    where = [_text(geo.get(name)) for name in ("latitude", "longitude")]
    return _told(
        address=_address(item.get("address")),
        telephone=_text(item.get("telephone")),
        hours=_hours(item),
        rating=_rating(item),
        price=_text(item.get("priceRange")),
        name=_text(item.get("name")),
        reviews=_reviews(item),
        categories=_text(item.get("servesCuisine")),
        geo=",".join(where) if all(where) else "",
        image=_picture(item),
    )


def _product(item: dict[str, Any], offer: dict[str, Any]) -> Facts:
    price = _text(offer.get("price")) or _text(offer.get("lowPrice"))
    currency = _text(offer.get("priceCurrency"))
    return _told(
        price=f"{currency} {price}".strip() if price else "",
        stock=STOCK.get(_text(offer.get("availability")).rpartition("/")[2], ""),
        rating=_rating(item),
        reviews=_reviews(item),
        brand=_text(item.get("brand")),
        name=_text(item.get("name")),
        image=_picture(item),
    )


def _first(value: Any) -> dict[str, Any]:
    """A thing, or the first of a list of them."""
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


def _rating(item: dict[str, Any]) -> str:
    rating = _first(item.get("aggregateRating"))
    value = _text(rating.get("ratingValue"))
    return f"{value} / {_text(rating.get('bestRating')) or '5'}" if value else ""


def _reviews(item: dict[str, Any]) -> str:
    rating = _first(item.get("aggregateRating"))
    return _text(rating.get("reviewCount")) or _text(rating.get("ratingCount"))


def _picture(item: dict[str, Any]) -> str:
    """The address of its picture, where that is a whole one."""
    value: Any = item.get("image")
    value = value[0] if isinstance(value, list) and value else value
    value = value.get("url") or value.get("contentUrl") if isinstance(value, dict) else value
    if not isinstance(value, str) or len(value) > LONGEST_LINK or not value.isprintable():
        return ""
    return value if value.startswith(("http://", "https://")) else ""


def _hours(item: dict[str, Any]) -> str:
    """Opening hours as schema.org writes them in one line: ``Mo-Fr 09:00-18:00; Sa 10:00-14:00``."""
    listed = item.get("openingHours")
    if listed:
        lines = listed if isinstance(listed, list) else [listed]
        return "; ".join(text for text in map(_text, lines[:MOST_HOURS]) if text)[: 2 * LONGEST]
    spans = item.get("openingHoursSpecification")
    spans = spans if isinstance(spans, list) else [spans]
    by_times: dict[str, list[str]] = {}
    for span in spans[:MOST_HOURS]:
        if not isinstance(span, dict):
            continue
        opens, closes = _text(span.get("opens"))[:5], _text(span.get("closes"))[:5]
        named = span.get("dayOfWeek")
        days = [DAYS.get(_text(day).rpartition("/")[2], "") for day in (named if isinstance(named, list) else [named])]
        if opens and closes and any(days):
            by_times.setdefault(f"{opens}-{closes}", []).extend(filter(None, days))
    return "; ".join(f"{','.join(days)} {times}" for times, days in by_times.items())


def _address(value: Any) -> str:
    if not isinstance(value, dict):
        return _text(value)
    parts = (_text(value.get(name)) for name in ("streetAddress", "postalCode", "addressLocality", "addressCountry"))
    return ", ".join(part for part in parts if part)


def _types(item: dict[str, Any]) -> list[str]:
    value = item.get("@type")
    names = value if isinstance(value, list) else [value]
    return [name.rpartition("/")[2] for name in names if isinstance(name, str)]


def _text(value: Any, most: int = LONGEST) -> str:
    """A readable text of a property: a string, a number, the name of a thing, or the first few of a list."""
    if isinstance(value, list):
        return ", ".join(part for part in map(_text, value[:3]) if part)[:LONGEST]
    if isinstance(value, dict):
        return _text(value.get("name"))
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split())[:most] if is_plain else ""


def _told(**facts: str) -> Facts:
    return {name: text for name, text in facts.items() if text}
