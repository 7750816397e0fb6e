"""The console in a real browser: it keeps itself fresh, and its forms work without scripts."""

from __future__ import annotations

import pytest
from browser_tools import SIZES, expect

pytestmark = pytest.mark.browser


WIDEST_CELL = """tables => Math.max(...tables.flatMap((table) => [...table.querySelectorAll("tbody :is(th, td)")]).map(
  (cell) => cell.getBoundingClientRect().right))"""


def test_the_overview_refreshes_itself(page, backend):
    page.goto("/console")
    expect(page.locator(".figures")).to_contain_text("1\u202f234")
    status = backend.status()
    backend.status = lambda: {**status, "crawl": {**status["crawl"], "pages": 9_876}}

    expect(page.locator(".figures")).to_contain_text("9\u202f876")


def test_results_are_judged_without_scripts(plain_page, backend):
    page = plain_page
    page.goto("/console")
    page.get_by_role("link", name="Queries").click()
    page.get_by_label("Query", exact=True).fill("tide")
    page.get_by_label("beside").select_option("bm25")
    page.get_by_role("button", name="Take apart").click()
    expect(page.locator(".beside section")).to_have_count(2)
    page.locator(".judged select").first.select_option("3")
    page.get_by_role("button", name="Keep these judgements").click()

    expect(page.locator(".judged select").first).to_have_value("3")
    assert list(backend.panels.judged["tide"].values()) == [3]
    expect(page.get_by_text("1 query is judged")).to_be_visible()


def test_hostile_addresses_run_no_script_in_the_console(page):
    for path in ("/console/errors", "/console/hosts", "/console/queries?text=hostile&beside=bm25"):
        page.goto(path)
        page.locator("main").hover()
        assert page.title() != "pwned"
        assert page.locator('main a[href^="javascript:"]').count() == 0


@pytest.fixture(params=["with scripts", "without scripts"])
def any_page(request, open_context):
    return open_context(java_script_enabled=request.param == "with scripts").new_page()


def test_hosts_are_steered_from_their_menu(any_page, backend):
    page = any_page
    page.goto("/console/hosts")
    for action in ("Recrawl", "Boost", "Block"):
        row = page.locator("tr", has_text="harbours.test")
        row.locator(".acts > summary").click()
        if action == "Block":  # asks first
            expect(page.get_by_role("button", name="Block: harbours.test")).to_be_hidden()
            row.locator(".sure > summary").click()
            expect(row.get_by_text("Nothing is deleted")).to_be_visible()
        page.get_by_role("button", name=f"{action}: harbours.test").click()
        expect(page.get_by_role("status")).to_contain_text("harbours.test")
    page.locator("tr", has_text="gang.test").locator(".acts > summary").click()
    page.get_by_role("button", name="Unblock: gang.test").click()
    expect(page.get_by_role("status")).to_contain_text("may be visited again")

    assert [action for action, _ in backend.steered] == ["recrawl", "boost", "block", "unblock"]


def test_an_address_is_steered_from_the_inspector(any_page, backend):
    page = any_page
    page.goto("/console/inspect")
    page.get_by_label("Address").fill("http://nowhere.test/x")
    page.get_by_role("button", name="Inspect").click()
    page.get_by_role("button", name="Recrawl").click()
    expect(page.get_by_role("status")).to_contain_text("http://nowhere.test/x")
    expect(page.get_by_role("button", name="Remove: http://nowhere.test/x")).to_be_hidden()  # asks first
    page.locator(".sure summary", has_text="Remove").click()
    page.get_by_role("button", name="Remove: http://nowhere.test/x").click()
    expect(page.get_by_role("status")).to_contain_text("never asked for again")

    assert backend.steered == [("recrawl", "http://nowhere.test/x"), ("remove", "http://nowhere.test/x")]


def test_a_crawl_is_started_steered_and_a_worker_restarted(any_page, backend):
    page = any_page
    page.goto("/console")
    page.get_by_text("Start a crawl").click()
    page.get_by_label("Addresses to start from").fill("http://a.test/\nhttp://b.test/")
    page.get_by_label("Follow links to").select_option("host")
    page.get_by_label("Pages, at most").fill("50")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("http://a.test/ and 1 more")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Actions for worker 1").click()
    page.get_by_role("button", name="Restart: 1").click()
    expect(page.get_by_role("status")).to_contain_text("starts again")

    assert backend.options == {"scope": "host", "max_pages": 50}
    assert backend.commands == ["start", "pause", "restart 1"]


def test_the_console_by_keyboard(page, backend):
    page.goto("/console/hosts")
    page.locator(".acts summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("status")).to_be_visible()
    assert len(backend.steered) == 1


def test_every_panel_is_reached_from_the_menu_and_as_json(page):
    page.goto("/console")
    for name in page.locator(".menu a").all_inner_texts():
        page.locator(".menu a", has_text=name).click()
        expect(page.locator('.menu [aria-current="page"]')).to_have_text(name)
        expect(page.get_by_role("link", name="This panel as JSON")).to_be_visible()
    page.goto("/console/events")
    expect(page.get_by_role("cell", name="the disk is nearly full")).to_be_visible()


def test_what_happened_can_be_read_on_a_phone(open_context, backend):
    backend.panels.events_kept.append(
        {"at": 1_763_240_000.0, "room": "crawl", "level": "info", "text": "crawl 1 done: 162 pages, 2 failed " * 3}
    )
    page = open_context(viewport=SIZES["phone"]).new_page()
    for path in ("/console", "/console/hosts", "/console/errors", "/console/index", "/console/events"):
        page.goto(path)
        assert page.locator(".stacked").evaluate_all(WIDEST_CELL) <= SIZES["phone"]["width"], path
    page.get_by_role("link", name="Errors only").click()
    expect(page.get_by_text("Nothing of that kind happened")).to_be_visible()


def test_safe_search_is_chosen_by_a_link_without_scripts(plain_page, backend):
    page = plain_page
    page.goto("/search?q=tide")
    page.locator("summary", has_text="Safe search: off").click()
    page.get_by_role("link", name="Safe search: on").click()

    expect(page.locator("summary", has_text="Safe search: on")).to_be_visible()
    assert backend.requests[-1].safe
