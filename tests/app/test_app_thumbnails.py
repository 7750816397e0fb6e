"""Small pictures beside results, of a crawled web: from our origin, and only where the crawl got one."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.serving.backend import CollectionBackend
from periplus.web import create_app
from web.asgi_client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Image = pytest.importorskip("PIL.Image")

PAGE = """<html lang="en"><head><title>{title}</title>{data}</head><body><main><h1>{title}</h1>{picture}
<p>The lighthouse of {title} was lit by its keeper every evening, and {words}</p></main></body></html>"""
NEWS = '<script type="application/ld+json">{{"@type": "NewsArticle", "datePublished": "{day}"}}</script>'
PICTURES = {
    "mole": '<img src="/mole.jpg" alt="The mole &quot;at&quot; low water">',
    "broken": '<img src="/broken.jpg" alt="A picture that is none">',
    "missing": '<img src="/missing.jpg" alt="A picture that is gone">',
    "bare": "",
}
THUMB = re.compile(r'<img class="thumb beside" src="([^"]+)" width="72" height="72" alt="([^"]*)" loading="lazy"')


def jpeg() -> bytes:
    into = io.BytesIO()
    Image.new("RGB", (640, 400), (30, 90, 120)).save(into, "JPEG")
    return into.getvalue()


def site(web: MockWeb) -> None:
    for place, (name, picture) in enumerate(PICTURES.items()):
        data = NEWS.format(day=f"2026-0{place + 1}-01")
        words = f"the {name} {'saw of it what it could. ' * (4 + place)}"
        text = PAGE.format(title=name.title(), data=data, picture=picture, words=words)
        web.text(f"http://a.test/{name}", text, "text/html")
    web.text("http://a.test/mole.jpg", jpeg(), "image/jpeg")
    web.text("http://a.test/broken.jpg", b"\xff\xd8\xff no picture", "image/jpeg")


def crawled(folder: Path, web: MockWeb, **flags: object) -> Collection:
    flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.allow_private": True, "crawl.workers": 1, **flags}
    collection = Collection(folder / "c", flags={**flags, "crawl.resolve": list(web.resolve)})
    collection.crawl([f"http://a.test/{name}" for name in PICTURES])
    collection.index()
    return collection


def served(collection: Collection) -> Client:
    return Client(create_app(CollectionBackend(collection), collection.settings))


@pytest.fixture
def web() -> Iterator[MockWeb]:
    with MockWeb() as made:
        site(made)
        yield made


@pytest.fixture
def collection(tmp_path: Path, web: MockWeb) -> Iterator[Collection]:
    with crawled(tmp_path, web, **{"crawl.pictures": True}) as made:
        yield made


def test_a_result_shows_the_picture_that_the_crawl_got(collection: Collection) -> None:
    client = served(collection)
    shown = dict(THUMB.findall(client.get("/search?q=lighthouse").text))
    mole = "/picture?url=http%3A%2F%2Fa.test%2Fmole.jpg"
    assert unescape(shown[mole]) == 'The mole "at" low water'
    assert all(address.startswith("/picture?url=") for address in shown)
    assert not any("missing" in address for address in shown)
    copy = client.get(mole)
    assert (copy.status, copy.media_type) == (200, "image/jpeg")
    assert max(Image.open(io.BytesIO(copy.body)).size) == 240


def test_what_cannot_be_decoded_is_not_shown_again(collection: Collection) -> None:
    client = served(collection)
    broken = "/picture?url=http%3A%2F%2Fa.test%2Fbroken.jpg"
    assert broken in client.get("/search?q=lighthouse").text
    assert client.get(broken).status == 404
    assert broken not in client.get("/search?q=lighthouse").text


def test_programs_get_its_address_and_news_come_newest_first(collection: Collection) -> None:
    client = served(collection)
    found = client.get("/api/v1/search?q=lighthouse").json["results"]
    images = {one["url"]: one.get("image") for one in found}
    assert images["http://a.test/mole"] == "/picture?url=http%3A%2F%2Fa.test%2Fmole.jpg"
    assert images["http://a.test/bare"] is None
    news = client.get("/search?q=lighthouse&tab=news").text
    days = re.findall(r'published <time datetime="([^"T]+)', news)
    assert days == ["2026-04-01", "2026-03-01", "2026-02-01", "2026-01-01"]
    assert any("mole.jpg" in address for address, _ in THUMB.findall(news))
    best = next(link for link in re.findall(r'href="([^"]+)"', news) if "sort=relevance" in link)
    assert "tab=news" in best
    assert 'aria-current="true"' in client.get(unescape(best)).text


def test_a_picture_that_was_taken_down_is_gone(collection: Collection) -> None:
    client = served(collection)
    assert "mole.jpg" in client.get("/search?q=lighthouse").text
    collection.remove("http://a.test/mole.jpg")
    assert "mole.jpg" not in client.get("/search?q=lighthouse").text


def test_nothing_is_looked_for_where_none_is_wanted(
    tmp_path: Path, web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    with crawled(tmp_path, web) as collection:
        monkeypatch.setattr(collection.engine, "facts", lambda *_: pytest.fail("asked for pictures"))
        page = served(collection).get("/search?q=lighthouse").text
        assert 'class="hit"' in page
        assert "/picture?" not in page
