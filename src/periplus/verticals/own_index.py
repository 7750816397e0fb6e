"""Panels from our own index: what pages say of themselves in structured data (``index/format/marks.py``)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import structs

from periplus.records import PanelCard, SearchRequest
from periplus.verticals.hours import open_now
from periplus.verticals.positions import distance
from periplus.verticals.reading import count, link, place, rating

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.records import SearchAnswer, SearchResult
    from periplus.verticals.provider import Question

    Facts = dict[str, str]
    TabSearch = Callable[[SearchRequest, str], tuple[SearchAnswer, dict[str, Facts]]]
    PagePictures = Callable[[SearchAnswer], dict[str, tuple[str, str]]]

MOST = 4  # cards
LOOKED_AT = 20  # places, of which the nearest are shown
NEWS_DAYS = 30  # that news are new; the tab has older ones, too
NEWS, IMAGES = "news", "images"


class OwnIndex:
    """Cards of the collection's own pages for a kind of panel that has a tab."""

    def __init__(self, search: TabSearch, pictures: PagePictures | None = None) -> None:
        """``pictures`` tells which pages have one that the crawl brought: address and text by the id of a result."""
        self._search = search
        self._pictures = pictures

    def cards(self, question: Question) -> tuple[PanelCard, ...]:
        text = question.subject or question.query
        is_near = question.kind == "places" and question.position is not None
        request = SearchRequest(
            text,
            size=LOOKED_AT if is_near else MOST,
            sort="date" if question.kind == NEWS else "relevance",
            after=_days_ago(NEWS_DAYS) if question.kind == NEWS else "",
            correct=False,
            reader=question.language,
        )
        answer, facts = self._search(request, question.kind)
        told = [(result, facts.get(result.id, {})) for result in answer.results]
        if question.kind == IMAGES:
            return tuple(card for result, known in told if (card := picture_card(result, known, text)))[:MOST]
        made = [(card_of(question.kind, result, known, question), result.id) for result, known in told]
        if is_near:
            made.sort(key=lambda one: one[0].distance if one[0].distance is not None else float("inf"))
        pictures = self._pictures(answer) if self._pictures else {}
        return tuple(_illustrated(card, pictures.get(name, ("", ""))[0]) for card, name in made[:MOST])


def _illustrated(card: PanelCard, picture: str) -> PanelCard:
    """With the picture that the crawl brought, where it did."""
    return structs.replace(card, image=picture, has_copy=True) if picture else card


def _days_ago(days: int) -> str:
    return str(datetime.now(UTC).date() - timedelta(days=days))


def card_of(kind: str, result: SearchResult, facts: Facts, question: Question | None = None) -> PanelCard:
    where = place_of(facts)
    here = question.position if question else None
    hours = facts.get("hours", "")
    return PanelCard(
        title=facts.get("name") or result.title or result.display_url,
        url=result.url,
        text="" if kind in ("places", "products") else result.snippet,
        source=facts.get("source") or facts.get("brand") or result.site,
        published=(result.published or "") if kind == NEWS else "",
        image=link(facts.get("image")),
        rating=rating_of(facts),
        reviews=count(facts.get("reviews")),
        price=facts.get("price", ""),
        stock=facts.get("stock", ""),
        categories=tuple(filter(None, facts.get("categories", "").split(", "))),
        phone=facts.get("telephone", ""),
        address=facts.get("address", ""),
        hours=hours,
        open_now=open_now(hours, where),
        position=where,
        distance=distance(where, here.pair) if where and here else None,
    )


def picture_card(result: SearchResult, facts: Facts, query: str) -> PanelCard | None:
    """The picture of a page that fits a query best, as a card."""
    address, text = fitting_picture(pictures_of(facts), query)
    if not address:
        return None
    return PanelCard(title=text, url=result.url, text=result.title, source=result.site, image=address, has_copy=True)


def pictures_of(facts: Facts) -> list[tuple[str, str]]:
    """Addresses and texts of the pictures that a page shows, in its order."""
    lines = [line.partition(" ") for line in facts.get("pictures", "").split("\n") if line]
    return [(address, text) for address, _, text in lines]


def fitting_picture(listed: Sequence[tuple[str, str]], query: str) -> tuple[str, str]:
    """The one of these that fits a query best, by its text and the name of its file; two empty texts where none can
    be shown."""
    words = set(query.casefold().split())

    def fit(one: tuple[str, str]) -> int:
        address, text = one
        return sum(2 * (word in text.casefold()) + (word in address.casefold().rpartition("/")[2]) for word in words)

    address, text = max(listed, key=fit, default=("", ""))
    return (address, text) if link(address) else ("", "")


def place_of(facts: Facts) -> tuple[float, float] | None:
    north, _, east = facts.get("geo", "").partition(",")
    return place(north, east) if east else None


def rating_of(facts: Facts) -> float:
    """Of five: ``8 / 10`` is 4."""
    value, _, best = facts.get("rating", "").partition("/")
    try:
        return rating(5 * float(value.replace(",", ".")) / float(best or "5"))
    except (ValueError, ZeroDivisionError, OverflowError):
        return 0.0
