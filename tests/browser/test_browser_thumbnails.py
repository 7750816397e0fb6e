"""Small pictures beside results, and lists that go on while they are read, in a real browser."""

from __future__ import annotations

import pytest
from browser_tools import SIZES, expect, take_picture
from PIL import Image

pytestmark = pytest.mark.browser

PAGE = "/search?q=harbour"


def picture(colour: str) -> bytes:
    import io

    made = io.BytesIO()
    Image.new("RGB", (240, 160), colour).save(made, "JPEG")
    return made.getvalue()


@pytest.fixture
def illustrated(backend):
    """The first two ports have a picture; that of the second cannot be shown."""
    first, second = [note.url for note in backend.notes if note.host == "harbours.test"][:2]
    backend.kinds = {
        "images": {
            first: {"pictures": "http://harbours.test/a.jpg The harbour at dawn"},
            second: {"pictures": "http://harbours.test/b.jpg A harbour that is none"},
        }
    }
    backend.pictures = {"http://harbours.test/a.jpg": picture("teal"), "http://harbours.test/b.jpg": b"\xff\xd8\xffno"}
    return backend


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_picture_stands_beside_its_result_and_moves_nothing(illustrated, open_context, size, scripts):
    page = open_context(viewport=SIZES[size], java_script_enabled=scripts).new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(PAGE)
    page.wait_for_load_state("networkidle")
    shown = page.get_by_role("img", name="The harbour at dawn")
    box, result = shown.bounding_box(), page.locator(".result", has=shown).bounding_box()

    assert (box["width"], box["height"]) == (72, 72)  # room that the page kept before the picture came
    assert result["x"] <= box["x"]
    assert box["x"] + box["width"] <= result["x"] + result["width"] + 1
    assert sum("/picture?" in url for url in asked) == 2
    if scripts:
        assert page.evaluate("document.querySelector('.thumb').naturalWidth") == 240
    take_picture(page, f"thumbnails-{size}-light")


def test_a_picture_that_cannot_be_shown_leaves_no_hole(illustrated, page):
    page.goto(PAGE)
    expect(page.get_by_role("img", name="The harbour at dawn")).to_be_visible()
    expect(page.locator(".thumb")).to_have_count(1)


def prefer_endless(page):
    page.goto("/preferences")
    page.get_by_role("button", name="Load more while scrolling").click()


def test_who_prefers_it_scrolls_on(open_context):
    page = open_context(viewport=SIZES["phone"]).new_page()
    prefer_endless(page)
    page.goto("/search?q=tide")
    page.locator(".result").last.scroll_into_view_if_needed()
    expect(page.locator(".result")).to_have_count(20)
    expect(page.locator(".rank").nth(19)).to_have_text("20")
    assert page.evaluate("document.activeElement === document.body")  # nobody's place is taken
    page.locator(".result").last.scroll_into_view_if_needed()
    expect(page.locator(".result")).to_have_count(30)


def test_without_scripts_the_pages_stay_whatever_is_preferred(plain_page):
    prefer_endless(plain_page)
    plain_page.goto("/search?q=tide")
    plain_page.get_by_role("link", name="Next").click()
    expect(plain_page.locator(".rank").first).to_have_text("11")
