"""The reader's pages over the fake backend: what they show, what they link to, what they ignore."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import msgspec
import pytest

from periplus.errors import InvalidAddress, UsageError
from periplus.records import Total
from periplus.search.answering.requests import MAX_RESULTS
from periplus.web.api.operations import MAX_DEPTH

PAGES = (
    "/",
    "/search?q=tide",
    "/search?q=zebra",
    "/search?q=tide&page=2",
    "/site/harbours.test",
    "/inspect",
    "/inspect?url=http://tides.test/springs",
    "/preferences",
    "/preferences?lens=pin:tides.test,block:hostile.test",
    "/similar?url=http://tides.test/springs",
    "/embed?site=harbours.test",
    "/search?q=tide&lens=raise:tides.test&duplicates=1&counts=1&explain=1",
    "/?lens=pin:tides.test",
    "/explain",
    "/explain?q=tide&url=http://tides.test/springs",
    "/cached?url=http://tides.test/springs&q=tide",
    "/api",
    "/sites",
    "/sites?host=t&page=2",
    "/about-bot",
    "/about-bot?host=harbours.test",
    "/about-bot?host=unknown.test",
    "/console",
    "/console/hosts",
    "/console/errors",
    "/console/inspect?url=http://tides.test/springs",
    "/console/queries",
    "/console/queries?text=tide&profile=periplus&beside=bm25",
    "/console/index",
    "/console/ranks",
    "/console/shards",
    "/console/settings",
    "/console/events",
)

_VOID = {"meta", "link", "input", "img", "br", "hr"}


class Outline(HTMLParser):
    """Checks that tags close in order, and gathers what the tests look at."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.labels, self.fields = [], [], [], [], []
        self.feed(text)
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append((tag, values))
        self.ids += [values["id"]] if "id" in values else []
        self.labels += [values["for"]] if tag == "label" else []
        if tag in ("input", "select") and values.get("type") != "hidden":
            self.fields.append(values["id"])
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_well_formed_and_labelled(client, path):
    answer = client.get(path)

    assert answer.status == 200
    assert answer.media_type == "text/html"
    outline = Outline(answer.text)
    assert outline.count("main") == 1
    assert outline.count("h1") == 1
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.fields) <= set(outline.labels)
    assert ("html", {"lang": "en", "dir": "ltr", "data-theme": "auto"}) in outline.tags
    assert 'href="#main"' in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_inline_script_or_style_or_foreign_files(client, path):
    for tag, values in Outline(client.get(path).text).tags:
        assert tag != "style"
        assert "style" not in values
        assert not [name for name in values if name.startswith("on")]
        if tag in ("script", "link", "img"):
            assert values.get("src", values.get("href")).startswith("/")


def test_landing_tells_what_is_indexed(client):
    text = client.get("/").text

    assert "48\u202f213" in text
    assert "1\u202f207" in text
    assert "15 Nov 2026" in text
    assert 'href="/search?q=tide+tables"' in text


def test_landing_of_an_empty_collection(client, backend):
    backend.status = lambda: {"collection": "new", "crawl": {}, "index": {}, "ranks": None}

    assert "Nothing is charted yet" in client.get("/").text


def test_results_show_title_address_snippet_date_and_count(client):
    text = client.get("/search?q=tide").text

    assert '<a class="hit" href="http://tides.test/tables/">Tide tables and how to read them</a>' in text
    assert "A <mark>tide</mark> table gives" in text
    assert '<time datetime="2024-11-02">2 Nov 2024</time>' in text
    assert "33 results" in text
    assert 'lang="de"' in text
    assert "Deutsch" in text
    assert "why this result" in text


def test_type_badge_and_more_from_site(client):
    text = client.get("/search?q=portolan+aldmouth").text

    assert '<span class="badge">PDF</span>' in text
    assert 'href="/search?q=portolan+aldmouth&amp;site=harbours.test"' in text
    assert "21 more from this site" in text


def test_marks_stand_at_code_points_beyond_the_basic_plane(client):
    text = client.get("/search?q=tide").text

    assert "🐟🐠 astral fish before the <mark>tide</mark>, 𝔸 after the <mark>tide</mark>." in text


def test_pages_are_numbered_and_keep_the_filters(client):
    text = client.get("/search?q=tide&lang=en&page=2").text

    assert '<span aria-current="page">2</span>' in text
    assert 'rel="next" href="/search?q=tide&amp;page=3&amp;lang=en"' in text
    assert 'rel="prev" href="/search?q=tide&amp;lang=en"' in text


def test_a_page_that_is_not_full_may_have_a_next_one(client, backend):
    """What host diversity keeps back comes on pages of its own."""
    ordinary = backend.search
    backend.search = lambda request, **_: msgspec.structs.replace(
        ordinary(request), results=ordinary(request).results[:3]
    )
    text = client.get("/search?q=tide").text

    assert text.count('class="hit"') == 3
    assert 'rel="next" href="/search?q=tide&amp;page=2"' in text


def test_no_page_is_offered_that_cannot_be_asked_for(client, backend):
    """Of a list of very many, the numbers end where the search does."""
    ordinary = backend.search

    def found(request, **_):
        if request.page * request.size > MAX_RESULTS:
            raise UsageError("too deep")
        first = ordinary(msgspec.structs.replace(request, page=1))
        next_ = None if request.page * request.size == MAX_RESULTS else "next"
        return msgspec.structs.replace(first, page=request.page, total=Total(1_000_000, "gte"), next=next_)

    backend.search = found
    for page in (1, 96, 98, 100):
        text = client.get(f"/search?q=tide&page={page}").text
        numbers = [int(number) for number in re.findall(r"/search\?q=tide&amp;page=(\d+)", text)]
        assert numbers
        assert max(numbers) <= 100
    assert MAX_DEPTH == MAX_RESULTS


@pytest.mark.parametrize(
    ("headers", "reader"),
    [
        ({}, ""),
        ({"accept-language": "fi-FI,fi;q=0.9,en;q=0.8"}, "fi"),
        ({"accept-language": "en;q=0.3, DE-at;q=0.9"}, "de"),
        ({"accept-language": "*, de;q=nan, fr;q=0, ;;;"}, ""),
        ({"accept-language": "fi", "cookie": "language=fr"}, "fr"),
        ({"accept-language": "fi", "cookie": "language=klingon"}, "fi"),
    ],
    ids=str,
)
def test_a_browser_tells_the_reader_s_language(client, backend, headers, reader):
    assert client.get("/search?q=tide", **headers).status == 200
    assert backend.requests[-1].reader == reader


def test_programs_get_the_same_whatever_their_language(client, backend):
    for path in ("/api/v1/search?q=tide", "/search?q=tide&format=rss"):
        assert client.get(path, accept_language="fi").status == 200
        assert backend.requests[-1].reader == ""


def test_last_page_has_no_next(client):
    text = client.get("/search?q=tide&page=4").text

    assert 'rel="next"' not in text
    assert "No more results" in client.get("/search?q=tide&page=5").text


def test_pages_ignore_what_they_do_not_know(client, backend):
    answer = client.get("/search?q=tide&utm_source=x&page=banana&size=9999&sort=sideways&before=never")

    assert answer.status == 200
    asked = backend.requests[-1]
    assert (asked.page, asked.size, asked.sort, asked.before) == (1, 10, "relevance", "")


def test_filters_are_links_made_from_what_was_found(client):
    text = client.get("/search?q=tide").text

    assert 'href="/search?q=tide&amp;lang=de"' in text
    assert 'href="/search?q=tide&amp;site=tides.test"' in text
    assert 'href="/search?q=tide&amp;sort=date"' in text
    assert re.search(r'href="/search\?q=tide&amp;after=\d{4}-\d\d-\d\d"', text)


def test_a_filter_in_force_can_be_taken_off(client):
    text = client.get("/search?q=tide&lang=de").text

    assert '<summary class="active">Deutsch</summary>' in text
    assert 'href="/search?q=tide"' in text


def test_did_you_mean(client, backend):
    backend.corrections = ("harbour",)

    assert '<a href="/search?q=harbour" dir="auto"><b>harbour</b></a>' in client.get("/search?q=harbuor").text


def test_showing_results_for_the_corrected_query(client, backend):
    backend.corrected = "tide"

    text = client.get("/search?q=tdie").text
    assert "Showing results for" in text
    assert 'href="/search?q=tdie&amp;exact=1"' in text

    text = client.get("/search?q=tdie&exact=1").text
    assert "Showing results for" not in text
    assert backend.requests[-1].correct is False


def test_no_results_page_helps(client):
    text = client.get("/search?q=zebra&lang=de").text

    assert '<b dir="auto">zebra</b>' in text
    assert "Search without the filters" in text


def test_degraded_answers_say_so(client, backend):
    backend.degraded = ("shard 3",)

    assert "Not everything could be searched: shard 3." in client.get("/search?q=tide").text


def test_shards_that_are_missing_are_told_in_one_sentence(client, backend):
    backend.degraded = ("shard:3", "shard:5")
    text = client.get("/search?q=tide").text
    assert text.count("A part of the collection did not answer") == 1
    assert "shard:" not in text


def test_empty_query_goes_home(client):
    answer = client.get("/search?q=+")

    assert (answer.status, answer.headers["location"]) == (303, "/")


def test_right_to_left_results_carry_language_and_direction(client):
    text = client.get("/search?q=tide&lang=ar").text

    assert '<article lang="ar">' in text
    assert '<h2 dir="auto"><a class="hit" href="http://marsa.test/madd">المد والجزر في الميناء</a></h2>' in text


def test_inspector_gives_reason_and_advice(client):
    text = client.get("/inspect?url=http://nowhere.test/").text

    assert "the page asks not to be indexed" in text
    assert "remove noindex from the page" in text
    assert 'class="state-refused"' in text


def test_bot_page_knows_its_own_visits(client):
    assert "Shortest gap" in client.get("/about-bot?host=harbours.test").text
    assert "It has never asked unknown.test" in client.get("/about-bot?host=unknown.test").text


def test_cached_page_has_its_headings_and_its_title_once(client):
    text = client.get("/cached?url=http://tides.test/tables/").text
    assert '<h2 dir="auto">A heading</h2>' in text
    assert text.count("<h1") == 1
    body = text[text.index("<article") : text.index("</article>")]
    assert body.index("</h1>") < body.index("<p ") < body.index("<h2")


def test_cached_page_is_text_with_marks(client):
    text = client.get("/cached?url=http://tides.test/tables/&q=table").text

    assert "A tide <mark>table</mark> gives" in text
    assert '<p dir="auto">A second paragraph.</p>' in text


@pytest.mark.parametrize("path", ["/nothing", "/site/no.test", "/cached?url=http://no.test/", "/cached"])
def test_missing_things_get_a_human_page(client, path):
    answer = client.get(path)

    assert (answer.status, answer.media_type) == (404, "text/html")
    assert "There is nothing at this address." in answer.text


def test_not_ready_gets_a_human_page(client, backend):
    backend.is_ready = False

    answer = client.get("/search?q=tide")
    assert answer.status == 503
    assert "The index is not ready yet." in answer.text
    assert client.get("/").status == 200


def test_result_page_is_light(client):
    answer = client.get("/search?q=tide", accept_encoding="gzip")

    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < 12_000


def test_theme_is_switched_by_a_plain_form(client):
    answer = client.post("/theme", b"theme=dark&back=%2Fsearch%3Fq%3Dtide")

    assert (answer.status, answer.headers["location"]) == (303, "/search?q=tide")
    assert answer.headers["set-cookie"].startswith("theme=dark;")
    assert 'data-theme="dark"' in client.get("/", cookie="theme=dark").text
    assert 'data-theme="auto"' in client.get("/", cookie='theme="><script>').text


@pytest.mark.parametrize(
    "back", ["https://evil.test/", "//evil.test/", "/\\evil.test", "/%0d%0aset-cookie:x=1", "javascript:alert(1)", ""]
)
def test_the_theme_form_never_leads_away(client, back):
    answer = client.post("/theme", f"theme=light&back={back}".encode())

    assert answer.headers["location"] == "/"


def test_unknown_theme_is_auto(client):
    assert client.post("/theme", b"theme=neon").headers["set-cookie"].startswith("theme=auto;")


def test_what_costs_more_is_asked_for_by_a_link(client, backend):
    plain = client.get("/search?q=tide")
    asked = backend.requests[-1]
    assert (asked.explain, asked.counts) == (False, False)
    assert "/search?q=tide&amp;explain=1&amp;why=3#why-3" in plain.text
    assert "/search?q=tide&amp;counts=1" in plain.text

    opened = client.get("/search?q=tide&explain=1&why=2").text
    assert opened.count('<details class="why" open>') == 1
    explained = client.get("/search?q=tide&explain=1&counts=1")
    asked = backend.requests[-1]
    assert (asked.explain, asked.counts) == (True, True)
    assert 'class="score" id="why-3"' in explained.text
    assert '<span class="number">30</span>' in explained.text
    assert "explain=1&amp;page=2" not in explained.text  # asked for once


def test_tabs_are_shown_when_the_collection_has_such_pages(client, backend):
    assert 'class="tabs"' not in client.get("/search?q=tide").text
    url = "http://tides.test/springs"
    backend.kinds = {"places": {url: {"address": "1 Quay <b>", "telephone": "+44 12-34 javascript:alert(1)"}}}
    every = client.get("/search?q=tide").text
    places = client.get("/search?q=tide&tab=places").text

    assert '<a href="/search?q=tide&amp;tab=places">Places</a>' in every
    assert "News" not in every
    assert '<a href="/search?q=tide&amp;tab=places" aria-current="page">Places</a>' in places
    assert places.count('class="hit"') == 1
    assert "1 Quay &lt;b&gt;" in places
    assert 'href="tel:+4412341"' in places
    assert client.get("/search?q=tide&tab=nonsense").status == 200


def test_unfit_pages_can_be_left_out_and_shown_again_by_links(client, backend):
    plain = client.get("/search?q=tide&lang=en").text
    assert not backend.requests[-1].safe
    link = re.search(r'href="([^"]*)"><span dir="auto">Safe search: on<', plain)[1].replace("&amp;", "&")
    assert link == "/search?q=tide&lang=en&safe=1"
    chosen = client.get(link).text
    assert backend.requests[-1].safe
    assert '<summary class="active">Safe search: on</summary>' in chosen
    assert 'href="/search?q=tide&amp;lang=en"><span dir="auto">Safe search: off<' in chosen
    assert "safe=1" in re.search(r'aria-label="Page 2"|rel="alternate"[^>]*', chosen)[0]


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "Sichere Suche: aus"), ("fr", "Recherche protégée"), ("es", "Búsqueda segura"), ("ar", "البحث الآمن")],
)
def test_safe_search_is_named_in_every_language(client, language, said):
    assert said in client.get("/search?q=tide", accept_language=language).text


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (("budget",), "The time for this query ran out"),
        (("query-cut",), "only its most telling words"),
        (("ranks", "spelling"), ""),
        (("the moon",), "Not everything could be searched: the moon."),
    ],
)
def test_readers_are_told_what_concerns_them(client, backend, missing, told):
    ordinary = backend.search
    backend.search = lambda request, **_: msgspec.structs.replace(ordinary(request), degraded=missing)
    text = client.get("/search?q=tide").text
    assert told in text
    assert ("notice warning" in text) == bool(told)


def test_a_kind_without_results_leads_to_all_kinds(client, backend):
    text = client.get("/search?q=zebra&tab=places&lang=de").text
    assert "(Places)" in text
    assert 'href="/search?q=zebra&amp;lang=de">Look among pages of all kinds' in text
    assert 'href="/search?q=zebra&amp;tab=places">Search without the filters' in text


def test_an_error_page_does_not_repeat_the_name_of_the_error(client):
    text = client.get("/nothing").text
    assert "There is nothing at this address." in text
    assert "Not Found" not in text


@pytest.mark.parametrize("path", ["/inspect?url=no+address", "/explain?q=tide&url=no+address"])
def test_an_address_that_is_none_can_be_mended_in_its_form(client, backend, path):
    def refuse(*_arguments):
        raise InvalidAddress("'no address' is not an http or https URL")

    backend.inspect = backend.explain = refuse
    answer = client.get(path)

    assert answer.status == 400
    assert 'role="alert">&#39;no address&#39; is not an http or https URL.' in answer.text
    assert 'value="no address"' in answer.text


def test_who_is_shown_results_counts_for_completion(client, backend):
    client.address = "192.0.2.7"
    client.get("/search?q=tide")
    client.get("/search?q=tide&page=2")
    client.get("/search?q=zebra")
    client.get("/search?q=tide&format=json")  # a program
    client.get("/api/v1/search?q=tide")
    backend.corrected = "tide"
    client.get("/search?q=tide")  # misspelt, as far as the answer says
    assert backend.people == [("tide", "192.0.2.7")]
