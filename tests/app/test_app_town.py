"""A crawled town whose pages describe themselves: what stands beside its results, in its tabs and on its site pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import TYPE_CHECKING

import pytest

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.pages.site_pages import is_formality
from periplus.app.serving.backend import CollectionBackend
from periplus.web import create_app
from support import harbour_town
from web.asgi_client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with MockWeb() as web:
        harbour_town.build(web, datetime.now(UTC).date())
        flags = {**harbour_town.FLAGS, "crawl.resolve": list(web.resolve)}
        with Collection(tmp_path_factory.mktemp("town") / "c", flags=flags) as collection:
            collection.crawl(list(harbour_town.SEEDS))
            collection.index()
            collection.rank()
            yield Client(create_app(CollectionBackend(collection), collection.settings))


def panel(client: Client, query: str) -> dict:
    (found,) = client.get(f"/api/v1/search?q={query}&panels=1&near={harbour_town.HERE}").json["panels"]
    return found


def test_places_come_nearest_first_with_the_picture_that_the_crawl_brought(client):
    cards = panel(client, "restaurant+near+me")["cards"]
    assert [card["title"] for card in cards] == [
        "The Anchor", "Gull and Ladle", "Lee Shore Noodles", "Moorings Kitchen",
    ]  # fmt: skip
    assert [card["distance"] for card in cards] == sorted(card["distance"] for card in cards)
    assert cards[0]["open_now"] is True  # it never closes
    assert all(card["has_copy"] for card in cards)
    page = client.get(f"/search?q=restaurant+near+me&near={harbour_town.HERE}").text
    beside = page[page.index("panel-places") :]
    shown = [unescape(one) for one in re.findall(r'<img class="thumb" src="([^"]+)"', beside)]
    assert len(shown) == len(cards)
    assert all(client.get(one).media_type == "image/jpeg" for one in shown)
    assert "00:00–24:00" in beside


def test_news_beside_results_are_of_the_last_month_and_the_tab_has_all(client):
    cards = panel(client, "harbour+wall+news")["cards"]
    days = [card["published"][:10] for card in cards]
    assert days == sorted(days, reverse=True)
    assert min(days) >= str(datetime.now(UTC).date() - timedelta(days=30))
    assert all(card["source"] == "The Log" and card["has_copy"] for card in cards)
    assert "Harbour wall rebuilt" not in {card["title"] for card in cards}
    assert "Harbour wall rebuilt" in client.get("/search?q=harbour+wall&tab=news").text


def test_products_tell_price_stock_and_rating(client):
    cards = {card["title"]: card for card in panel(client, "buy+tide+clock")["cards"]}
    clock = cards["Tide clock for boats"]
    assert (clock["price"], clock["stock"], clock["rating"], clock["reviews"]) == ("CHF 129.00", "few left", 4.1, 28)


@pytest.mark.parametrize("words", ["driftwood", "caption", "windfile"])
def test_pictures_are_found_by_text_caption_and_file(client, words):
    page = client.get(f"/search?q={words}&tab=images")
    assert page.text.count('class="result picture"') == 1


def test_a_site_says_what_it_is_and_its_best_pages_are_no_formalities(client):
    page = client.get("/site/guide.test").text
    assert "The guide to a harbour town" in page
    best = re.findall(r"<li><a [^>]+>([^<]+)</a></li>", page[page.index("Best pages") : page.index("Sites that link")])
    assert best[0] == "Dunsey, a harbour town"
    assert "The lighthouse walk" in best
    assert not {"Contact", "Privacy"} & set(best)


@pytest.mark.parametrize(
    ("title", "url"),
    [
        ("Contact – The Guide", "http://a.test/x"), ("Datenschutzerklärung | Amt", "http://a.test/x"),
        ("The Guide", "http://a.test/en/privacy-policy.html"), ("Impressum", "http://a.test/?page=3"),
    ],
)  # fmt: skip
def test_pages_that_every_site_has(title, url):
    assert is_formality(title, url)


@pytest.mark.parametrize(
    ("title", "url"),
    [("Contact lenses for divers", "http://a.test/contact-lenses"), ("", "http://a.test/"), ("Privacy in ports", "")],
)
def test_pages_about_such_things_are_none_of_them(title, url):
    assert not is_formality(title, url)
