"""Preferences among sites, in the address and in a cookie; the box for other sites; pictures of sites."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.pages.icons import MAX_BYTES, kind_of, tile
from periplus.web.pages.lenses import LEVELS, MAX_LENGTH, changed, read_lens, written


def press(client, back, lens="", cookie="", origin="http://127.0.0.1:8080", **fields):
    body = urlencode({"back": back, "lens": lens, **fields}).encode()
    return client.post("/lens", body, cookie=f"lens={cookie}" if cookie else "", origin=origin)


def order(answer):
    return [line.split('"')[0] for line in answer.text.split('class="hit" href="')[1:]]


def test_a_button_keeps_a_site_in_the_browser(client, backend):
    answer = press(client, "/search?q=tide", choice="lower:tides.test")

    assert (answer.status, answer.headers["location"]) == (303, "/search?q=tide")
    assert (
        answer.headers["set-cookie"].startswith('lens="lower:tides.test"')
        or "lower:tides.test" in (answer.headers["set-cookie"])
    )
    assert "httponly" in answer.headers["set-cookie"].lower()
    client.get("/search?q=tide", cookie="lens=lower:tides.test")
    assert backend.requests[-1].lens == "lower:tides.test"
    client.get("/api/v1/search?q=tide", cookie="lens=lower:tides.test")
    assert backend.requests[-1].lens == ""  # programs say what they want


def test_what_the_address_says_wins_and_is_changed_there(client, backend):
    client.get("/search?q=tide&lens=pin:charts.test", cookie="lens=block:charts.test")
    assert backend.requests[-1].lens == "pin:charts.test"
    client.get("/search?q=tide&lens=none", cookie="lens=block:charts.test")
    assert backend.requests[-1].lens == ""

    answer = press(client, "/search?q=tide&lens=pin:charts.test&page=2", lens="pin:charts.test", choice="raise:a.test")
    assert answer.headers["location"] == "/search?q=tide&lens=pin%3Acharts.test%2Craise%3Aa.test"
    assert "set-cookie" not in answer.headers


def test_the_engine_applies_it(client):
    first = order(client.get("/search?q=harbour+charts&lens=pin:charts.test"))[0]
    assert first.startswith("http://charts.test/")
    assert "charts.test/" not in "".join(order(client.get("/search?q=harbour&lens=block:charts.test&size=100")))


def test_links_of_a_page_keep_the_lens_of_the_address_only(client):
    shared = client.get("/search?q=tide&lens=pin:charts.test")
    kept = client.get("/search?q=tide", cookie="lens=pin:charts.test")

    assert "page=2&amp;lens=" in shared.text or "lens=pin%3Acharts.test&amp;page=2" in shared.text
    assert "lens=pin" not in kept.text.replace('name="lens" value="lens=pin', "")
    assert "Ordered by your preferences" in shared.text
    assert "Ordered by your preferences" in kept.text


def test_an_unknown_lens_does_not_fail_the_page(client):
    assert client.get("/search?q=tide&lens=nonsense").status == 200
    assert client.get("/search?q=tide", cookie="lens=%00;x").status == 200
    assert client.get("/api/v1/search?q=tide&lens=nonsense").status == 400


def test_other_sites_cannot_press_the_button(client):
    assert press(client, "/", choice="block:tides.test", origin="https://evil.test").status == 403
    answer = press(client, "//evil.test/", choice="block:tides.test")
    assert answer.headers["location"] == "/"


def test_preferences_are_listed_shared_and_forgotten(client):
    page = client.get("/preferences", cookie="lens=pin:tides.test,block:hostile.test").text
    assert "tides.test" in page
    assert "http://127.0.0.1:8080/?lens=pin%3Atides.test%2Cblock%3Ahostile.test" in page
    kept = press(client, "/preferences", lens="pin:tides.test", choice="keep")
    assert "pin:tides.test" in kept.headers["set-cookie"]
    assert 'lens=""' in press(client, "/preferences", choice="forget-all").headers["set-cookie"]
    added = press(client, "/preferences", lens="pin:tides.test", site="New.Test", level="raise")
    assert "raise:new.test" in added.headers["set-cookie"]


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,8}\.test\Z"), st.sampled_from(LEVELS), max_size=100))
def test_a_lens_reads_as_it_was_written(lens):
    assert read_lens(written(lens)) == lens


@given(st.text(max_size=300), st.sampled_from((*LEVELS, "", "odd")), st.text(max_size=80))
def test_no_text_breaks_a_lens(text, level, site):
    made = changed(text, level, site)

    assert len(made) <= MAX_LENGTH
    assert written(read_lens(made)) == made


def test_a_lens_is_bounded():
    many = {f"{'x' * 40}{number}.test": "raise" for number in range(100)}

    assert len(written(many)) <= MAX_LENGTH


# The box for other sites


def test_the_script_may_be_loaded_by_other_origins_and_nothing_else(client):
    script = client.get("/embed.js")

    assert (script.status, script.media_type) == (200, "text/javascript")
    assert script.headers["cross-origin-resource-policy"] == "cross-origin"
    assert client.get("/embed.js", if_none_match=script.headers["etag"]).status == 304
    assert client.get("/").headers["cross-origin-resource-policy"] == "same-origin"


class Code(HTMLParser):
    def __init__(self):
        super().__init__()
        self.inside, self.text = False, []

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "code"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.text.append(data)


def test_how_to_embed_is_shown_for_a_site(client):
    reader = Code()
    reader.feed(client.get("/embed?site=harbours.test").text)
    code = "".join(reader.text)

    assert '<script src="http://127.0.0.1:8080/embed.js" data-site="harbours.test"' in code
    assert '<form action="http://127.0.0.1:8080/search"' in code
    assert '<input name="site" type="hidden" value="harbours.test">' in code
    hostile = client.get('/embed?site="><script>alert(1)</script>').text
    assert "<script>alert" not in hostile


# Pictures of sites

PNG = b"\x89PNG\r\n\x1a\n" + bytes(60)


def test_a_stored_picture_is_shown_else_a_letter(client, backend):
    backend.icons = {"tides.test": PNG}
    stored, letter = client.get("/icon/tides.test"), client.get("/icon/www.harbours.test")

    assert (stored.media_type, stored.body) == ("image/png", PNG)
    assert letter.media_type == "image/svg+xml"
    assert ">H</text>" in letter.text
    for answer in (stored, letter):
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "content",
    [b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", b"<html>", b"GIF", PNG + bytes(MAX_BYTES)],
)
def test_what_is_no_small_picture_is_not_passed_on(client, backend, content):
    backend.icons = {"tides.test": content}

    assert kind_of(content) == ""
    assert b"script" not in client.get("/icon/tides.test").body


def test_a_drawing_is_drawn_again(client, backend):
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><rect width='9' height='9'/></svg>"
    backend.icons = {"tides.test": drawing}
    answer = client.get("/icon/tides.test")
    assert answer.media_type == "image/svg+xml"
    assert '<rect width="9" height="9" />' in answer.text
    assert "onload" not in answer.text


@given(st.text(max_size=60))
def test_a_tile_is_safe_for_any_name(host):
    drawn = tile(host).decode()

    assert drawn.count("<") == 5
    assert "<script" not in drawn
