"""The usual search by two kernel calls answers as the same search step by step."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, page, prior_of

from periplus.index.analysis import forms
from periplus.records import SearchRequest
from periplus.search import Engine, execution, generations, requests, searching, stemmers, typed, usual, vocabulary
from periplus.search.kernels import usual as usual_kernel
from periplus.search.kernels import wording
from periplus.search.plan import FOREIGN_SHARE
from periplus.search.reading import understand
from periplus.settings import Settings

SEED = 31
WORDS = ["tide", "Tides", "tiding", "moon", "MOON", "harbours", "lantern", "lanterns", "light", "keeper", "storm"]
STOPS = ["the", "of", "and", "in", "die", "der", "und", "le", "la", "de", "is", "how", "to"]
OTHERS = ["latest", "news", "2026", "1999", "zzyzx", "lantren", "a", "x1", "42", "3d", "iPhone", "B2B", "OR", "or"]
SIGNED = [
    "u.s.",
    "U.S",
    "t.moon",
    "St.Tides",
    "lantern's",
    "LANTERN'S",
    "moon’s",
    "it's",
    "tide&moon",
    "at&t",
    "1900's",
    "9a.88.030",
    "tide.light.tide.moon",
    "aujourd'hui",
    "20.6",
    "lantren's",
    "zzyzx.com",
    "iPhone's",
    "a.b.c.d",
]
ALONE = ["&", "-", "--", "/", ".", "...", "'", ":", ",", "+", "|", "’", "?"]
SIGNS = [
    "",
    "",
    "",
    "",
    ".",
    ".",
    "..",
    "'s",
    "-",
    "&",
    "+",
    '"',
    "é",
    "  ",
    "\t",
    "*",
    "'",
    "’",
    "?",
    ",",
    ":",
    ":.",
    ";",
    "/",
]
BEFORE = ["", "", "", "", "", "", "'", ".", "-", "$", "&", "@", "#", "/", "’"]


def made_up(count: int, generator: random.Random, language: str) -> list:
    """Pages of few hosts, some of them nearly the same text."""
    pages = []
    for number in range(count):
        words = generator.choices(WORDS + STOPS, k=generator.choice((5, 40, 300)))
        text = " ".join(words) + "."
        url = f"https://{generator.choice('abc')}.example/{language}/{number}"
        title = " ".join(generator.choices(WORDS, k=generator.randrange(4)))
        prints = random.Random(number // 3).getrandbits(62) | 1
        pages.append(page(url, title, text, language=language, fingerprint=prints))
    return pages


def built(folder, languages: tuple[str, ...]):
    generator = random.Random(SEED)
    build(folder, DOCUMENTS, 1, anchors=anchors_of, prior=prior_of)
    for batch, language in enumerate(languages, start=2):
        build(folder, made_up(120, generator, language), batch, anchors=anchors_of, prior=prior_of)
    return folder


@pytest.fixture(
    scope="module",
    params=[("en", "en"), ("en", "de", "fr"), ("vi", "vi", "en")],
    ids=["one language", "three languages", "one without a stemmer"],
)
def opened(request, tmp_path_factory):
    engine = Engine(built(tmp_path_factory.mktemp("usual"), request.param), PATIENT)
    yield engine
    engine.close()


def both(engine: Engine, request: SearchRequest, per_host: int | None = None):
    """The answer of kernels and that of steps, without the time they took; and whether kernels read the query."""
    kernels_read = []
    read = usual.Usual.found

    def found(self, *arguments):
        kernels_read.append(read(self, *arguments))
        return kernels_read[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usual.Usual, "found", found)
        one = engine.search(request, per_host=per_host)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("periplus.search.searching.Search._usual", lambda _: None)
        other = engine.search(request, per_host=per_host)
    same = structs.replace(one, took_ms=0) == structs.replace(other, took_ms=0)
    return same, one, other, any(found is not None for found in kernels_read)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """Both ways are asked the same, so no answer may come from the cache."""
    monkeypatch.setattr("periplus.search.cache.Repeated.again", lambda *_: False)
    monkeypatch.setattr("time.time", lambda: 1_795_000_000.5)


typed_words = st.one_of(
    st.builds(str.__add__, st.sampled_from(WORDS + STOPS + OTHERS), st.sampled_from(SIGNS)),
    st.builds("{}{}{}".format, st.sampled_from(BEFORE), st.sampled_from(WORDS + SIGNED), st.sampled_from(SIGNS)),
    st.sampled_from(SIGNED + ALONE),
)


@given(
    st.lists(typed_words, max_size=8).map(" ".join),
    st.sampled_from([(1, 10), (2, 3), (1, 1), (3, 40), (1, 100)]),
    st.booleans(),
    st.sampled_from([None, 0, 1, 3]),
    st.sampled_from(["", "en", "de", "xx"]),
)
def test_kernels_answer_as_steps_do(opened, query, paging, duplicates, per_host, reader):
    request = SearchRequest(query, *paging, duplicates=duplicates, reader=reader)
    same, one, other, _ = both(opened, request, per_host)
    assert same, (one, other)


def found_by_kernels(engine: Engine, query: str):
    """What kernels found, as if that were little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usual, "LITTLE", 1 << 40)
        with engine._generations.use() as generation:
            profile = requests.check(SearchRequest(""), Settings()).profile
            return generation.usual_of(profile).found(generation, query, "", 0, 10, 0, fold=True)


@given(st.lists(typed_words, max_size=8).map(" ".join))
def test_words_looked_for_are_those_of_the_plan(opened, query):
    found = found_by_kernels(opened, query)
    if found is not None:
        with opened._generations.use() as generation:
            planned = understand(generation, query).plan.words
        assert found.words == tuple(word.text for word in planned)


def test_stop_words_are_not_looked_for(opened):
    assert found_by_kernels(opened, "the Tide of the moon.").words == ("tide", "moon")
    assert found_by_kernels(opened, "to be in the").words == ("to", "be", "in", "the")


def test_a_query_that_finds_little_is_understood_once(opened, monkeypatch):
    monkeypatch.setattr(searching, "understand", None)
    assert opened.search(SearchRequest("tidex", correct=False)).suggestions


@pytest.mark.parametrize(
    "query",
    [
        "tide",
        "tides moon",
        "the tide of the moon",
        "Lantern KEEPER",
        "news 2026",
        "to be in the",
        "lantren storm",
        "St. tides moon.",
        "u.s. harbours",
        "U.S. HARBOURS",
        "lantern's keeper",
        "moon’s Light",
        "t.moon storm",
        "tide&moon light",
        "tide & moon",
        "'tide' moon? storm, light; keeper: harbours/",
        "tide moon Tide",
        "moon's moon's moon",
        "the tide of the tide",
    ],
)
def test_plain_words_are_read_by_the_kernel(opened, query):
    same, one, _, by_kernel = both(opened, SearchRequest(query))
    assert same
    assert by_kernel
    assert one.query.parsed == query


def test_a_dash_between_words_is_not_read(opened):
    same, one, _, by_kernel = both(opened, SearchRequest("tide - moon"))
    assert same
    assert by_kernel
    assert (one.query.text, one.query.parsed) == ("tide - moon", "tide moon")


@pytest.mark.parametrize(
    "query",
    [
        "tide OR moon",
        "iPhone tide",
        "tide-moon",
        "zürich tide",
        "+tide",
        "",
        "  ",
        "&",
        "tide.moon",
        "u.s.",
        "tide -moon",
        "tide -- moon",
        "tide .moon",
        "tide 1,000",
        "tide c#",
        "tide c++",
        "tide inurl:moon",
        "tide inurl:.",
        "tide moon/light",
        "tide mo*",
        "tide_tables moon",
        "tide a@b.example",
        "tide lightHouse's",
        "tide ’moon",
    ],
)
def test_other_queries_are_left_to_the_steps(opened, query):
    same, _, _, by_kernel = both(opened, SearchRequest(query))
    assert same
    assert not by_kernel


def test_words_with_signs_are_laid_out_for_the_kernel(opened, monkeypatch):
    laid_out = []
    found_of = usual.Usual.found_of
    monkeypatch.setattr(
        usual.Usual, "found_of", lambda self, *given: laid_out.append(found_of(self, *given)) or laid_out[-1]
    )
    same, one, _, _ = both(opened, SearchRequest("tides. harbourLight's"))
    assert same
    assert one.results
    assert laid_out[0] is not None


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("storm & lantren moon", "storm & lantern moon"),
        ("& / lantren storm storm", "& / lantern storm storm"),
        ("storm - lantren", "storm lantern"),
    ],
)
def test_words_among_signs_are_corrected(opened, query, meant):
    """Where they stand among all that was typed, signs counted."""
    same, one, _, by_kernel = both(opened, SearchRequest(query))
    assert same
    assert by_kernel
    assert one.total.value > searching.FEW_FOUND
    assert one.corrections == (meant,)


def test_a_query_that_finds_nothing_is_corrected_by_the_kernel_too(opened):
    same, one, _, by_kernel = both(opened, SearchRequest("lantrens"))
    assert same
    assert by_kernel
    assert one.query.corrected == "lanterns"


def test_bounds_of_a_usual_query(opened):
    """Longer ones are searched step by step, with the same answer."""
    long_word, many = "t" * (wording.LONGEST + 1), " ".join(f"w{i}" for i in range(wording.MOST_WORDS + 1))
    for query in (long_word, f"tide {long_word}", f"tide {many}", "tide " * 200, "tide " + "w" * wording.MOST_TYPED):
        same, _, _, by_kernel = both(opened, SearchRequest(query))
        assert same
        assert not by_kernel
    exactly = " ".join(["tide", *[f"w{i}" for i in range(wording.MOST_WORDS - 1)]])
    same, _, _, by_kernel = both(opened, SearchRequest(exactly))
    assert same
    assert by_kernel


def test_without_stemmers_by_address_all_queries_go_step_by_step(tmp_path, monkeypatch):
    monkeypatch.setattr(stemmers, "_keys", lambda: None)
    monkeypatch.setattr(stemmers, "_own", stemmers._Own())
    monkeypatch.setattr(usual, "_own", usual._Own())
    opened = Engine(built(tmp_path, ("en",)), PATIENT)
    try:
        _, one, _, by_kernel = both(opened, SearchRequest("tide"))
        assert one.results
        assert not by_kernel
    finally:
        opened.close()


def test_a_kernel_that_fails_is_told(opened, monkeypatch):
    """As checked accesses do; no answer is made up."""
    with opened._generations.use() as generation:
        searches = generation.usual_of(requests.check(SearchRequest(""), Settings()).profile)
    monkeypatch.setattr(searches, "_search", lambda *_: usual.BROKEN)
    with pytest.raises(IndexError, match="failed"):
        opened.search(SearchRequest("tide moon"))


def test_new_terms_that_need_more_room_get_it(opened, monkeypatch):
    """Lists of new terms are kept in chunks; a query may need the next one."""
    monkeypatch.setattr("periplus.search.terms.CHUNK", 8)
    with opened._generations.use() as generation:
        generation.lexicon.kept = type(generation.lexicon.kept)()
    same, one, _, by_kernel = both(opened, SearchRequest("harbour lanterns"))
    assert same
    assert by_kernel
    assert one.results


def test_what_kernels_keep_of_terms_is_bounded(opened, monkeypatch):
    monkeypatch.setattr("periplus.search.terms.TERMS_KEPT", 500)
    with opened._generations.use() as generation:
        lexicon = generation.lexicon
    seen = set()
    for number in range(300):
        opened.search(SearchRequest(f"tide word{number} other{number}"))
        seen.add(id(lexicon.kept))
        assert lexicon.kept.terms <= 500
    assert len(seen) > 1


def test_documents_of_terms_are_told_to_the_speller(opened):
    """Where no kernel can correct a query, the speller need not look its words up again."""
    with opened._generations.use() as generation:
        generation.lexicon.kept = type(generation.lexicon.kept)()
        kept, snapshot = generation.lexicon.kept.frequencies, generation.snapshot
    opened.search(SearchRequest("lantrens Moon's & 42"))
    assert {"lantrens", "moon's", "~moon", "moon", "42"} <= kept.keys()
    assert all(snapshot.frequency(term) == documents for term, documents in kept.items())


def test_many_threads_ask_at_once(opened):
    queries = ["tide moon", "the lantern", "storm keeper light", "harbour zzyzx", "tides", "moon OR tide", "light."]
    expected = {query: opened.search(SearchRequest(query)).results for query in queries}
    wrong = []

    def ask(seed: int) -> None:
        generator = random.Random(seed)
        for _ in range(60):
            query = generator.choice(queries)
            if opened.search(SearchRequest(query)).results != expected[query]:
                wrong.append(query)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_new_generation_is_searched_with_its_own_words(tmp_path):
    folder = built(tmp_path, ("en",))
    opened = Engine(folder, PATIENT)
    try:
        assert not opened.search(SearchRequest("brandnew tide")).results[0].url.endswith("/fresh")
        build(folder, [page("https://new.example/fresh", "Brandnew tide", "A brandnew tide.", language="en")], 9)
        assert opened.reload()
        assert opened.search(SearchRequest("brandnew tide")).results[0].url.endswith("/fresh")
    finally:
        opened.close()


def test_both_sides_know_the_same_places():
    assert (usual.TYPED, usual.MOST_TYPED, usual.DESK) == (wording.TYPED, wording.MOST_TYPED, wording.DESK)
    assert (usual.MOST_LANGUAGES, usual.MOST_TOLD) == (wording.MOST_LANGUAGES, wording.MOST_TOLD)
    assert usual.MOST_WORDS == wording.MOST_WORDS
    assert usual.MEMORIES == usual_kernel.MEMORIES
    assert usual.REQUEST == wording.REQUEST
    assert (usual.ROWS, usual.WORD_ROW) == (wording.ROWS, wording.WORD_ROW)
    assert usual.STOPS_HERE == wording.STOPS_HERE
    assert (usual.FIRST_FORM, usual.SAYS) == (wording.BEGIN, wording.SAYS)
    for name in (
        "WORDS",
        "FORMS",
        "LANGUAGE",
        "FRESH",
        "OUTPUT",
        "NEEDED",
        "TOTAL",
        "EXACT",
        "KEPT",
        "UNKNOWN",
        "MISSING",
    ):
        assert getattr(usual, name) == getattr(wording, name)
    for name in ("LISTS", "GROUPS", "FORMS_SIZE", "TEXT_SIZE", "IS_SPELT"):
        assert getattr(usual, name) == getattr(wording, name)
    for name in ("UNUSUAL", "BROKEN", "TO_JUDGE", "NOTHING", "PACKED"):
        assert getattr(usual, name) == getattr(usual_kernel, name)
    assert wording.LEAST_EVIDENCE == vocabulary.LEAST_EVIDENCE
    assert len(vocabulary.stop_languages()) <= wording.MOST_TOLD
    assert generations.MAIN_LANGUAGES <= wording.MOST_LANGUAGES
    largest = wording.REQUEST + 3 * wording.MOST_FORMS + wording.MOST_WORDS + wording.MOST_FORMS * 8
    assert largest + 1 + 12 * wording.MOST_FORMS + 8 * wording.MOST_WORDS + 512 < wording.DESK


def test_both_ways_weigh_and_ask_alike():
    assert usual_kernel.STOP_SHARE == typed.STOP_SHARE
    assert usual_kernel.AGAIN == execution.REACH_AFTER_FOLDING
    assert (wording.EXACT_SHARE, wording.STEM_SHARE) == (forms.EXACT_SHARE, forms.STEM_SHARE)
    assert (wording.PART_SHARE, wording.MAX_PARTS) == (forms.PART_SHARE, forms.MAX_PARTS)
    assert wording.FOREIGN_SHARE == FOREIGN_SHARE
    assert wording.LONGEST < forms.MAX_TERM_BYTES


def test_what_is_laid_out_is_what_kernels_read(opened):
    with opened._generations.use() as generation:
        searches = generation.usual_of(requests.check(SearchRequest(""), Settings()).profile)
    assert len(searches._means) == usual_kernel.MEANS
    assert len(searches._facts) == wording.FACTS


def test_telling_words_are_found_by_their_hash():
    table = usual._telling().reshape(-1, 3)
    for word, languages, fresh in vocabulary.telling_words():
        (row,) = np.flatnonzero(table[:, 0] == hash(word))
        assert table[row, 1:].tolist() == [languages, fresh]
