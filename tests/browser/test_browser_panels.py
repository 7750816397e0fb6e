"""Panels and tabs in a real browser: seen on wide screens, folded on phones, followed by script, light."""

from __future__ import annotations

import threading

import pytest
from browser_tools import SIZES, axe_violations, expect, open_details, take_picture

from periplus.verticals import OwnIndex, Verticals, side_panels
from periplus.verticals.weather import OpenMeteo
from support.services import PlayedServices

pytestmark = pytest.mark.browser

MOST_BYTES = 120_000  # of a first visit with panels
PLACE = {
    "name": "The Anchor", "address": "1 Quay, Dunsey", "telephone": "+41 44 123 45 67", "geo": "47.37,8.54",
    "rating": "9 / 10", "reviews": "1234", "hours": "Mo-Fr 09:00-18:00; Sa 10:00-14:00", "categories": "Seafood",
    "price": "$$",
}  # fmt: skip
PRODUCT = {"name": "Tide clock", "price": "CHF 189.00", "stock": "in stock", "rating": "4.5 / 5", "brand": "Quayside"}
KINDS = {
    "news": {"source": "The Log", "author": "A. Pilot"},
    "places": PLACE,
    "products": PRODUCT,
    "images": {"pictures": "http://harbours.test/a.jpg The harbour at dawn"},
}
PAGES = {
    "places": "/search?q=harbour+near+me&near=47.38,8.54",
    "products": "/search?q=buy+harbour",
    "images": "/search?q=pictures+of+harbour",
    "weather": "/search?q=weather+z%C3%BCrich",
    **{f"tab-{kind}": f"/search?q=harbour&tab={kind}" for kind in KINDS},
}
SMALL = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912130f141d1a1f1e1d1a1c"
    "1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b080001000101011100ffc40014000100000000000000"
    "00000000000000000affc40014100100000000000000000000000000000000ffda0008010100003f0037ffd9"
)


@pytest.fixture
def services():
    with PlayedServices() as played:
        yield played


@pytest.fixture
def harbour(backend, services):
    ports = [note.url for note in backend.notes if note.host == "harbours.test"][:4]
    backend.kinds = {kind: dict.fromkeys(ports, facts) for kind, facts in KINDS.items()}
    backend.pictures = {"http://harbours.test/a.jpg": SMALL}
    backend.verticals = Verticals(OwnIndex(backend.search_tab), [OpenMeteo(services.base, services.base)])
    return backend


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_panels_and_tabs_are_fit_for_everybody(harbour, open_context, scheme):
    wrong = []
    for size, viewport in SIZES.items():
        page = open_context(color_scheme=scheme, bypass_csp=True, viewport=viewport).new_page()
        for name, path in PAGES.items():
            page.goto(path)
            if not name.startswith("tab"):
                page.locator(".panel").first.wait_for()
            open_details(page, "main details.panel")
            take_picture(page, f"panel-{name}-{size}-{scheme}")
            wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            wrong += [f"{name} {size}: wider than its window"] if wide else []
            wrong += [f"{name} {size}: {violation}" for violation in axe_violations(page, scheme)]
    assert wrong == []


def test_a_panel_that_came_late_follows_the_page_and_is_light(harbour, services, open_context, monkeypatch):
    monkeypatch.setattr(side_panels, "SECONDS", 60.0)  # on a busy machine a page alone takes longer than a service has
    gate = services.answers["/v1/forecast"] = threading.Event()
    page = open_context(viewport={"width": 1400, "height": 900}).new_page()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
    page.on("request", lambda request: "/panels?" in request.url and gate.set())  # the page is there by then
    page.goto(PAGES["weather"])
    expect(page.locator(".panel .card-name")).to_have_text("Zürich, CH")
    expect(page.locator(".panel .degrees")).to_be_visible()  # open on a wide screen, whatever the element says
    assert page.locator(".awaited").count() == 0
    assert 0 < sum(sizes) < MOST_BYTES


def test_a_first_visit_is_light_with_every_panel_and_tab(harbour, open_context):
    heavy = {name: size for name in (*PAGES, "none") if not 0 < (size := first_visit(open_context, name)) < MOST_BYTES}
    assert heavy == {}


def first_visit(open_context, name):
    """Bytes that a browser with an empty cache is sent for a page."""
    page = open_context(viewport={"width": 1400, "height": 900}).new_page()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
    page.goto(PAGES.get(name, "/search?q=harbour"))
    page.wait_for_load_state("networkidle")
    page.context.close()
    return sum(sizes)


def test_panels_are_folded_on_a_phone(harbour, open_context):
    page = open_context(viewport=SIZES["phone"], java_script_enabled=False).new_page()
    page.goto(PAGES["places"])
    expect(page.locator(".panel summary")).to_be_visible()
    expect(page.locator(".panel .card").first).to_be_hidden()
    page.locator(".panel summary").click()
    expect(page.locator(".panel .card").first).to_be_visible()
