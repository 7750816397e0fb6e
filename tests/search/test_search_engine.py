"""The engine over a small collection: what is found, in which order, and how it is shown."""

from __future__ import annotations

import time
from contextlib import closing
from urllib.parse import urlsplit

import msgspec
import pytest
from msgspec import structs
from search_samples import DOCUMENTS, PATIENT, all_pages, build, day, page

from periplus import addresses
from periplus.errors import NotReady, UsageError
from periplus.ranking import PROFILES
from periplus.records import Heading, SearchAnswer, SearchRequest
from periplus.search import Engine
from periplus.search.answering import requests
from periplus.settings import SearchSettings, Settings
from support.explanations import check


def urls(answer):
    return [result.url for result in answer]


def ask(engine, query, **options):
    return engine.search(SearchRequest(query, **options))


def test_the_best_match_comes_first(engine):
    answer = ask(engine, "tide tables")
    assert urls(answer)[0] == "https://harbour.example/tides"
    assert answer.results[0].rank == 1
    assert answer.total.value == 11
    assert answer.total.relation == "eq"
    assert [result.rank for result in answer] == list(range(1, len(answer) + 1))


def test_the_answer_has_the_shape_of_the_surface(engine):
    plain = msgspec.to_builtins(ask(engine, "tide tables"))
    assert set(plain) == {
        *("query", "results", "total", "page", "size", "next", "corrections", "suggestions", "took_ms", "degraded"),
        *("generation", "counts", "lens", "coverage", "answers", "panels"),
    }
    assert plain["query"] == {"text": "tide tables", "parsed": "tide tables", "corrected": None}
    first = plain["results"][0]
    assert set(first) == {
        *("rank", "id", "url", "display_url", "site", "title", "snippet", "highlights", "language", "published"),
        *("fetched", "type", "score", "more_from_site", "explain", "duplicates", "pinned"),
    }
    assert first["published"] == "2025-03-01T00:00:00Z"
    assert first["fetched"] == "2026-01-10T00:00:00Z"
    assert first["display_url"] == "harbour.example › tides"
    decoded = msgspec.json.decode(msgspec.json.encode(plain), type=SearchAnswer)
    assert decoded.results == ask(engine, "tide tables").results


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"tide tables"', {"https://harbour.example/tides", "https://harbour.example/"}),
        ("+portolan +compass", {"https://www.charts.example/portolan"}),
        ("lighthouse -keeper", set()),
        ("buoy -lighthouse", {"https://harbour.example/pilots"}),
        ("starfish OR parchment", {"id:doc-2", "https://www.charts.example/portolan"}),
        ("intitle:portolan", {"https://www.charts.example/portolan"}),
        ("inurl:guide.pdf", {"https://manual.example/guide.pdf"}),
        ("portol*", {"https://www.charts.example/portolan", "https://www.charts.example/"}),
        ("c++", {"https://manual.example/guide.pdf"}),
        ("lang:de", {"https://kueste.example/gezeiten"}),
        ("kuste", {"https://kueste.example/gezeiten"}),
        ("tide filetype:pdf", {"https://manual.example/guide.pdf"}),
        ("tide after:2025-01-01 before:2025-12-31", {"https://harbour.example/tides"}),
        ("calendar", {"https://harbour.example/tides"}),  # only other pages' links say so
        ("chart site:charts.example", {"https://www.charts.example/portolan", "https://www.charts.example/"}),
        ("portolan -site:charts.example", set()),
        ("gezeiten -lang:en", {"https://kueste.example/gezeiten"}),
        ("-tide", set()),
        ("", set()),
        ("\x00\x01\ud800", set()),
        ('"" ()', set()),
        ("!!!", set()),
    ],
)
def test_what_is_found(engine, query, found):
    answer = ask(engine, query, correct=False)
    assert set(urls(answer)) == found
    assert answer.total.value == len(found)


def test_parameters_filter_like_operators(engine):
    assert urls(ask(engine, "gezeiten hafen", language="de")) == ["https://kueste.example/gezeiten"]
    assert urls(ask(engine, "tide", type="pdf")) == ["https://manual.example/guide.pdf"]
    assert urls(ask(engine, "tide", site="www.charts.example")) == ["https://www.charts.example/portolan"]
    assert urls(ask(engine, "tide", after="2025", before="2026")) == ["https://harbour.example/tides"]


def test_contradicting_filters_find_nothing(engine):
    answer = ask(engine, "tide site:harbour.example", site="charts.example")
    assert answer.total.value == 0
    assert not answer.results


def test_an_empty_query_with_a_site_lists_it(engine):
    answer = ask(engine, "", site="harbour.example")
    assert answer.total.value == 5
    assert urls(answer)[0] == "https://harbour.example/"  # the highest link prior


def test_sort_by_date(engine):
    for query in ("tide", "lang:en"):
        answer = ask(engine, query, sort="date", size=20)
        moments = [result.published or result.fetched for result in answer]
        assert len(moments) > 5
        assert moments == sorted(moments, reverse=True)


def test_more_of_a_host_is_told_at_its_last_result_on_a_page(engine):
    """What follows on other pages, and only of a host that had its results in full."""
    for size in (3, 4, 5, 20):
        pages = all_pages(engine, "tide", size=size)
        hosts = [[urlsplit(result.url).hostname for result in one] for one in pages]
        for number, one in enumerate(pages):
            before = [host for page in hosts[: number + 1] for host in page]
            behind = [host for page in hosts[number + 1 :] for host in page]
            for place, result in enumerate(one):
                host = hosts[number][place]
                tells = host and host not in hosts[number][place + 1 :] and before.count(host) >= 3
                assert result.more_from_site == (behind.count(host) if tells else 0)


def test_documents_without_a_host_are_exempt(engine):
    answer = ask(engine, "tide pools", size=20)
    assert sum(result.url.startswith("id:") for result in answer) == 4
    assert answer.results[0].id.startswith("doc-")


def test_asking_for_a_site_shows_all_of_it(engine):
    assert len(ask(engine, "tide site:harbour.example")) == 5


def test_diversity_can_be_turned_off(engine):
    answer = engine.search(SearchRequest("tide", size=20), per_host=0)
    assert sum("harbour.example" in result.url for result in answer) == 5
    assert len(answer) == answer.total.value


def test_pages_are_pieces_of_one_list(engine):
    whole = urls(engine.search(SearchRequest("tide", size=20), per_host=0))
    pages = all_pages(engine, "tide", per_host=0, size=2)
    assert [url for page in pages for url in urls(page)] == whole
    assert pages[1].results[0].rank == 3


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("request_", [{}, {"explain": True}, {"sort": "date"}], ids=str)
def test_hosts_kept_apart_are_one_list_of_everything(engine, size, request_):
    pages = all_pages(engine, "tide", size=size, **request_)
    whole = ask(engine, "tide", size=20, **request_)
    everything = engine.search(SearchRequest("tide", size=20, **request_), per_host=0)
    assert [result.url for one in pages for result in one] == urls(whole)
    assert [result.rank for one in pages for result in one] == list(range(1, everything.total.value + 1))
    assert sorted(urls(whole)) == sorted(urls(everything))
    assert all(one.results for one in pages)
    assert pages[-1].total == pages[0].total


def harbours(count, *others):
    """So many pages of one site, all alike in what they say of tides, and some of other sites."""
    own = [page(f"https://harbour.example/{i}", f"Tide {i}", f"tide {i} {'water ' * i}") for i in range(count)]
    filler = [page(f"https://site{i}.example/", f"Charts {i}", f"charts of coast {i}") for i in range(8)]
    return [*own, *others, *filler]


def test_hosts_give_way_to_comparable_results_only(tmp_path):
    """The best pages of the one right site come before a page of another that mentions the word."""
    near = page("https://ebb.example/", "Tide", "tide and ebb")
    far = page("https://far.example/", "Lanterns", f"lanterns {'oil wick flame ' * 40} tide")
    build(tmp_path, harbours(9, near, far))
    with closing(Engine(tmp_path, PATIENT)) as engine:
        found = ask(engine, "tide", size=20)
        scores = {result.url: result.score for result in found}
        assert scores[far.url] < 0.5 * min(scores[result.url] for result in found if "harbour" in result.url)
        places = urls(found)
        assert places.index(near.url) < 5  # comparable: nine alike do not stand before it
        assert places[-1] == far.url
        assert sum("harbour" in url for url in places) == 9
        for at, result in enumerate(found):
            assert all(earlier.score >= 0.5 * result.score for earlier in found.results[:at])


def test_the_multiplicative_profile_shows_three_of_a_host_and_the_others_all(tmp_path):
    """As their sources say: one of them has a limit for each host name, the others have none."""
    build(tmp_path, harbours(9, page("https://ebb.example/", "Tide", "tide and ebb")))
    with closing(Engine(tmp_path, PATIENT)) as engine:
        for name in PROFILES:
            found = ask(engine, "tide", profile=name, size=20)
            own = [result for result in found if "harbour" in result.url]
            assert len(own) == (3 if name == "multiplicative" else 9), name
            assert own[-1].more_from_site == (6 if name == "multiplicative" else 0), name
            free = engine.search(SearchRequest("tide", profile=name, size=20), per_host=0)
            assert sum("harbour" in result.url for result in free) == 9, name
            if name not in ("periplus", "bm25", "bm25f", "multiplicative"):
                assert urls(found) == urls(free), name


def test_one_site_alone_is_shown_whole(tmp_path):
    """There are no hosts to keep apart, whatever the site's own are called."""
    hosts = ("www.harbour.example", "docs.harbour.example")
    texts = [f"tide {'sea ' * i} {'lantern keel anchor' if i < 10 else 'office'}" for i in range(14)]
    build(tmp_path, [page(f"https://{hosts[i % 2]}/{i}", f"Tide {i}", text) for i, text in enumerate(texts)])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        answer = ask(engine, "tide")
        assert (len(answer.results), answer.total.value) == (10, 14)
        assert not any(result.more_from_site for result in answer)
        assert len(ask(engine, "tide", page=2).results) == 4
        assert len(engine.similar("https://www.harbour.example/0", 10)) == 9


@pytest.mark.parametrize("explain", [False, True])
def test_pages_in_the_reader_s_language_come_first(tmp_path, explain):
    """Of a query that does not tell its own; a name is the same in all of them."""
    pages = [page(f"https://{code}.example/", "Samba", "samba 4.1", language=code) for code in ("cs", "de", "en", "fr")]
    pages.append(page("https://unknown.example/", "Samba", "samba 4.1", language=""))
    build(tmp_path, [*pages, page("https://www.example/", "Harbour", "harbour")])
    with closing(Engine(tmp_path, PATIENT)) as engine:

        def first(reader, query="samba"):
            return ask(engine, query, reader=reader, explain=explain).results[0].language

        assert [first(reader) for reader in ("fr", "en", "de-AT", "cs")] == ["fr", "en", "de", "cs"]
        assert first("no language!") == first("") == first("xx")
        assert urls(ask(engine, "samba", reader="ja")) == urls(ask(engine, "samba"))  # no page is in it
        assert first("fr", "wie ist das mit samba und der") == "de"
        assert len(ask(engine, "samba", reader="fr").results) == 5
        whole = ask(engine, "samba", reader="fr", explain=True).results[0]
        assert engine.explain("samba", whole.url, reader="fr").value == pytest.approx(whole.score)
        assert ask(engine, "samba", reader="fr", size=1).next == "/api/v1/search?q=samba&page=2&size=1"


HANDBOOK = "Packages are upgraded with one command. The tool asks before it removes anything."


@pytest.mark.parametrize("explain", [False, True])
def test_of_translations_the_one_meant_for_the_reader_is_shown(tmp_path, explain):
    """Pages that nobody translated have English texts at addresses of other languages."""
    codes = ("ar-MA", "cs-CZ", "de-DE", "en-US", "fr-FR")
    copies = [page(f"https://book.example/{code}/apt.html", "Packages", HANDBOOK, fingerprint=9) for code in codes]
    german = page("https://book.example/de-DE/apt.html", "Packages", "Packages heißen hier Pakete.", language="de")
    pages = [german if one.url == german.url else one for one in copies]
    other = page("https://other.example/", "Packages", "Packages are boxes.")
    build(tmp_path, [*pages, other, page("https://autre.example/", "Marées", "les marées", language="fr")])
    with closing(Engine(tmp_path, PATIENT)) as engine:

        def first(query, **options):
            found = [result.url for result in ask(engine, query, explain=explain, **options) if "book" in result.url]
            return found[0].split("/")[3]

        assert first("packages upgraded") == "en-US"
        assert first("packages upgraded", reader="en") == "en-US"
        assert first("packages upgraded lang:en") == "en-US"
        assert first("packages upgraded lang:en", duplicates=True) == "en-US"
        assert first("packages", reader="de") == "de-DE"
        assert first("packages upgraded one command", reader="fr") == "fr-FR"  # untranslated, but meant for them
        counts = ask(engine, "packages", counts=True).counts
        assert {one.value: one.count for one in counts.language} == {"en": 5, "de": 1}
        assert ask(engine, "packages lang:en").total.value == 5


def test_next_is_a_relative_link(engine):
    assert ask(engine, "tide", size=2).next == "/api/v1/search?q=tide&page=2&size=2"
    assert ask(engine, "moon", size=20).next is None


def test_a_page_beyond_the_end_is_empty(engine):
    answer = ask(engine, "tide", page=10, size=10)
    assert not answer.results
    assert answer.next is None
    assert answer.total.value > 0


def test_a_site_name_finds_its_front_page_first(engine):
    for query in ("harbour.example", "https://harbour.example/", "http://www.harbour.example", "Harbour"):
        assert ask(engine, query).results[0].url == "https://harbour.example/", query
    for query in ("charts", "www.charts.example", "charts.example"):
        assert ask(engine, query).results[0].url == "https://www.charts.example/", query


def test_a_front_page_may_be_a_file(tmp_path):
    """In a folder of pages it is, and then no page has the address of the host alone."""
    other = [page(f"http://charts.test/charts/{i}.html", "Charts test", "charts.test " * 9) for i in range(9)]
    front = page("http://charts.test/index.html", "Welcome", "Maps of the coast.")
    build(tmp_path, [*other, front, page("http://tides.test/", "Tides", "of charts")])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        for query in ("charts.test", "http://charts.test/", "charts"):
            assert urls(ask(engine, query))[0] == "http://charts.test/index.html", query


def test_a_whole_address_finds_its_page_first(engine):
    assert ask(engine, "https://harbour.example/old/tide-log").results[0].url == "https://harbour.example/old/tide-log"


def test_highlights_mark_stems(engine):
    first = ask(engine, "tables of tides").results[0]
    assert [first.snippet[start:end].lower() for start, end in first.highlights][:2] == ["tide", "tables"]


def test_only_stop_words(engine):
    assert ask(engine, "the").total.value > 0


def test_a_word_that_is_nowhere_is_corrected_at_once(engine):
    answer = ask(engine, "portlan parchmnt")
    assert answer.query.corrected == "portolan parchment"
    assert answer.query.text == "portlan parchmnt"
    assert answer.corrections == ("portolan parchment",)
    assert urls(answer)[0] == "https://www.charts.example/portolan"
    beside = ask(engine, "tide portlan")
    assert beside.query.corrected == "tide portolan"
    assert urls(beside) == urls(ask(engine, "tide portolan"))


def test_correction_can_be_refused(engine):
    answer = ask(engine, "portlan", correct=False)
    assert answer.query.corrected is None
    assert not answer.results
    assert answer.corrections == ("portolan",)
    beside = ask(engine, "tide portlan", correct=False)
    assert beside.query.corrected is None
    assert beside.corrections == ("tide portolan",)
    assert urls(beside) == urls(ask(engine, "tide", correct=False))


@pytest.mark.parametrize("query", ['tide OR "portlan"', "tide OR +portlan", "tide -portlan"])
def test_a_word_that_is_quoted_or_signed_is_not_corrected_at_once(engine, query):
    assert ask(engine, query).query.corrected is None


def test_split_and_joined_words(engine):
    assert ask(engine, "lighthousekeeper").query.corrected == "lighthouse keeper"
    assert ask(engine, "porto lan").corrections == ("portolan",)


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_answers_and_explains(engine, name):
    answer = ask(engine, "tide tables", profile=name, explain=True, size=20)
    assert answer.results
    for result in answer:
        assert result.explain is not None
        assert check(result.explain) == ""
        assert result.explain.value == pytest.approx(result.score)
    apart = engine.search(SearchRequest("tide tables", profile=name, size=20), per_host=0)
    scores = [result.score for result in apart]
    assert scores == sorted(scores, reverse=True)


def test_missing_ranks_degrade_the_reference_profiles(engine):
    assert "ranks" in ask(engine, "tide", profile="grs2").degraded
    assert ask(engine, "tide").degraded == ()


def test_a_long_query_says_that_it_was_cut(engine):
    answer = ask(engine, " ".join(f"tide w{i}" for i in range(100)))
    assert "query-cut" in answer.degraded
    assert answer.results


def test_no_budget_gives_the_first_pass(collection):
    settings = Settings(search=SearchSettings(budget_ms=1))
    engine = Engine(collection, settings)
    answer = ask(engine, "tide")
    assert answer.results  # at least what was looked at before the time was over


class SlowClock:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self._now = 0.0

    def perf_counter(self) -> float:
        self._now += 1.0
        return self._now

    time = staticmethod(time.time)


def test_the_first_answer_has_time_to_load_what_it_needs(collection, monkeypatch):
    """Or a search in a new process would have no corrections; from then on the budget counts, and says so."""
    opened = Engine(collection, Settings())
    clock = SlowClock()
    for module in ("answering.engine", "answering.searching", "answering.answers", "ordering.listing"):
        monkeypatch.setattr(f"periplus.search.{module}.time", clock)
    try:
        first, second = [ask(opened, query) for query in ("harbuor", "lighthuose")]
        assert first.query.corrected == "harbour"
        assert first.degraded == ()
        assert second.corrections == ()
        assert second.degraded == ("budget",)
    finally:
        opened.close()


def test_bad_parameters(engine):
    with pytest.raises(UsageError, match="unknown profile"):
        ask(engine, "tide", profile="nonsense")
    with pytest.raises(UsageError, match="page=0"):
        ask(engine, "tide", page=0)


def test_answers_are_cached_by_what_was_asked(engine):
    ask(engine, "tidez")  # the words for corrections are gathered: answers from before that are not kept
    first, second, third = [ask(engine, text) for text in ("tides ebb moon", "  tides   ebb moon ", " tides ebb moon")]
    assert first.results is not second.results  # kept from the second time on
    assert second.results is third.results
    assert first.results == third.results
    assert ask(engine, "tides ebb moon", size=3).results is not third.results


def test_without_an_index_it_is_not_ready(tmp_path):
    engine = Engine(tmp_path, PATIENT)
    assert not engine.ready
    assert engine.generation == 0
    assert not engine.reload()
    with pytest.raises(NotReady, match="run periplus index"):
        ask(engine, "tide")


def test_an_empty_index_answers(tmp_path):
    build(tmp_path, [])
    engine = Engine(tmp_path, PATIENT)
    assert engine.ready
    for query in ("tide", "lang:en", "", "tide OR moon", "a.example", "ti*", '"a b"'):
        assert ask(engine, query).total.value == 0
    assert engine.suggest("ti") == []
    assert engine.explain("tide", "https://a.example/").value == 0


def test_stored(engine):
    assert engine.stored("https://harbour.example/pilots").title == "Pilots"
    assert engine.stored("HTTPS://Harbour.example:443/pilots").title == "Pilots"
    assert engine.stored("https://harbour.example/none") is None
    assert engine.stored("doc-1").id == "doc-1"


def test_ranking_for_evaluation_has_no_diversity(engine):
    ranked = engine.ranking("tide", 100, "bm25")
    assert len(ranked) == 11
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)
    assert "doc-1" in dict(ranked)


def test_analysis_steps(engine):
    steps = engine.analyze("Spring tides")
    assert steps[-1]["terms"][1]["exact"] == "tides"


def test_freshness_counts_for_queries_that_ask_for_it(tmp_path):
    text = "Harbour bulletin with all the notices."
    build(
        tmp_path,
        [
            page("https://a.example/1", "Bulletin", text, published=day("2019-01-01")),
            page("https://b.example/2", "Bulletin", text, published=day("2026-11-01")),
        ],
    )
    engine = Engine(tmp_path, PATIENT)
    assert urls(ask(engine, "latest harbour bulletin"))[0] == "https://b.example/2"


def test_the_word_between_what_is_compared_hardly_counts(tmp_path):
    others = [page(f"https://h{i}.example/", f"Page {i}", "rope and sail and anchor") for i in range(20)]
    both = page("https://a.example/", "Ropes", "A rope of hemp. A chain of iron. Rope or chain holds an anchor.")
    versus = page("https://b.example/", "Notes", "Harbour vs harbour, then a rope.")
    build(tmp_path, [*others, both, versus])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        assert urls(ask(engine, "rope vs chain"))[0] == "https://a.example/"
        assert urls(ask(engine, "vs")) == ["https://b.example/"]


def test_signs_weigh_what_they_tell(tmp_path):
    """A word is everywhere, and with its sign on one page, where it stands once among many others."""
    plain = [page(f"https://h{i}.example/", "Values", "T value T value T") for i in range(20)]
    build(tmp_path, [*plain, page("https://a.example/", "Notes", f"{'rope ' * 40} of T& value")])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        assert urls(ask(engine, "T& value"))[0] == "https://a.example/"


def test_a_page_is_found_by_its_own_title_to_the_letter(tmp_path):
    other = page("https://a.example/max", "std::list::max_size", "std list size max_size size size")
    own = page("https://b.example/size", "std::list::size", "std list size")
    build(tmp_path, [other, own])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        assert urls(ask(engine, "std::list::size"))[0] == "https://b.example/size"
        told = engine.explain("std::list::size", "https://b.example/size")
        assert next(part for part in told.parts[2].parts if part.name == "title_same").value > 0


@pytest.mark.parametrize("query", ["Class Vector", "Class Vector lang:en", "class vector -site:c.example"])
def test_a_page_is_found_by_the_heading_that_it_begins_with_whatever_is_filtered(tmp_path, query):
    other = page("https://a.example/use", "Uses of Class util.Vector (SE 17)", "class vector and vector again")
    own = structs.replace(
        page("https://b.example/Vector", "Vector (SE 17)", "class vector"),
        headings=(Heading(1, "Class Vector"),),
    )
    build(tmp_path, [other, own, *[page(f"https://d.example/{i}", f"Class {i}", "class") for i in range(20)]])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        assert urls(ask(engine, query))[0] == "https://b.example/Vector"
        told = engine.explain(query, "https://b.example/Vector")
        assert next(part for part in told.parts[2].parts if part.name == "title_same").value > 0


def test_more_candidates_than_are_reranked_keep_their_order(tmp_path):
    documents = [page(f"https://h{i}.example/", f"Page {i}", "walrus " * (1 + i % 7) + "and seal") for i in range(260)]
    build(tmp_path, documents)
    engine = Engine(tmp_path, PATIENT)
    seen: list[str] = []
    for number in (1, 2, 3):
        seen += urls(ask(engine, "walrus", page=number, size=100))
    assert len(seen) == len(set(seen)) == 260
    explained = ask(engine, "walrus", page=3, size=100, explain=True).results[-1].explain
    assert explained.name == "first pass"


def test_every_document_of_the_collection_can_be_found_by_its_title(engine):
    for document in DOCUMENTS:
        if document.title:
            assert ask(engine, document.title).results[0].url == document.url


def test_similar_pages(engine):
    found = [result.url for result in engine.similar("https://www.charts.example/portolan", 5)]
    assert "https://www.charts.example/portolan" not in found
    assert found[0] == "https://www.charts.example/"
    assert engine.similar("doc-1", 3)[0].url.startswith("id:")
    assert engine.similar("https://nowhere.example/") == []


@pytest.mark.parametrize("name", ["periplus", "grs2"])
def test_exhaustive_rankings_score_every_page_with_a_word_of_the_query(tmp_path, name, monkeypatch):
    """Whatever a first pass would have left out; what is evaluated is then the formula alone."""
    few = structs.replace(PROFILES[name], candidates=5)
    monkeypatch.setitem(PROFILES, name, few)
    monkeypatch.setattr(requests, "_usual", requests._usual.__wrapped__)  # keeps profiles by their names
    apart = [f"tide tide {'sea ' * (20 + i)} tables tables" for i in range(12)]
    texts = [*apart, f"tide tables {'office lantern keel ' * 60}", "tables of the sea", "harbour"]
    build(tmp_path, [page(f"https://a.example/{i}", "Sea", text) for i, text in enumerate(texts)])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        cut = engine.ranking("tide tables", 100, name)
        every = engine.ranking("tide tables", 100, name, exhaustive=True)
        assert sorted(found for found, _ in cut) == sorted(found for found, _ in every)
        assert len(every) == 14
        scores = [score for _, score in every]
        assert scores == sorted(scores, reverse=True)
        whole = engine.explain("tide tables", "https://a.example/12", profile=name).value
        assert dict(every)[identifier(12)] == pytest.approx(whole)
        assert dict(cut)[identifier(12)] != pytest.approx(whole)  # it was not among the five


def identifier(number):
    return f"{addresses.key(f'https://a.example/{number}') & 0xFFFF_FFFF_FFFF_FFFF:016x}"
