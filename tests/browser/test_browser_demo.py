"""The real thing: the demo web crawled, ranked, indexed and served, read in a browser."""

from __future__ import annotations

import pytest
from browser_tools import expect, take_picture

pytestmark = pytest.mark.browser

QUERY = "lighthouse"


@pytest.fixture(scope="module")
def demo(browser_present, tmp_path_factory):
    """The served demo collection and the operator's key."""
    from periplus.app.running.demonstration import Demonstration
    from periplus.app.serving.server import operator_key, web_server

    # A busy machine must not cut an answer short: what is tested here is what the pages show.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("PERIPLUS_SEARCH_BUDGET_MS", "30000")
    with Demonstration(tmp_path_factory.mktemp("demo") / "collection", port=0) as voyage:
        voyage.crawl(lambda _: None)
        voyage.rank(lambda *_: None)
        voyage.index(lambda _: None)
        voyage.collection.search(QUERY, explain=True)  # compiles what is not compiled yet
        with web_server(voyage.collection) as server:
            yield server.address.rstrip("/"), operator_key(voyage.collection)
    monkeypatch.undo()


@pytest.fixture(scope="module")
def chromium(demo, chromium):
    """The browser only after the crawl, which needs the event loop that the browser's driver then holds."""
    return chromium


@pytest.fixture
def address(demo):
    return demo[0]


def test_the_whole_voyage(page):
    page.goto("/")
    expect(page.locator(".charted")).to_contain_text("pages")
    take_picture(page, "demo-landing")

    box = page.get_by_role("combobox")
    box.press_sequentially(QUERY[:6])
    expect(page.get_by_role("option").first).to_be_visible()
    box.fill(QUERY)
    box.press("Enter")
    page.wait_for_url(f"**/search?q={QUERY}")
    expect(page.locator(".result")).to_have_count(10)
    expect(page.locator(".snippet mark").first).to_have_text(QUERY, ignore_case=True)
    page.locator(".why summary").first.click()
    expect(page.locator(".bars li").first).to_be_visible()
    take_picture(page, "demo-results")

    first = page.locator(".hit").first.get_attribute("href")
    page.get_by_role("link", name="Next").click()
    expect(page.locator('.pages [aria-current="page"]')).to_have_text("2")
    assert page.locator(".hit").first.get_attribute("href") != first

    page.get_by_role("button", name="dark").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(12, 26, 34)")


def test_the_whole_voyage_without_scripts(plain_page):
    page = plain_page
    page.goto("/")
    page.get_by_label("Search", exact=True).fill(QUERY)
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".snippet mark").first).to_have_text(QUERY, ignore_case=True)
    page.get_by_role("link", name="Next").click()
    expect(page.locator('.pages [aria-current="page"]')).to_have_text("2")
    page.get_by_role("button", name="dark").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(12, 26, 34)")


def test_one_page_from_every_side(page):
    page.goto(f"/search?q={QUERY}")
    address = page.locator(".hit").first.get_attribute("href")
    title = page.locator(".hit").first.inner_text()

    page.get_by_role("link", name="cached").first.click()
    expect(page.locator(".copy mark").first).to_have_text(QUERY, ignore_case=True)
    page.goto(f"/inspect?url={address}")
    expect(page.locator(".chain li")).not_to_have_count(0)
    page.goto(f"/explain?q={QUERY}&url={address}")
    expect(page.locator(".bars li").first).to_be_visible()
    page.goto(f"/search?q={QUERY}")
    page.locator(".site").first.click()
    expect(page.locator(".ports")).to_contain_text(title)
    page.get_by_role("link", name="What our crawler did there").click()
    expect(page.locator(".facts").first).to_contain_text("Requests")


def test_a_site_is_pinned_and_then_blocked(page):
    page.goto(f"/search?q={QUERY}")
    sites = page.locator(".site").all_inner_texts()
    other = next(site for site in sites if site != sites[0])
    result = page.locator(".result", has=page.locator(".site", has_text=other)).first
    result.locator(".site-menu summary").click()
    result.get_by_role("button", name="Pin to the top").click()
    expect(page.locator(".level").first).to_have_text("pinned")
    expect(page.locator(".site").first).to_have_text(other)

    page.locator(".site-menu summary").first.click()
    page.locator(".site-menu[open]").get_by_role("button", name="Never show").click()
    expect(page.locator(".lens-note")).to_be_visible()
    expect(page.locator(".site", has_text=other)).to_have_count(0)


def test_news_of_the_collection_have_a_tab(page):
    page.goto("/search?q=harbour")
    page.wait_for_function(
        "async () => (await (await fetch(location)).text()).includes('tab=news')"
    )  # read in the background when the first page is asked for
    page.reload()
    page.get_by_role("link", name="News").click()
    expect(page.locator(".known").first).to_be_visible()


def test_a_misspelt_word_is_understood(page):
    page.goto("/search?q=lighthuose")

    expect(page.locator(".notice a").first).to_have_text(QUERY)
    expect(page.locator(".result")).not_to_have_count(0)


def test_the_console_opens_with_the_key(page, demo):
    page.goto(f"/console?key={demo[1]}")

    assert "key" not in page.url
    expect(page.locator(".figures")).to_contain_text("documents")
