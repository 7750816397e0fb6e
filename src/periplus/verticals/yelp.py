"""Businesses near a place, by Yelp's business search (Fusion API, since 2024 called Places API; version 3).

https://docs.developer.yelp.com/reference/v3_business_search
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from periplus.records import PanelCard
from periplus.verticals.provider import HOUR
from periplus.verticals.reading import at, count, items, link, number, place, rating, text
from periplus.verticals.requests import get_json

if TYPE_CHECKING:
    from periplus.verticals.provider import Question

MOST = 5
_WHERE = re.compile(r"^(.*?)\s+(?:in|near|around|bei|à|en|em|a)\s+(\S.*)$", re.IGNORECASE)
_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_SERVICES = {"pickup": "pickup", "delivery": "delivery", "restaurant_reservation": "reservations"}


class YelpPlaces:
    name, kind, home = "Yelp", "places", "https://www.yelp.com/"
    keeps = HOUR
    hourly = 200  # of 5,000 a day that a trial key has
    picture_hosts = tuple(f"s3-media{number}.fl.yelpcdn.com" for number in range(5))

    def __init__(self, key: str, base: str = "https://api.yelp.com") -> None:
        self._headers = {"authorization": f"Bearer {key}"}
        self._base = base

    def key(self, question: Question) -> tuple[object, ...] | None:
        term, where = _split(question.subject or question.query)
        shared = question.position.shared if question.position else None
        return (term, where or shared) if where or shared else None

    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]:
        term, where = _split(question.subject or question.query)
        parameters: dict[str, Any] = {"term": term, "limit": MOST, "location": where}
        if not where and question.position and question.position.shared:
            parameters["latitude"], parameters["longitude"] = question.position.shared
        found = get_json(f"{self._base}/v3/businesses/search", parameters, deadline, self._headers)
        return tuple(_card(one) for one in items(found, "businesses", most=MOST) if _is_shown(one))


def _split(subject: str) -> tuple[str, str]:
    """``ramen in bern`` as what and where."""
    found = _WHERE.match(subject)
    return (found[1], found[2]) if found else (subject, "")


def _is_shown(one: Any) -> bool:
    return bool(text(one, "name")) and at(one, "is_closed") is not True  # closed for good, that is


def _card(one: Any) -> PanelCard:
    is_open = at(one, "business_hours", 0, "is_open_now")
    return PanelCard(
        title=text(one, "name"),
        url=link(one, "url"),
        source="Yelp",
        image=link(one, "image_url"),
        rating=rating(one, "rating"),
        reviews=count(one, "review_count"),
        price=text(one, "price", limit=12),
        categories=tuple(filter(None, (text(kind, "title") for kind in items(one, "categories", most=3)))),
        services=tuple(filter(None, (_SERVICES.get(text(name)) for name in items(one, "transactions")))),
        phone=text(one, "display_phone") or text(one, "phone"),
        address=", ".join(filter(None, (text(line) for line in items(one, "location", "display_address", most=4)))),
        hours=_hours(items(one, "business_hours", 0, "open", most=21)),
        open_now=is_open if isinstance(is_open, bool) else None,
        position=place(at(one, "coordinates", "latitude"), at(one, "coordinates", "longitude")),
        distance=_metres(number(one, "distance")),
    )


def _metres(found: float | None) -> float | None:
    return found if found is not None and 0 <= found < 1e8 else None


def _hours(spans: list[Any]) -> str:
    """Yelp's ``{"day": 0, "start": "0900", "end": "1800"}`` in the form of schema.org."""
    told = []
    for span in spans:
        day, start, end = count(span, "day"), text(span, "start"), text(span, "end")
        if day < 7 and len(start) == len(end) == 4 and (start + end).isdigit():
            told.append(f"{_DAYS[day]} {start[:2]}:{start[2:]}-{end[:2]}:{end[2:]}")
    return "; ".join(told)
