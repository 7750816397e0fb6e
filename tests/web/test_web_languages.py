"""The interface in several languages: catalogues are whole, the choice is the reader's."""

from __future__ import annotations

import re

import pytest

from periplus.reasons import LACKING
from periplus.web.pages.filters import filters
from periplus.web.pages.listing import FOR_OPERATORS
from periplus.web.rendering import languages, rendering

CATALOGUES = languages.load()
FOREIGN = [code for code in CATALOGUES if code != "en"]
TEXT = re.compile(r"""_\(\s*(?:"([^"]+)"|'([^']+)')""")
PLACE = re.compile(r"%\(\w+\)s")


def texts():
    """Every text that a template gives to ``_()`` literally."""
    for path in sorted(rendering.FOLDER.iterdir()):
        for found in TEXT.finditer(path.read_text()):
            yield found[1] or found[2]


def test_what_an_answer_lacks_is_told_in_every_language():
    told = [LACKING[part] for part in LACKING if part not in FOR_OPERATORS]
    assert [(code, text) for code in FOREIGN for text in told if text not in CATALOGUES[code]] == []


def test_the_promised_languages_are_there():
    assert {"en", "de", "fr", "es", "zh", "ar"} <= set(CATALOGUES)


@pytest.mark.parametrize("code", FOREIGN)
def test_catalogues_are_whole(code):
    assert [text for text in texts() if text not in CATALOGUES[code]] == []
    assert all(CATALOGUES[code].values())


@pytest.mark.parametrize("code", FOREIGN)
def test_catalogues_hold_nothing_else_and_keep_the_places(code):
    assert set(CATALOGUES[code]) == set(CATALOGUES["de"])
    for text, translation in CATALOGUES[code].items():
        assert sorted(PLACE.findall(text)) == sorted(PLACE.findall(translation)), text


def test_choices_of_filters_are_translated(client, backend):
    client.get("/search?q=tide")
    answer = backend.search(backend.requests[-1])
    values = {
        "q": "tide",
        "after": "",
        "before": "",
        "lang": "",
        "type": "",
        "site": "",
        "sort": "relevance",
        "page": 1,
    }
    shown = {
        choice.text for item in filters(values, answer) if item.name in ("time", "sort") for choice in item.choices
    }

    assert {text for text in shown if not text.isdigit()} <= set(CATALOGUES["de"])
    assert {"Any language", "Any type", "Any site", "web page"} <= set(CATALOGUES["de"])


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "de"),
        ("nl, fr;q=0.3, es;q=0.8", "es"),
        ("tlh", "en"),
        ("", "en"),
        ("de;q=0, fr;q=0.1", "fr"),
        ("de;q=banana", "en"),
        ("zh-Hant-TW", "zh"),
        (";;;,,,q=", "en"),
    ],
)
def test_the_browser_is_heard(client, header, language):
    assert f'<html lang="{language}"' in client.get("/", accept_language=header).text


def test_the_choice_is_kept_and_wins(client):
    answer = client.post("/language", b"language=fr&back=%2Fsearch%3Fq%3Dtide")

    assert (answer.status, answer.headers["location"]) == (303, "/search?q=tide")
    cookie = answer.headers["set-cookie"].split(";")[0]
    text = client.get("/search?q=tide", cookie=cookie, accept_language="de").text
    assert '<html lang="fr"' in text
    assert "33 résultats" in text


def test_unknown_languages_are_not_kept(client):
    answer = client.post("/language", b"language=%3Cscript%3E&back=//evil.test")

    assert answer.headers["location"] == "/"
    assert "set-cookie" not in answer.headers
    assert '<html lang="en"' in client.get("/", cookie="language=../../etc").text


def test_arabic_runs_from_the_right(client):
    text = client.get("/search?q=tide", accept_language="ar").text

    assert '<html lang="ar" dir="rtl"' in text
    assert 'placeholder="ابحث في المجموعة"' in text


def test_values_in_translations_are_escaped(client):
    text = client.get("/about-bot?host=<b>x", accept_language="de").text

    assert "Er hat &lt;b&gt;x noch nie um etwas gebeten." in text
    assert "Er nennt sich <code>Periplus</code> im" in text


def test_language_of_a_result_is_named_where_it_differs(client):
    assert '<span class="language" lang="en">English</span>' in client.get("/search?q=tide", accept_language="de").text
    assert '<span class="language" lang="en">' not in client.get("/search?q=tide").text
