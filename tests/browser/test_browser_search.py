"""What a reader does, in a real browser: with scripts, without them, and with the keyboard only."""

from __future__ import annotations

import re

import pytest
from browser_tools import expect

pytestmark = pytest.mark.browser


def menu(page, text):
    return page.locator(".filter summary", has_text=text)


def active_suggestion(page):
    return page.locator('#suggestions [aria-selected="true"]')


def held_back(page, addresses):
    """Requests that wait until the test lets them go on."""
    held = []

    def hold(route):  # playwright marks the functions it is given, which a method of a list cannot be
        held.append(route)

    page.route(addresses, hold)
    return held


def test_type_complete_search_and_turn_the_page(page):
    page.goto("/")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-expanded", "false")

    box.press_sequentially("tide")
    options = page.get_by_role("option")
    expect(options).to_have_text(["tide", "tide tables", "tide tables and how to read them"])
    expect(box).to_have_attribute("aria-expanded", "true")

    box.press("ArrowDown")
    expect(active_suggestion(page)).to_have_text("tide")
    expect(box).to_have_attribute("aria-activedescendant", "suggestions-0")
    box.press("ArrowDown")
    expect(box).to_have_value("tide tables")
    box.press("ArrowUp")
    expect(box).to_have_value("tide")
    box.press("Enter")

    page.wait_for_url("**/search?q=tide")
    expect(page.locator(".result")).to_have_count(10)
    expect(page.locator(".result mark").first).to_have_text("tide")
    expect(page.get_by_role("status")).to_contain_text("33 results")

    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**/search?q=tide&page=2")
    expect(page.locator(".rank").first).to_have_text("11")
    expect(page.locator('.pages [aria-current="page"]')).to_have_text("2")


def test_an_answer_that_is_late_does_not_take_away_what_was_chosen(page):
    """Who moves in a list keeps it, whatever is still asked for."""
    late = "**/api/v1/suggest?q=tide"
    page.route(late, lambda route: None)  # never answered
    page.goto("/")
    box = page.get_by_role("combobox", name="Search")
    box.press_sequentially("tid")
    expect(page.get_by_role("option").first).to_have_text("tide")
    with page.expect_request(late):
        box.press("e")
    with page.expect_event("requestfailed"):
        box.press("ArrowDown")
    expect(active_suggestion(page)).to_have_text("tide")
    box.press("ArrowDown")
    expect(box).to_have_value("tide tables")


def test_a_suggestion_is_taken_with_the_mouse(page):
    page.goto("/")
    page.get_by_role("combobox").press_sequentially("tide t")
    page.get_by_role("option", name="tide tables", exact=True).click()

    page.wait_for_url("**/search?q=tide+tables")


def test_escape_gives_back_what_was_typed(page):
    page.goto("/")
    box = page.get_by_role("combobox")
    box.press_sequentially("tide")
    expect(page.get_by_role("listbox")).to_be_visible()
    box.press("ArrowDown")
    box.press("ArrowDown")
    expect(box).to_have_value("tide tables")
    box.press("Escape")

    expect(box).to_have_value("tide")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_recent_queries_stay_in_the_browser_and_can_be_forgotten(page, backend):
    page.goto("/search?q=harbour")
    page.get_by_role("combobox").fill("spring tides")
    page.get_by_role("combobox").press("Enter")
    page.wait_for_url("**/search?q=spring+tides")
    page.goto("/")
    page.get_by_role("combobox").press("ArrowDown")
    expect(page.get_by_role("option")).to_have_text(["spring tides", "Forget recent searches"])

    page.get_by_role("option", name="Forget").click()
    page.get_by_role("combobox").press("ArrowDown")
    expect(page.get_by_role("listbox")).to_be_hidden()
    assert page.context.cookies() == []


def test_keys_move_along_the_results(page):
    page.goto("/search?q=tide")
    hits = page.locator(".hit")
    page.keyboard.press("j")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(hits.nth(2)).to_be_focused()
    page.keyboard.press("k")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()


def test_help_opens_with_a_question_mark(page):
    page.goto("/search?q=tide")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_filters_open_one_at_a_time_and_close_outside(page):
    page.goto("/search?q=tide")
    menu(page, "Any language").click()
    expect(page.get_by_role("link", name="Deutsch")).to_be_visible()
    menu(page, "Any site").click()
    expect(page.get_by_role("link", name="Deutsch")).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.locator(".filter[open] a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu(page, "Any site")).to_be_focused()
    expect(page.locator(".filter[open]")).to_have_count(0)
    menu(page, "Any language").click()
    page.get_by_role("link", name="Deutsch").click()

    expect(page.locator(".result")).to_have_count(1)


def test_counts_that_are_late_leave_the_keyboard_where_it_is(page):
    """The counts of a menu come when it is open already, and somebody may stand in it by then."""
    held = held_back(page, "**/search?**counts**")
    page.goto("/search?q=tide")
    site = page.locator(".filter[open]")
    with page.expect_request("**/search?**counts**"):
        menu(page, "Any site").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    second = site.locator("a").nth(1)
    expect(second).to_be_focused()
    name = second.locator("span").first.inner_text()
    expect(site.locator("a.ask")).to_have_count(1)
    held[0].continue_()

    expect(site.locator("a.ask")).to_have_count(0)
    expect(site.locator("a:focus")).to_contain_text(name)
    page.keyboard.press("Escape")
    expect(menu(page, "Any site")).to_be_focused()


def test_parts_of_a_score_that_are_late_leave_the_keyboard_at_their_result(page):
    held = held_back(page, "**/search?**explain**")
    page.goto("/search?q=tide")
    why = page.locator(".why").first
    with page.expect_request("**/search?**explain**"):
        why.locator("summary").click()
    page.keyboard.press("Tab")
    expect(why.locator("a.ask")).to_be_focused()
    held[0].continue_()

    expect(why.locator(".bars")).to_be_visible()
    expect(why.get_by_role("link", name="All the numbers")).to_be_focused()


def test_why_this_result(page):
    page.goto("/search?q=tide")
    why = page.locator(".why").first
    expect(why.locator(".score")).to_be_hidden()
    why.locator("summary").click()
    expect(why.locator(".bar-name").first).to_have_text("text")
    second = page.locator(".why").nth(1)
    second.locator("summary").click()
    expect(second.locator(".bars")).to_be_visible()


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_by_system_and_by_choice(open_context):
    page = open_context(color_scheme="dark").new_page()
    page.goto("/search?q=tide")
    assert ground(page) == "rgb(12, 26, 34)"

    page.get_by_role("button", name="light").click()
    assert ground(page) == "rgb(247, 243, 234)"
    expect(page.get_by_role("button", name="light")).to_have_attribute("aria-pressed", "true")
    page.goto("/")
    assert ground(page) == "rgb(247, 243, 234)"


# The same without scripts


def test_search_without_scripts(plain_page):
    page = plain_page
    page.goto("/")
    page.get_by_label("Search", exact=True).fill("tide")
    page.get_by_label("Search", exact=True).press("Enter")
    page.wait_for_url("**/search?q=tide")
    expect(page.locator(".result")).to_have_count(10)
    expect(page.locator(".result mark").first).to_have_text("tide")

    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**/search?q=tide&page=2")
    expect(page.locator(".rank").first).to_have_text("11")
    page.get_by_role("link", name="Previous").click()

    menu(page, "Any language").click()
    page.get_by_role("link", name="Deutsch").click()
    expect(page.locator(".result")).to_have_count(1)
    page.get_by_text("why this result").click()
    page.get_by_role("link", name="Show the parts of the scores").click()
    expect(page.locator(".bars")).to_be_visible()


def test_dark_without_scripts(plain_page):
    page = plain_page
    page.goto("/search?q=tide")
    page.get_by_role("button", name="dark").click()

    page.wait_for_url("**/search?q=tide")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(12, 26, 34)")


def test_lookups_without_scripts(plain_page):
    page = plain_page
    page.goto("/inspect")
    page.get_by_label("Address").fill("http://nowhere.test/")
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("the page asks not to be indexed")).to_be_visible()

    page.goto("/about-bot")
    page.get_by_label("Host name").fill("harbours.test")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_text("Shortest gap")).to_be_visible()


# What must not run


def test_hostile_pages_run_no_script(page):
    for path in ("/search?q=hostile", "/cached?url=http://hostile.test/x&q=hostile", "/site/hostile.test"):
        page.goto(path)
        page.locator("main").hover()
        assert page.title() != "pwned"
    page.goto("/search?q=hostile")
    assert "<script>" in page.locator(".hit", has_text="onerror").first.inner_text()
    assert page.locator('a[href^="javascript:"]').count() == 0


@pytest.mark.parametrize(
    "query", ["<img src=x onerror=\"document.title='pwned'\">", "\"><script>document.title='pwned'</script>"]
)
def test_hostile_queries_run_no_script(page, query):
    page.goto("/")
    page.get_by_role("combobox").fill(query)
    page.get_by_role("combobox").press("Enter")
    page.wait_for_url(re.compile(r"/search\?q="))

    assert page.get_by_role("combobox").input_value() == query
    assert page.title() == f"{query} · Periplus"
    page.goto("/")
    page.get_by_role("combobox").press("ArrowDown")
    expect(page.get_by_role("option").first).to_have_text(query)
    assert page.title() != "pwned"


def test_hostile_suggestions_run_no_script(page, backend):
    backend.notes[0] = backend.notes[0].__class__(
        "http://x.test/", "x<img src=y onerror=\"document.title='pwned'\">", "x"
    )
    page.goto("/")
    page.get_by_role("combobox").press_sequentially("x")

    expect(page.get_by_role("option").first).to_contain_text("<img src=y")
    assert page.title() != "pwned"
