"""Panels beside the results: in the page where they are there, after it where a service is at it."""

from __future__ import annotations

import threading
import time

import pytest
from asgi_client import Client
from fake_backend import FakeBackend

from periplus.settings import Settings
from periplus.verticals import KINDS, OwnIndex, Verticals, Whereabouts
from periplus.verticals.weather import OpenMeteo
from periplus.verticals.yelp import YelpPlaces
from periplus.web import create_app
from periplus.web.pages.side_panels import TITLES
from support.services import PlayedServices

PORTS = [f"http://harbours.test/ports/{name}" for name in ("aldmouth", "brackwater", "carn-head")]
PLACE = {
    "name": "Anchor <b>", "address": "1 Quay", "telephone": "+44 12", "geo": "47.37,8.54", "rating": "9 / 10",
    "reviews": "1234", "hours": "Mo-Su 00:00-24:00", "categories": "Seafood", "price": "$$",
}  # fmt: skip


@pytest.fixture
def services():
    with PlayedServices() as played:
        yield played


@pytest.fixture
def weather(backend: FakeBackend, services: PlayedServices) -> Client:
    backend.verticals = Verticals(OwnIndex(backend.search_tab), [OpenMeteo(services.base, services.base)])
    return Client(create_app(backend, Settings()))


def test_a_page_without_panels_has_nothing_of_them(client):
    page = client.get("/search?q=tide").text
    assert not any(word in page for word in ('class="side"', 'class="columns"', "data-panels", 'class="panel'))


def test_where_a_panel_stands_the_page_does_not_say_that_nothing_helps(weather):
    page = weather.get("/search?q=weather+basel").text
    assert "No page here matches" in page
    assert "No port of call" not in page


def test_our_own_places_stand_in_the_page(client, backend):
    backend.kinds = {"places": dict.fromkeys(PORTS, PLACE)}
    page = client.get("/search?q=harbour+near+me&near=47.38,8.54").text
    side = page[page.index('class="side"') :]

    assert side.count('class="card"') == 3
    for told in (
        "Anchor &lt;b&gt;",
        "4.5",
        "234 reviews",
        "$$",
        "Seafood",
        "open now",
        "1.1 km",
        "1 Quay",
        'href="tel:+4412"',
    ):
        assert told in side
    assert "openstreetmap.org/?mlat=47.37000&amp;mlon=8.54000" in side
    assert 'href="/search?q=harbour+near+me&amp;near=47.38%2C8.54&amp;tab=places">More of them' in side
    assert "data-panels" not in side
    tab = client.get("/search?q=harbour&tab=places&near=47.38,8.54").text
    assert "1.1 km" in tab
    assert "Anchor <b>" not in page + tab


def test_a_page_does_not_wait_for_a_service(weather, services):
    gate = services.answers["/v1/search"] = threading.Event()
    began = time.monotonic()
    page = weather.get("/search?q=weather+zürich".replace("ü", "%C3%BC")).text
    assert time.monotonic() - began < 1.0
    assert 'data-panels="/panels?q=weather+z%C3%BCrich"' in page
    assert 'href="/search?q=weather+z%C3%BCrich&amp;panels=1">Ask Open-Meteo as well' in page
    gate.set()
    fragment = weather.get("/panels?q=weather+z%C3%BCrich").text
    assert "Zürich, CH" in fragment
    assert "<html" not in fragment
    assert "light snow" in weather.get("/search?q=weather+z%C3%BCrich").text  # known by now
    assert len(services.requests) == 2  # one place, one forecast: for all three


def test_without_scripts_a_link_waits(weather):
    page = weather.get("/search?q=weather+z%C3%BCrich&panels=1").text
    assert "Zürich, CH" in page
    assert "data-panels" not in page


def test_a_service_in_trouble_leaves_the_results_as_they_are(weather, services):
    services.answers["/v1/search"] = (503, {})
    page = weather.get("/search?q=weather+tide&panels=1")
    assert page.status == 200
    assert 'class="results"' in page.text
    assert 'class="panel' not in page.text
    assert weather.get("/panels?q=weather+tide").text == ""
    assert weather.get("/panels").text == ""


def test_programs_get_panels_where_they_ask_for_them(weather, backend):
    found = weather.get("/api/v1/search?q=weather+z%C3%BCrich&panels=1&explain=1").json["panels"]
    assert [(one["kind"], one["provider"], one["cards"][0]["title"]) for one in found] == [
        ("weather", "Open-Meteo", "Zürich, CH")
    ]
    assert found[0]["explain"]["parts"][0] == {
        "name": "word: weather", "value": 1.0, "formula": "weight of the strongest word", "parts": [],
    }  # fmt: skip
    assert weather.get("/api/v1/search?q=weather+z%C3%BCrich&panels=1").json["panels"][0]["explain"] is None
    assert weather.get("/api/v1/search?q=weather").json["panels"] is None
    assert weather.get("/api/v1/search?q=tide&panels=1").json["panels"] == []
    backend.kinds = {"places": {PORTS[0]: PLACE}}
    listed = weather.get("/api/v1/search?q=harbour&tab=places&panels=1&near=47.38,8.54").json
    assert [one["url"] for one in listed["results"]] == PORTS[:1]
    assert listed["panels"][0]["cards"][0]["distance"] == pytest.approx(1112, abs=2)
    assert weather.get("/api/v1/search?q=harbour&tab=all").json["total"]["value"] > 1
    for wrong in ("here", "47.38", "100,8", "1,2,3", "nan,1"):
        refused = weather.get(f"/api/v1/search?q=harbour&near={wrong}")
        assert (refused.status, "parameter 'near' is not latitude,longitude" in refused.json["detail"]) == (400, True)
    exact = "47.376888123456789,8.541694123456789"  # as browsers tell it
    assert weather.get(f"/api/v1/search?q=harbour&near={exact}").status == 200
    assert weather.get("/api/v1/search?q=harbour&tab=nonsense").status == 400


# Where the visitor is


def test_a_position_is_kept_by_the_browser_and_by_nobody_else(client, backend):
    kept = client.post("/place", b"place=47.376888,8.541694&back=/preferences", origin="http://127.0.0.1:8080")
    cookie = kept.headers["set-cookie"].split(";")[0]
    assert (kept.status, cookie) == (303, 'place="47.377\\0548.542"')
    client.get("/search?q=weather", cookie=cookie)
    assert backend.positions[-1].pair == (47.377, 8.542)
    assert 'value="47.377, 8.542"' in client.get("/preferences", cookie=cookie).text
    client.get("/search?q=weather&near=1,2", cookie=cookie)
    assert backend.positions[-1].pair == (1, 2)  # the address wins
    forgotten = client.post("/place", b"place=", origin="http://127.0.0.1:8080")
    assert "Max-Age=0" in forgotten.headers["set-cookie"]
    assert client.post("/place", b"place=1,2", origin="http://evil.test").status == 403
    client.get("/search?q=weather")
    assert backend.positions[-1] is None
    backend.where = Whereabouts("51.5,-0.1")
    client.get("/search?q=weather")
    assert (backend.positions[-1].pair, backend.positions[-1].source) == ((51.5, -0.1), "operator")


def test_what_the_operator_looked_up_is_not_sent_to_a_service(backend, services):
    backend.verticals = Verticals(None, [YelpPlaces("yelp-key", services.base)])
    client = Client(create_app(backend, Settings()))
    client.get("/search?q=seafood+near+me&panels=1")
    assert services.requests == []
    client.get("/search?q=seafood+near+me&panels=1&near=47.376888,8.541694")
    assert services.requests[0][1]["latitude"] == "47.38"


# Pictures


def test_pictures_come_from_our_origin_or_not_at_all(backend, services):
    backend.verticals = Verticals(None, [YelpPlaces("yelp-key", services.base)])
    backend.pictures = {"http://127.0.0.1/anchor.jpg": b"\xff\xd8\xffsmall"}
    client = Client(create_app(backend, Settings()))
    page = client.get("/search?q=seafood+in+bern+near+me&panels=1").text
    assert 'src="/picture?url=http%3A%2F%2F127.0.0.1%2Fanchor.jpg"' in page
    copy = client.get("/picture?url=http%3A%2F%2F127.0.0.1%2Fanchor.jpg")
    assert (copy.status, copy.media_type, copy.body) == (200, "image/jpeg", b"\xff\xd8\xffsmall")
    assert "sandbox" in copy.headers["content-security-policy"]
    assert client.get("/picture?url=http://intern.test/secret").status == 404
    assert client.get("/picture").status == 404


def test_a_tab_of_images_shows_the_picture_that_fits(client, backend):
    told = {"pictures": "http://a.test/x.jpg Boats at rest\nhttp://a.test/y.jpg The harbour <i> at dawn"}
    backend.kinds = {"images": {PORTS[0]: told}}
    page = client.get("/search?q=harbour&tab=images").text
    link = page[
        page.index('src="/picture?url=http%3A%2F%2Fa.test%2Fy.jpg" alt=""') :
    ]  # its text stands beside it, once
    assert '<span class="card-name" dir="auto">The harbour &lt;i&gt; at dawn</span></a>' in link
    assert f'class="hit" href="{PORTS[0]}"' in page
    beside = client.get("/search?q=pictures+of+harbour").text
    assert "The harbour &lt;i&gt; at dawn" in beside[beside.index('class="side"') :]


# Long lists, and spans of time


def test_who_prefers_it_scrolls_on(client):
    kept = client.post("/scroll", b"scroll=endless")
    assert (kept.status, kept.headers["set-cookie"].split(";")[0]) == (303, "scroll=endless")
    assert "HttpOnly" not in kept.headers["set-cookie"]
    assert "Show pages instead" in client.get("/preferences", cookie="scroll=endless").text
    assert "Load more while scrolling" in client.get("/preferences").text
    assert "Max-Age=0" in client.post("/scroll", b"scroll=pages").headers["set-cookie"]


def test_a_span_of_time_can_be_typed_and_keeps_the_rest(client, backend):
    page = client.get("/search?q=tide&lang=en&after=2025-01-01&before=2025-06-01&page=2").text
    form = page[page.index('class="range"') :].split("</form>")[0]
    assert '<input type="hidden" name="q" value="tide">' in form
    assert '<input type="hidden" name="lang" value="en">' in form
    assert 'name="after" value="2025-01-01"' in form
    assert 'name="before" value="2025-06-01"' in form
    assert 'name="page"' not in form
    assert "Past day" in page
    client.get("/search?q=tide&after=&before=2025-06-01")
    assert (backend.requests[-1].after, backend.requests[-1].before) == ("", "2025-06-01")


def test_every_kind_of_panel_has_a_title():
    assert set(KINDS) <= set(TITLES)
