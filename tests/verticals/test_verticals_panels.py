"""Which panels a query gets, in what order they come, and that nobody waits for them."""

from __future__ import annotations

import threading
import time

import pytest

from periplus.errors import NotReady
from periplus.records import QueryReading, SearchAnswer, SearchResult, Total
from periplus.verticals import OwnIndex, Position, Verticals, choose
from periplus.verticals.news import NewsApi
from periplus.verticals.rules import MOST_PANELS, panel_rules
from periplus.verticals.side_panels import ENOUGH, MOST_UNDER_WAY
from periplus.verticals.weather import OpenMeteo
from periplus.verticals.yelp import YelpPlaces
from support.services import NEWS_KEY, YELP_KEY

HERE = Position(47.37, 8.54)


@pytest.mark.parametrize(
    ("query", "kinds", "subject"),
    [
        ("weather in Zürich", ["weather"], "Zürich"), ("Wetter Bern", ["weather"], "Bern"),
        ("weather", ["weather"], ""),
        ("ramen near me", ["places"], "ramen"), ("restaurants open now", ["places"], ""),
        ("news about tides", ["news"], "about tides"), ("buy tide clock", ["products"], "tide clock"),
        ("pictures of lighthouses", ["images"], "lighthouses"), ("北京天气", ["weather"], "北京"),
        ("tide tables", [], ""), ("newsworthy weatherman", [], ""),
        ('"weather"', [], ""), ("weather site:a.example", [], ""),
        ("weather -rain", [], ""), ("weather " * 40, [], ""), ("", [], ""),
    ],
)  # fmt: skip
def test_words_that_ask_for_a_panel(query, kinds, subject):
    chosen = choose(query, {})
    assert [one.kind for one in chosen] == kinds
    assert not chosen or chosen[0].subject == subject


def test_results_of_a_kind_ask_for_it_too_and_both_are_explained():
    assert choose("the anchor", {"places": 4}) == []
    (chosen,) = choose("the anchor", {"places": 5})
    assert (chosen.kind, chosen.score) == ("places", 0.5)
    (both,) = choose("hotel anchor", {"places": 2})
    assert both.score == pytest.approx(0.7)
    assert [part.name for part in both.explain.parts] == ["word: hotel", "results"]
    assert sum(part.value for part in both.explain.parts) == pytest.approx(both.explain.value)


def test_at_most_three_panels_and_the_surest_first():
    everything = choose("weather news buy images hotel near me", dict.fromkeys(panel_rules().panels, 10))
    assert len(everything) == MOST_PANELS
    assert [one.score for one in everything] == sorted((one.score for one in everything), reverse=True)


def result(number: int) -> SearchResult:
    url = f"http://one.test/{number}"
    return SearchResult(number, f"i{number}", url, url, "one.test", f"Place {number}", "text", (), "en", "2026-11-01",
                        "2026-11-02", "text/html", 1.0)  # fmt: skip


class Own:
    """Plays the search of a tab; ``geo`` of each place."""

    def __init__(self, *geos: str) -> None:
        self.geos, self.requests = geos, []

    def __call__(self, request, tab):
        self.requests.append((request, tab))
        results = tuple(result(number) for number in range(len(self.geos)))
        facts = {f"i{number}": {"geo": geo, "rating": "8 / 10"} for number, geo in enumerate(self.geos)}
        answer = SearchAnswer(QueryReading("", ""), results, Total(len(results)), 1, 10, None, (), (), 1.0, (), 7)
        return answer, facts


def test_our_own_places_come_nearest_first_with_their_distance():
    own = Own("48.0,8.54", "", "47.371,8.54", "47.40,8.54", "47.5,8.54")
    (panel,) = Verticals(OwnIndex(own)).begin("anchor near me", {}, ("places",), HERE).now()
    assert [card.title for card in panel.cards] == ["Place 2", "Place 3", "Place 4", "Place 0"]
    assert panel.cards[0].distance == pytest.approx(111, abs=2)
    assert (panel.provider, panel.more, panel.cards[0].rating) == ("", "places", 4.0)
    assert own.requests[0][0].query == "anchor"


def test_who_has_enough_of_its_own_asks_nobody(services):
    places = Verticals(OwnIndex(Own(*["47,8"] * ENOUGH)), [YelpPlaces(YELP_KEY, services.base)])
    assert not places.begin("anchor near me", {}, ("places",), HERE).coming
    fewer = Verticals(OwnIndex(Own("47,8")), [YelpPlaces(YELP_KEY, services.base)])
    shown = fewer.begin("anchor near me", {}, ("places",), HERE).within()
    assert [panel.provider for panel in shown] == ["", "Yelp"]
    assert services.paths() == ["/v3/businesses/search"]


def test_an_index_that_cannot_answer_harms_nothing(services):
    def broken(request, tab):
        raise NotReady("no generation is published yet")

    verticals = Verticals(OwnIndex(broken), [YelpPlaces(YELP_KEY, services.base)])
    assert [panel.provider for panel in verticals.begin("inn near me", {}, ("places",), HERE).within()] == ["Yelp"]


def test_nobody_waits_for_a_service_and_what_came_late_is_there_the_next_time(services):
    verticals = Verticals(None, [OpenMeteo(services.base, services.base)])
    gate = services.answers["/v1/forecast"] = threading.Event()
    began = time.monotonic()
    pending = verticals.begin("weather", {}, (), HERE)
    again = verticals.begin("weather", {}, (), HERE)  # of another visitor: joins the request that is under way
    assert time.monotonic() - began < 0.5
    assert (pending.now(), pending.awaited) == ((), ("Open-Meteo",))
    gate.set()
    assert [panel.kind for panel in again.within(10)] == ["weather"]
    assert [panel.kind for panel in verticals.begin("weather", {}, (), HERE).ready] == ["weather"]
    assert services.paths() == ["/v1/forecast"]


def test_a_refused_key_costs_one_request_and_no_panel(services):
    verticals = Verticals(None, [NewsApi("wrong", services.base)])
    for subject in ("tide", "ebb", "flood"):
        assert verticals.begin(f"news {subject}", {}, ()).within(10) == ()
    assert len(services.requests) == 1


def test_requests_under_way_are_bounded(services):
    services.answers["/v2/everything"] = threading.Event()
    provider = NewsApi(NEWS_KEY, services.base)
    provider.hourly = 10_000
    verticals = Verticals(None, [provider])
    begun = [verticals.begin(f"news tide{number}", {}, ()) for number in range(MOST_UNDER_WAY + 5)]
    assert sum(len(one.coming) for one in begun) == MOST_UNDER_WAY
    verticals.close()
