"""Outside services: what is asked of them, what is read of their answers, and what their troubles cost."""

from __future__ import annotations

import threading
import time
import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import SettingError
from periplus.settings import VerticalsSettings
from periplus.verticals import Position, Question, ServiceFailed, reading
from periplus.verticals import services as configured
from periplus.verticals.amazon import AmazonProducts
from periplus.verticals.guard import EMPTY_FOR, FIRST_REST, MOST_FAILURES, MOST_KEPT, Guard
from periplus.verticals.news import NewsApi
from periplus.verticals.provider import HOUR
from periplus.verticals.requests import MAX_BYTES
from periplus.verticals.weather import OpenMeteo, OpenWeather
from periplus.verticals.yelp import YelpPlaces
from support.services import AMAZON, ARTICLE, BUSINESS, NEWS_KEY, WEATHER_KEY, YELP_KEY

HERE = Position(47.3712, 8.5419)


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def about(kind: str, subject: str, position: Position | None = None, query: str = "") -> Question:
    return Question(kind, query or subject, subject, position, "en")


# What each of them says


def test_businesses_come_with_all_that_yelp_gives(services):
    yelp = YelpPlaces(YELP_KEY, services.base)
    (card,) = yelp.ask(about("places", "seafood", HERE), soon())  # the one that is closed for good is left out

    assert (card.title, card.rating, card.reviews, card.price) == ("The Anchor", 4.5, 1523, "$$")
    assert (card.categories, card.services) == (("Seafood", "Pubs"), ("delivery", "reservations"))
    assert (card.phone, card.address) == ("+41 44 123 45 67", "1 Quay, 8000 Dunsey, Switzerland")
    assert (card.hours, card.open_now, card.distance) == ("Mo 09:00-18:00", True, 153.2)
    assert card.position == (47.3701, 8.5402)
    path, asked, _ = services.requests[0]
    assert (path, asked["term"]) == ("/v3/businesses/search", "seafood")
    assert (asked["latitude"], asked["longitude"]) == ("47.37", "8.54")  # a kilometre, not the visitor's door


def test_a_place_that_is_typed_is_asked_for_instead_of_the_visitors(services):
    YelpPlaces(YELP_KEY, services.base).ask(about("places", "ramen in Bern", HERE), soon())
    _, asked, _ = services.requests[0]
    assert (asked["term"], asked["location"]) == ("ramen", "Bern")
    assert "latitude" not in asked


def test_what_an_ip_address_tells_is_not_sent_on(services):
    position = Position(47.3712, 8.5419, "address")
    assert YelpPlaces(YELP_KEY, services.base).key(about("places", "seafood", position)) is None
    assert OpenMeteo(services.base, services.base).key(about("weather", "", position)) is None


def test_the_weather_of_a_named_place_and_of_where_one_is(services):
    (named,) = OpenWeather(WEATHER_KEY, services.base).ask(about("weather", "zürich"), soon())
    assert (named.title, named.text) == ("Zurich, CH", "light rain")
    assert dict(named.facts) == {"temperature": "7 °C", "feels like": "4 °C", "humidity": "81 %", "wind": "18 km/h"}
    (here,) = OpenMeteo(services.base, services.base).ask(about("weather", "", HERE), soon())
    assert (here.title, here.text, dict(here.facts)["temperature"]) == ("", "light snow", "0 °C")
    assert services.paths() == ["/geo/1.0/direct", "/data/2.5/weather", "/v1/forecast"]
    assert OpenMeteo(services.base, services.base).ask(about("weather", "nowhere at all"), soon()) == ()


def test_articles_of_the_last_month(services):
    (card,) = NewsApi(NEWS_KEY, services.base).ask(about("news", "spring tide"), soon())
    assert (card.title, card.source, card.published) == (ARTICLE["title"], "The Log", "2026-11-17T06:30:00+00:00")
    assert card.image == ""  # pictures that lie anywhere are left out
    _, asked, headers = services.requests[0]
    assert (asked["q"], asked["sortBy"], asked["language"]) == ("spring tide", "publishedAt", "en")
    assert "apiKey" not in asked
    assert headers["x-api-key"] == NEWS_KEY


@pytest.mark.parametrize("version", ["2.2", "3.2"])
def test_products_by_the_successor_of_amazons_retired_interface(services, version):
    amazon = AmazonProducts(AMAZON.replace("3.2", version), services.base, f"{services.base}/auth/o2/token")
    (card,) = amazon.ask(about("products", "tide clock"), soon())
    amazon.ask(about("products", "tide clock"), soon())

    assert (card.title, card.source, card.price, card.stock) == (
        "Tide clock, brass",
        "Quayside",
        "89,90 €",
        "Auf Lager",
    )
    assert services.paths() == ["/auth/o2/token", "/catalog/v1/searchItems", "/catalog/v1/searchItems"]
    shown = services.requests[1][2]["authorization"]
    assert shown == ("Bearer amzn-token, Version 2.2" if version == "2.2" else "Bearer amzn-token")


def test_a_service_without_a_key_is_off():
    assert configured(VerticalsSettings()) == ()
    names = [one.name for one in configured(VerticalsSettings(open_meteo=True, yelp_key="k", amazon_key=AMAZON))]
    assert names == ["Open-Meteo", "Yelp", "Amazon"]
    both = configured(VerticalsSettings(open_meteo=True, openweather_key="k"))
    assert [one.name for one in both] == ["OpenWeather"]
    with pytest.raises(SettingError, match="ID:SECRET:VERSION"):
        configured(VerticalsSettings(amazon_key="AKIA:secret"))


# Troubles


def all_of(services) -> list:
    base = services.base
    return [
        (YelpPlaces(YELP_KEY, base), about("places", "seafood", HERE), "/v3/businesses/search"),
        (OpenWeather(WEATHER_KEY, base), about("weather", "", HERE), "/data/2.5/weather"),
        (OpenMeteo(base, base), about("weather", "", HERE), "/v1/forecast"),
        (NewsApi(NEWS_KEY, base), about("news", "tide"), "/v2/everything"),
        (AmazonProducts(AMAZON, base, f"{base}/auth/o2/token"), about("products", "tide"), "/catalog/v1/searchItems"),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}), (200, b""), (200, b"<html>"), (200, b"[" * 100_000), (200, b"x" * (MAX_BYTES + 1)),
        (302, {}, {"location": "/"}),
        (200, b'{"a": "' + b"\xff" * 9 + b'"}'),
    ],
)  # fmt: skip
def test_errors_are_failures_and_nothing_else(services, answer):
    for provider, question, path in all_of(services):
        services.answers[path] = answer
        with pytest.raises(ServiceFailed):
            provider.ask(question, soon())


@pytest.mark.parametrize("answer", [[], {}, None, 3, {"businesses": 7, "articles": {}, "status": "ok"}, "text"])
def test_shapes_that_nobody_documented_give_no_cards(services, answer):
    for provider, question, path in all_of(services):
        services.answers[path] = (200, answer)
        with suppress(ServiceFailed):  # where what must be there is not
            assert provider.ask(question, soon()) == ()


def test_odd_values_cost_themselves_and_not_the_card(services):
    odd = {
        **BUSINESS, "rating": "NaN", "review_count": -3, "image_url": "javascript:alert(1)", "price": ["$"],
        "url": "data:text/html,x", "coordinates": {"latitude": 91, "longitude": None},
        "categories": [None, {"title": 5}],
        "transactions": [{"x": 1}, "delivery"], "distance": "far", "name": "A\u202e\x00 nchor  ", "business_hours": [],
        "location": None, "display_phone": None,
    }  # fmt: skip
    services.answers["/v3/businesses/search"] = (200, {"businesses": [odd, None, {"name": ""}]})
    (card,) = YelpPlaces(YELP_KEY, services.base).ask(about("places", "x", HERE), soon())
    assert (card.title, card.rating, card.reviews, card.image, card.url) == ("A nchor", 0.0, 0, "", "")
    assert (card.position, card.distance, card.open_now, card.categories) == (None, None, None, ("5",))
    assert card.services == ("delivery",)


def test_a_slow_answer_ends_with_the_deadline(services):
    services.answers["/v1/forecast"] = threading.Event()
    began = time.monotonic()
    with pytest.raises(ServiceFailed):
        OpenMeteo(services.base, services.base).ask(about("weather", "", HERE), soon(0.2))
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("place", range(5))
def test_a_revoked_key_is_not_shown_again_for_an_hour(services, place):
    provider, question, path = all_of(services)[place]
    services.answers[path] = (401, {"message": "no"})
    now = [0.0]
    guard = Guard(provider, lambda: now[0])
    assert guard.admits()
    assert guard.ask(("k",), question, soon()) == ()
    now[0] = HOUR - 1
    assert not guard.admits()
    now[0] = HOUR + 1
    assert guard.admits()
    assert "refused" in guard.state.said


def test_a_service_that_asks_for_a_pause_gets_it(services):
    provider, question, path = all_of(services)[3]
    services.answers[path] = (429, {"status": "error", "code": "rateLimited"}, {"retry-after": "120"})
    now = [0.0]
    guard = Guard(provider, lambda: now[0])
    guard.ask(("k",), question, soon())
    now[0] = 119
    assert not guard.admits()
    now[0] = 121
    assert guard.admits()


class Played:
    name, kind, home, keeps, hourly, picture_hosts = "Played", "news", "", 60.0, 10, ()

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.asked = error, 0

    def key(self, question):
        return (question.subject,)

    def ask(self, question, deadline):
        self.asked += 1
        if self.error:
            raise self.error
        return ()


def test_after_failures_in_a_row_it_is_left_alone_for_longer_and_longer():
    now, provider = [0.0], Played(ServiceFailed("away"))
    provider.hourly = 10_000
    guard = Guard(provider, lambda: now[0])
    rest = FIRST_REST
    for number in range(MOST_FAILURES):
        assert guard.admits()
        guard.ask((number,), about("news", "x"), soon())
    for _ in range(4):
        now[0] += rest - 1
        assert not guard.admits()
        now[0] += 2
        assert guard.admits()
        guard.ask(("again",), about("news", "x"), soon())
        rest *= 2
    provider.error = None
    now[0] += rest
    guard.ask(("well",), about("news", "x"), soon())
    provider.error = ServiceFailed("away")
    guard.ask(("once",), about("news", "x"), soon())
    assert guard.admits()  # one failure closes nothing


def test_an_answer_is_kept_for_its_time_and_a_failure_for_a_moment():
    now, provider = [0.0], Played()
    guard = Guard(provider, lambda: now[0])
    guard.ask(("a",), about("news", "x"), soon())
    now[0] = 59.0
    assert guard.kept(("a",)) == ()
    now[0] = 61.0
    assert guard.kept(("a",)) is None
    provider.error = ValueError("whatever")
    guard.ask(("b",), about("news", "x"), soon())
    assert guard.kept(("b",)) == ()
    now[0] += EMPTY_FOR + 1
    assert guard.kept(("b",)) is None


def test_requests_an_hour_and_kept_answers_are_bounded():
    now, provider = [0.0], Played()
    guard = Guard(provider, lambda: now[0])
    assert [guard.admits() for _ in range(12)] == [True] * 10 + [False] * 2
    now[0] = HOUR / 10 + 1
    assert [guard.admits() for _ in range(2)] == [True, False]
    provider.keeps = 1e9
    for number in range(MOST_KEPT + 5):
        guard.ask((number,), about("news", "x"), soon())
    assert guard.kept((4,)) is None
    assert guard.kept((5,)) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.lists(st.sampled_from(["a", "b", 0, 1]), max_size=3))
def test_reading_never_fails_and_gives_what_it_says(value, path):
    assert len(reading.text(value, *path)) <= reading.LONGEST
    assert not {unicodedata.category(letter) for letter in reading.text(value, *path)} & {"Cc", "Cs", "Zl", "Zp"}
    assert 0 <= reading.rating(value, *path) <= 5
    assert reading.count(value, *path) >= 0
    assert reading.link(value, *path)[:4] in ("", "http")
    assert len(reading.items(value, *path)) <= 20
