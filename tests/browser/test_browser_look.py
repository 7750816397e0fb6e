"""How it looks: screenshots for people, contrast and overflow measured by the browser."""

from __future__ import annotations

import pytest
from browser_tools import SIZES, take_picture

pytestmark = pytest.mark.browser

PAGES = {
    "landing": "/",
    "results": "/search?q=tide+harbour",
    "none": "/search?q=zebra",
    "instant": "/search?q=sqrt(2)%5E3+%2B+2%5E64",
    "instant-unit": "/search?q=10+miles+in+km",
    "instant-colour": "/search?q=teal+hex",
    "site": "/site/harbours.test",
    "api": "/api",
    "sites": "/sites?host=t",
    "inspect": "/inspect?url=http://nowhere.test/",
    "explain": "/explain?q=tide+table&url=http://tides.test/tables/",
    "cached": "/cached?url=http://tides.test/tables/&q=tide",
    "about-bot": "/about-bot?host=harbours.test",
    "lens": "/search?q=tide&lens=raise:tides.test,lower:charts.test",
    "preferences": "/preferences?lens=pin:tides.test,block:hostile.test",
    "similar": "/similar?url=http://tides.test/springs",
    "embed": "/embed?site=harbours.test",
    "console": "/console",
    "console-inspect": "/console/inspect?url=http://nowhere.test/",
    "console-queries": "/console/queries",
    "hosts": "/console/hosts",
    "errors": "/console/errors",
    "queries": "/console/queries?text=tide&profile=periplus&beside=bm25",
    "index": "/console/index",
    "ranks": "/console/ranks",
    "settings": "/console/settings",
    "events": "/console/events",
    "machines": "/console/machines",
}

LINES = {"wide": 2, "phone": 4}  # of a snippet, at most
COUNT_LINES = """nodes => Math.max(...nodes.map(
  (node) => Math.round(node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight))))"""

# Contrast of every visible piece of text with the nearest opaque ground behind it, by the WCAG formula.
CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest("svg, .hidden")) continue;
    const pair = [light(parse(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_and_reads_well(open_context, scheme, size):
    page = open_context(color_scheme=scheme, viewport=SIZES[size]).new_page()
    for name, path in PAGES.items():
        page.goto(path)
        if name == "results":
            page.locator(".why summary").first.click()
            page.locator(".bars").first.wait_for()
            assert 1 <= page.locator(".snippet").evaluate_all(COUNT_LINES) <= LINES[size]
        take_picture(page, f"{name}-{scheme}-{size}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
        assert page.evaluate(CONTRAST) == [], name


def test_completion_picture(page):
    page.goto("/")
    page.get_by_role("combobox").press_sequentially("tide")
    page.get_by_role("option").first.wait_for()
    page.get_by_role("combobox").press("ArrowDown")
    take_picture(page, "completion-light-wide")


def test_prints_without_the_furniture(page):
    page.goto("/search?q=tide")
    page.emulate_media(media="print")

    for furniture in (".box", ".filters", ".meta a", ".bottom", ".why-not"):
        assert not page.locator(furniture).first.is_visible(), furniture
    assert page.locator(".hit").first.is_visible()
    assert page.locator("h1").inner_text() == "Results for tide"
    assert page.locator("h1").bounding_box()["height"] > 20
    take_picture(page, "print-results")


@pytest.mark.parametrize(
    ("name", "path", "locale", "direction"),
    [
        ("arabic", "/search?q=tide", "ar", "rtl"),
        ("arabic-preferences", "/preferences?lens=pin:tides.test", "ar", "rtl"),
        ("chinese", "/search?q=港口的潮汐", "zh-CN", "ltr"),
        ("german", "/search?q=tide", "de", "ltr"),
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_other_languages_fit(open_context, name, path, locale, direction, size):
    page = open_context(locale=locale, viewport=SIZES[size]).new_page()
    page.goto(path)
    if path.startswith("/search"):
        page.locator(".filter summary").first.click()
    take_picture(page, f"{name}-light-{size}")

    assert page.locator("html").get_attribute("dir") == direction
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"


def test_menus_stay_inside_the_window(open_context):
    for size, window in SIZES.items():
        page = open_context(viewport=window).new_page()
        for path, menus in (("/search?q=tide", ".site-menu"), ("/console/hosts", ".acts")):
            page.goto(path)
            page.locator(f"{menus} > summary").nth(1).click()
            box = page.locator(f"{menus}[open] ul").bounding_box()
            assert box["x"] >= 0, (size, path)
            assert box["x"] + box["width"] <= window["width"], (size, path)
        page.goto("/search?q=tide")
        page.locator(".site-menu summary").first.click()
        take_picture(page, f"site-menu-light-{size}")


def test_right_to_left_text_runs_from_the_right(page):
    page.goto("/search?q=tide&lang=ar")

    assert page.locator(".snippet").first.evaluate("node => getComputedStyle(node).direction") == "rtl"


@pytest.mark.parametrize("size", SIZES)
def test_a_long_path_gives_way_before_the_name_of_its_host(open_context, size):
    page = open_context(viewport=SIZES[size]).new_page()
    page.goto("/search?q=tide+harbour")
    page.locator(".where .path").first.evaluate("node => { node.textContent = '› ' + 'breakwater '.repeat(30) }")
    cut = "nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).length"

    assert page.locator(".where .site").count() > 5
    assert page.locator(".where .site").evaluate_all(cut) == 0
    assert page.locator(".where .path").evaluate_all(cut) > 0
