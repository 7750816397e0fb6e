"""Preferences among sites, longer lists, counts, and the search box on another origin, in a real browser."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser_tools import expect, take_picture

from periplus.settings import ServeSettings, Settings
from periplus.web import WebServer, create_app

pytestmark = pytest.mark.browser


def choose(page, site, text):
    result = page.locator(".result", has=page.locator(".site", has_text=site)).first
    result.locator(".site-menu summary").click()
    result.get_by_role("button", name=text).click()


@pytest.fixture(params=["with scripts", "without scripts"])
def any_page(request, open_context):
    return open_context(java_script_enabled=request.param == "with scripts").new_page()


def test_a_site_is_pinned_lowered_and_forgotten(any_page, backend):
    page = any_page
    page.goto("/search?q=tide")
    choose(page, "charts.test", "Pin to the top")
    page.wait_for_url("**/search?q=tide")
    expect(page.locator(".site").first).to_have_text("charts.test")
    expect(page.locator(".level").first).to_have_text("pinned")
    page.goto("/search?q=harbour")  # kept for other searches
    expect(page.locator(".site").first).to_have_text("charts.test")

    page.get_by_role("link", name="Search without them").click()
    assert backend.requests[-1].lens == ""
    page.get_by_role("link", name="Apply them").click()
    page.get_by_role("link", name="Change them").click()
    page.get_by_role("button", name="Forget: charts.test").click()
    page.goto("/search?q=tide")
    expect(page.locator(".lens-note")).to_have_count(0)


def test_a_blocked_site_is_gone_and_a_link_shares_the_lens(any_page, open_context):
    page = any_page
    page.goto("/search?q=tide")
    choose(page, "tides.test", "Never show")
    expect(page.locator(".site", has_text="tides.test")).to_have_count(0)
    page.goto("/preferences")
    shared = page.get_by_label("Whoever opens this link").input_value()

    other = open_context(java_script_enabled=False).new_page()  # a browser that keeps nothing
    other.goto(shared)
    other.get_by_label("Search", exact=True).fill("tide")
    other.get_by_label("Search", exact=True).press("Enter")
    expect(other.locator(".result")).to_have_count(10)
    expect(other.locator(".site", has_text="tides.test")).to_have_count(0)
    assert "lens=" in other.url
    choose(other, "charts.test", "Never show")  # changes the address, not the browser
    expect(other.locator(".site", has_text="charts.test")).to_have_count(0)
    assert other.context.cookies() == []
    other.get_by_role("link", name="Next").click()
    expect(other.locator(".rank").first).to_have_text("11")
    assert "lens=" in other.url


def test_the_menu_of_a_result_by_keyboard(page):
    page.goto("/search?q=tide")
    page.locator(".site-menu summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Pin to the top").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".level").first).to_have_text("pinned")


def test_filters_show_how_many_there_are(page):
    page.goto("/search?q=tide")
    page.locator(".filter summary", has_text="Any language").click()
    row = page.get_by_role("link", name="Deutsch")
    expect(row.locator(".number")).to_have_text("1")
    page.keyboard.press("Escape")
    page.locator(".filter summary", has_text="Any time").click()
    page.get_by_role("link", name="2025").click()
    page.wait_for_url("**after=2025-01-01**")
    expect(page.locator(".filter summary.active")).to_have_text("2025")


def test_counts_without_scripts(plain_page):
    plain_page.goto("/search?q=tide")
    plain_page.locator(".filter summary", has_text="Any language").click()
    plain_page.locator(".filter[open]").get_by_role("link", name="Count all matches").click()
    plain_page.locator(".filter summary", has_text="Any language").click()
    expect(plain_page.get_by_role("link", name="Deutsch").locator(".number")).to_have_text("1")


def test_pages_that_are_alike_are_unfolded(any_page, backend):
    any_page.goto("/search?q=tide")
    any_page.get_by_role("link", name="2 nearly alike").click()

    expect(any_page.get_by_text("Pages that are nearly alike are all shown.")).to_be_visible()
    assert backend.requests[-1].duplicates
    any_page.get_by_role("link", name="Fold them").click()
    expect(any_page.locator(".lens-note")).to_have_count(0)
    assert not backend.requests[-1].duplicates


def test_tabs(any_page, backend):
    backend.kinds = {"news": {"http://tides.test/springs": {"source": "The Log"}}}
    any_page.goto("/search?q=tide")
    any_page.get_by_role("link", name="News").click()
    expect(any_page.locator(".result")).to_have_count(1)
    expect(any_page.locator(".known")).to_have_text("The Log")
    take_picture(any_page, "tabs-light-wide")
    any_page.get_by_role("link", name="All", exact=True).click()
    expect(any_page.locator(".result")).to_have_count(10)


def test_similar_pages(any_page):
    any_page.goto("/search?q=tide")
    any_page.locator(".site-menu summary").first.click()
    any_page.get_by_role("link", name="Similar pages").first.click()

    expect(any_page.get_by_role("heading", name="Similar pages")).to_be_visible()
    expect(any_page.locator(".result")).not_to_have_count(0)


def test_more_results_are_loaded_below_and_the_address_keeps_step(page):
    page.goto("/search?q=tide")
    more = page.get_by_role("button", name="Load more here")
    more.click()
    expect(page.locator(".result")).to_have_count(20)
    page.wait_for_url("**/search?q=tide&page=2")
    expect(page.locator(".hit").nth(10)).to_be_focused()
    expect(page.locator('.pages [aria-current="page"]')).to_have_text("2")
    page.get_by_role("button", name="Load more here").click()
    expect(page.locator(".result")).to_have_count(30)
    page.wait_for_url("**/search?q=tide&page=3")

    page.locator(".hit").first.scroll_into_view_if_needed()  # back up: the address follows
    page.wait_for_url("**/search?q=tide**")
    expect(page.locator(".rank").nth(29)).to_have_text("30")
    page.get_by_role("button", name="Load more here").click()
    expect(page.get_by_role("button", name="Load more here")).to_have_count(0)  # the last page


def test_pictures_of_sites_come_from_us(page, backend):
    backend.icons = {"tides.test": b"<svg onload='document.title=1'>"}
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/search?q=tide")
    page.wait_for_load_state("networkidle")

    assert any("/icon/tides.test" in url for url in asked)
    assert page.evaluate("[...document.images].slice(0, 3).every((image) => image.naturalWidth > 0)")


# On another site


@contextmanager
def foreign_site(content):
    """A page of another origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = (content() if callable(content) else content) if self.path == "/" else b""
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()


FRAME = "<!doctype html><html lang=en><title>Elsewhere</title><link rel=icon href='data:,'><h1>Elsewhere</h1>"


def test_the_box_on_another_site(open_context, address):
    tag = f'<script src="{address}/embed.js" data-site="harbours.test" data-label="Find" async></script>'
    with foreign_site(f"{FRAME}{tag}<p>below".encode()) as elsewhere:
        page = open_context(also=elsewhere).new_page()
        page.goto(elsewhere)
        page.get_by_role("searchbox", name="Find").fill("tide")
        take_picture(page, "embedded-light-wide")
        page.get_by_role("searchbox", name="Find").press("Enter")
        page.wait_for_url(f"{address}/search?q=tide&site=harbours.test")

        expect(page.locator(".site").first).to_have_text("harbours.test")
        assert page.context.cookies() == []


def test_the_box_completes_where_the_origin_is_named(chromium, backend):
    with foreign_site(lambda: content) as elsewhere:
        app = create_app(backend, Settings(serve=ServeSettings(cors=(elsewhere,))))
        with WebServer(app) as server:
            content = f"{FRAME}<script src='{server.address}embed.js' data-label=Find data-complete></script>".encode()
            page = chromium.new_page()
            page.goto(elsewhere)
            page.get_by_role("combobox", name="Find").press_sequentially("tide t")
            offered = page.locator("datalist option")
            expect(offered).not_to_have_count(0)
            assert "tide tables" in offered.evaluate_all("rows => rows.map((row) => row.value)")
            page.close()


def test_the_plain_form_on_another_site_without_scripts(open_context, address):
    fields = "<input name=q aria-label=Find><input name=site type=hidden value=tides.test>"
    form = f'<form action="{address}/search">{fields}</form>'
    with foreign_site(f"{FRAME}{form}".encode()) as elsewhere:
        page = open_context(also=elsewhere, java_script_enabled=False).new_page()
        page.goto(elsewhere)
        page.get_by_label("Find").fill("tide")
        page.get_by_label("Find").press("Enter")

        expect(page.locator(".site").first).to_have_text("tides.test")
