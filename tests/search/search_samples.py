"""A small collection written by hand."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus import addresses
from periplus.index import IndexStore
from periplus.records import Anchor, Document, Heading, SearchAnswer, SearchRequest
from periplus.settings import SearchSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.search import Engine


def day(text: str) -> float:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC).timestamp()


# What is compared must not depend on how busy the machine is: no answer is cut short by its budget.
PATIENT = Settings(search=SearchSettings(budget_ms=120_000))


def page(url: str, title: str = "", text: str = "", **more: Any) -> Document:
    headings = tuple(Heading(2, heading) for heading in more.pop("headings", ()))
    return Document(
        url=url,
        key=addresses.key(url),
        id=url.removeprefix("id:") if url.startswith("id:") else "",
        fetched=more.pop("fetched", day("2026-01-10")),
        title=title,
        text=text,
        headings=headings,
        language=more.pop("language", "en"),
        **more,
    )


def build(folder: Path, documents: list[Document], number: int = 1, anchors: Any = None, prior: Any = None) -> None:
    IndexStore(folder / "index").update([(number, documents)], anchors=anchors, prior=prior)


def all_pages(engine: Engine, query: str, per_host: int | None = None, **options: Any) -> list[SearchAnswer]:
    """Pages of a list until there is no next one."""
    pages = []
    for number in range(1, 100):
        pages.append(engine.search(SearchRequest(query, page=number, **options), per_host=per_host))
        if pages[-1].next is None:
            return pages
    raise AssertionError("the list has no end")


DOCUMENTS = [
    page(
        "https://harbour.example/",
        "Harbour Office",
        "The harbour office publishes tide tables and notices to mariners. Ships report by radio.",
    ),
    page(
        "https://harbour.example/tides",
        "Tide tables for the western coast",
        "Tide tables list the times of high and low water.\nThe moon pulls the sea. Spring tides follow the full moon.",
        headings=("How to read a tide table",),
        published=day("2025-03-01"),
    ),
    page(
        "https://harbour.example/lights",
        "Lights and buoys",
        "Lighthouses and buoys mark the channel. A lighthouse keeper once wrote tide notes here.",
        published=day("2024-06-01"),
    ),
    page(
        "https://harbour.example/pilots",
        "Pilots",
        "Pilots board near the outer buoy when the tide allows. The pilot boat is orange.",
    ),
    page("https://harbour.example/old/tide-log", "Old tide log", "A log of every tide since 1901, kept by hand."),
    page(
        "https://www.charts.example/",
        "Charts Archive",
        "Sea charts and portolans from five centuries, scanned at high resolution.",
        published=day("2026-01-02"),
    ),
    page(
        "https://www.charts.example/portolan",
        "What is a portolan chart?",
        "A portolan chart shows harbours and the tide of trade between them. Compass lines cross the parchment.",
    ),
    page(
        "https://kueste.example/gezeiten",
        "Gezeiten an der Küste",
        "Die Gezeiten bestimmen das Leben an der Küste. Der Hafen fällt bei Ebbe trocken.",
        language="de",
    ),
    page(
        "https://manual.example/guide.pdf",
        "Sailing manual",
        "Chapter one explains knots. Chapter two explains the tide and currents in C++ simulations.",
        content_type="application/pdf",
    ),
    page("id:doc-1", "", "A loose document about tide pools without an address."),
    page("id:doc-2", "", "Another loose document on tide pools and starfish."),
    page("id:doc-3", "", "Third loose document on tide pools, limpets and crabs."),
    page("id:doc-4", "", "Fourth loose document on tide pools and anemones."),
]


def anchors_of(page_key: int) -> tuple[Anchor, ...]:
    known = {addresses.page_key("https://harbour.example/tides"): (Anchor("tide calendar", 3),)}
    return known.get(page_key, ())


def prior_of(pages: Any, hosts: Any) -> Any:
    favourite = addresses.page_key("https://harbour.example/")
    return np.where(pages == favourite, 1.0, 0.2)
