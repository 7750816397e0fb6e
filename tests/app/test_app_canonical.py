"""Canonical addresses from end to end: a crawl of a web, its index, and which of the addresses a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.importing import import_paths
from periplus.demo import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOME = "http://a.test/"
QUICK = {"delay": 0.01, "scope": "site", "icons": False, "retries": 0, "workers": 1, "connect_timeout": 1.0}


class World:
    """A collection, and the web that it is a crawl of."""

    def __init__(self, folder: Path, web: MockWeb) -> None:
        self.collection = Collection(folder)
        self.web = web

    def page(self, path: str, canonical: str = "", text: str = "", head: str = "") -> None:
        """A page with a word of its own, ``path`` without slashes, and one that all have: ``harbour``."""
        url = path if "://" in path else f"http://a.test{path}"
        link = f"<link rel=canonical href='{canonical}'>" if canonical else ""
        words = text or f"The harbour at the {url.rpartition('/')[2] or 'front'} has a story of its own."
        text = f"<html lang=en><head><title>{words}</title>{link}{head}</head><p>{words}</html>"
        self.web.text(url, text, "text/html")

    def crawl(self, *links: str, recrawl: bool = False, **options: Any) -> None:
        if links:
            self.web.page(HOME, "<p>Where all begins.", links=links)
        self.collection.crawl([HOME], resolve=self.web.resolve, recrawl=recrawl, seconds=30, **(QUICK | options))

    def found(self, query: str = "harbour") -> list[str]:
        self.collection.index()
        self.collection.engine.reload()
        return sorted(hit.url for hit in self.collection.search(query, k=50))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with MockWeb() as web:
        made = World(tmp_path / "c", web)
        yield made
        made.collection.close()


def test_a_page_gives_way_to_its_canonical_address(world: World) -> None:
    world.page("/copy", "/page")
    world.page("/page", "/page")
    world.crawl("/copy")
    assert world.found() == ["http://a.test/page"]


def test_the_canonical_address_wins_over_copies_of_the_same_bytes_that_came_first(world: World) -> None:
    for path in ("/page?from=x", "/page?from=y", "/page"):
        world.page(path, "http://a.test/page", text="The harbour in the same words everywhere.")
    world.crawl("/page?from=x", "/page?from=y")
    assert world.found() == ["http://a.test/page"]


def test_a_redirect_back_is_no_way_out(world: World) -> None:
    world.web.redirect("http://a.test/old", "/new", 301)
    world.page("/new", "/old")
    world.crawl("/old")
    assert world.found() == ["http://a.test/new"]


@pytest.mark.parametrize("status", [404, 410, 500, 403])
def test_a_dead_canonical_address_takes_nothing_out(world: World, status: int) -> None:
    world.page("/page", "/dead")
    world.web.at("http://a.test/dead", Reply(status, b"no"))
    world.crawl("/page")
    assert world.found() == ["http://a.test/page"]


def test_nor_does_one_that_is_refused(world: World) -> None:
    world.web.robots("a.test", "User-agent: *\nDisallow: /closed$")
    names = ("closed", "noindex", "excluded", "private", "empty")
    for name in names:
        world.page(f"/{name}-page", f"/{name}")
        world.page(f"/{name}")
    world.page("/noindex", head="<meta name=robots content=noindex>")
    world.web.text("http://a.test/empty", "<html></html>", "text/html")
    world.web.redirect("http://a.test/private", "http://10.0.0.1/")
    world.crawl(*(f"/{name}-page" for name in names), exclude=("/excluded$",))
    assert world.found() == sorted(f"http://a.test/{name}-page" for name in names)


def test_nor_one_that_the_page_limit_keeps_out(world: World) -> None:
    world.page("/page", "/later")
    world.page("/later")
    world.crawl("/page", max_pages=2)
    assert world.found() == ["http://a.test/page"]
    world.crawl(max_pages=3)
    assert world.found() == ["http://a.test/later"]


def test_the_other_scheme_that_cannot_be_reached(world: World) -> None:
    world.page("/page", "https://a.test/page")
    world.crawl("/page")
    assert world.found() == ["http://a.test/page"]


def test_the_other_scheme(tmp_path: Path, secure_web: MockWeb) -> None:
    world = World(tmp_path / "c", secure_web)
    world.page("/up", "https://a.test/up")
    world.page("https://a.test/up", "https://a.test/up")
    world.page("https://a.test/down", "http://a.test/down")
    world.web.redirect("http://a.test/down", "https://a.test/down", 301)
    world.page("/round", "https://a.test/round", text="The harbour goes round.")
    world.page("https://a.test/round", "http://a.test/round", text="The harbour goes round.")
    world.crawl("/up", "/down", "/round", tls="note")
    found = world.found()
    assert sorted(url.partition("://")[2] for url in found) == ["a.test/down", "a.test/round", "a.test/up"]
    assert {"https://a.test/down", "https://a.test/up"} <= set(found)
    world.collection.close()


def test_chains_have_one_end(world: World) -> None:
    world.page("/one", "/two")
    world.page("/two", "/three")
    world.page("/three", "/four")
    world.web.redirect("http://a.test/four", "/five")
    world.page("/five")
    world.crawl("/one")
    assert world.found() == ["http://a.test/five"]
    world.web.at("http://a.test/five", Reply(410, b"gone"))
    world.crawl(recrawl=True)
    assert world.found() == ["http://a.test/three"]


def test_in_a_circle_every_page_with_words_of_its_own_is_found(world: World) -> None:
    texts = ("Lanterns and ropes.", "A ferry that sails at dawn on Sundays only.", "Three herons on the mole.")
    for name, target, text in zip("abc", "bca", texts, strict=True):
        world.page(f"/{name}", f"/{target}", text=f"The harbour. {text}")
    world.page("/into", "/a")
    world.crawl("/into")
    assert world.found() == [f"http://a.test/{name}" for name in "abc"]


def test_in_a_circle_of_the_same_text_one_page_is_found(world: World) -> None:
    text = "The harbour has lanterns, ropes and a ferry that sails at dawn on Sundays, when the tide lets it."
    world.page("/a", "/b", text)
    world.page("/b", "/a", text)
    world.crawl("/a", "/b")
    assert len(world.found()) == 1


def test_copies_of_the_same_bytes_stand_in_once(world: World) -> None:
    for number in range(5):
        world.page(f"/page?session={number}", "http://a.test/dead", text="The harbour in the same words everywhere.")
    world.crawl(*(f"/page?session={number}" for number in range(5)))
    assert len(world.found()) == 1
    assert world.collection.status().index.documents == 2  # with the front page


def test_a_canonical_address_on_another_host_of_the_site(world: World) -> None:
    world.page("/page", "http://www.a.test/page")
    world.page("http://www.a.test/page", "http://www.a.test/page")
    world.page("/other", "http://gone.a.test/other")
    world.web.host("gone.a.test", Reply(404, b"no"))
    world.crawl("/page", "/other")
    assert world.found() == ["http://a.test/other", "http://www.a.test/page"]


def test_a_canonical_address_that_dies_and_comes_back(world: World) -> None:
    world.page("/copy", "/page")
    world.page("/page", "/page")
    world.crawl("/copy")
    assert world.found() == ["http://a.test/page"]
    world.web.at("http://a.test/page", Reply(410, b"gone"))
    world.crawl(recrawl=True)
    assert world.found() == ["http://a.test/copy"]
    story = world.collection.inspect("http://a.test/copy")
    assert story.verdict == "found by search"
    choice = next(step for step in story.steps if step.step == "canonical")
    assert (choice.state, choice.detail) == ("ok", "stands in for http://a.test/page, which is not in the index")
    world.collection.rank()  # new anchor texts are taken over by pages that stand in, too
    assert world.found() == ["http://a.test/copy"]
    world.page("/page", "/page")
    world.crawl(recrawl=True)
    assert world.found() == ["http://a.test/page"]
    world.collection.index(rebuild=True)
    assert world.found() == ["http://a.test/page"]


def test_a_page_that_is_visited_again_goes_on_to_stand_in(world: World) -> None:
    world.page("/copy", "/dead")
    world.crawl("/copy")
    assert world.found() == ["http://a.test/copy"]
    world.page("/copy", "/dead", text="The harbour has changed its words.")
    world.crawl(recrawl=True)
    assert world.found("changed") == ["http://a.test/copy"]
    world.page("/copy", "/copy")
    world.crawl(recrawl=True)
    assert world.found() == ["http://a.test/copy"]


def test_what_was_taken_down_does_not_come_back_by_its_copies(world: World) -> None:
    world.page("/copy", "/page")
    world.page("/page", "/page")
    world.page("/hope", "/never")
    world.crawl("/copy", "/hope")
    assert world.found() == ["http://a.test/hope", "http://a.test/page"]
    world.collection.remove("http://a.test/page")
    world.collection.remove("http://a.test/never")
    assert world.found() == ["http://a.test/hope"]  # said of an address that was never had: with the next batch
    world.collection.index(rebuild=True)
    assert world.found() == []


def test_documents_made_later_are_treated_alike(world: World) -> None:
    world.page("/copy", "/dead")
    world.page("/twin", "/page")
    world.page("/page")
    world.crawl("/copy", "/twin", documents="later")
    assert world.found() == ["http://a.test/copy", "http://a.test/page"]


def test_pages_in_unwanted_languages_do_not_stand_in(world: World) -> None:
    text = "Der Hafen hat viele Boote, und die Fischer fahren am frühen Morgen auf die See hinaus. harbour"
    world.page("/seite", "/tot", text=text)
    world.crawl("/seite", languages=("en",))
    assert world.found() == []


def test_imports_are_treated_alike(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for name, canonical in (("copy", "page"), ("page", "page"), ("lonely", "missing")):
        (folder / f"{name}.html").write_text(
            f"<html lang=en><link rel=canonical href='{canonical}.html'><title>{name}</title><p>The harbour of {name}.",
            encoding="utf-8",
        )
    import_paths(world.collection, [folder], "http://b.test/")
    assert world.found() == ["http://b.test/lonely.html", "http://b.test/page.html"]
