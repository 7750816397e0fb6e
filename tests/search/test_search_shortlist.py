"""The usual search by kernels makes the lists that the steps of ``execution`` make of arrays."""

from __future__ import annotations

import random
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, page, prior_of

from periplus import addresses
from periplus.index import IndexStore
from periplus.index.analysis import analyze
from periplus.index.fields import PIECE_GAP
from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine, execution, plan, read
from periplus.search.display import displayed
from periplus.search.evidence import MAX_SIGHTINGS, NEITHER, Asked, Gathered, language_worth
from periplus.search.plan import typed
from periplus.search.ranks import Ranks
from periplus.search.terms import Lexicon, Terms
from periplus.search.text import _SPACES, _UNSEEN, clean

WORDS = ["tide", "tides", "moon", "harbour", "table", "tables", "light", "keeper", "storm", "lantern", "the", "of"]
SEED = 27


def made_up(count: int, generator: random.Random) -> list:
    """Pages of few hosts, some of them nearly the same text."""
    pages, texts = [], []
    for number in range(count):
        size = generator.choice((5, 40, 300, 900))
        text = " ".join(generator.choices(WORDS, k=size))
        if texts and generator.random() < 0.2:
            text = generator.choice(texts)
        texts.append(text)
        url = f"https://{generator.choice('abcdef')}.example/{generator.choice(WORDS)}/{number}"
        title = " ".join(generator.choices(WORDS, k=generator.randrange(5)))
        pages.append(page(url, title, text, language=generator.choice(("en", "de", "")), fingerprint=hash_of(text)))
    return pages


def hash_of(text: str) -> int:
    """Equal texts fold; others differ in many bits."""
    return random.Random(text).getrandbits(62) | 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three segments; enough pages of a host that not all of them are shown."""
    generator = random.Random(SEED)
    folder = tmp_path_factory.mktemp("three")
    build(folder, DOCUMENTS, 1, anchors=anchors_of, prior=prior_of)
    build(folder, made_up(150, generator), 2, anchors=anchors_of, prior=prior_of)
    build(folder, made_up(60, generator), 3, anchors=anchors_of, prior=prior_of)
    return folder


@pytest.fixture(scope="module")
def engine(folder):
    opened = Engine(folder, PATIENT)
    yield opened
    opened.close()


QUERIES = [
    *("tide", "tide tables moon", "the tables of the tide", "harbour tides tide", "nowhere", "storm lantern keeper"),
    *("light", "moon -storm", '"tide tables"', "tid*", "+moon tide", "moon OR storm", "tide 2026 news", "lang:de tide"),
    *("keeper of the light", "lantern nowhere", "TIDES Tables", "intitle:moon"),
]


def scored(snapshot, terms, numbers, languages):
    """The scores of the kernel that reads the index itself, given exactly the memory that it asks for."""
    profile, sought, size = PROFILES["periplus"], np.frombuffer(terms.sought, np.int64), len(numbers)
    fused = profile.fused(snapshot.average_lengths, profile.fields, snapshot.live, float(PIECE_GAP), MAX_SIGHTINGS)
    table = snapshot.table
    fixed = np.array([table.address, table.segments, fused.constants, size, size, -1, 0, 0, 0, 0], np.int64)
    first_pass, needed = np.zeros(size), len(sought)
    while needed:
        memory = np.empty(needed, np.int64)
        memory[: len(sought)] = sought
        needed = fused.run(
            fixed.ctypes.data, numbers.ctypes.data, first_pass.ctypes.data, size, len(sought), languages.ctypes.data,
            len(languages), 0.0, 0, 0, size, memory.ctypes.data, len(memory),
        )  # fmt: skip
    found = memory[len(sought) + 4 :]
    best_first = dict(zip(found[:size].tolist(), found[size : 2 * size].view(np.float64).tolist(), strict=True))
    assert list(best_first.values()) == sorted(best_first.values(), reverse=True)
    return np.array([best_first[number] for number in numbers.tolist()])


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("options", [{}, {"language": "en"}])
def test_scores_are_those_of_the_tree_and_of_the_arrays(folder, query, options):
    profile = PROFILES["periplus"]
    with IndexStore(folder / "index").open() as snapshot:
        numbers = np.random.default_rng(SEED).permutation(snapshot.numbers())
        terms = Terms(Lexicon(snapshot), plan(read(query), ("en",)).words)
        known = Gathered(snapshot, profile, terms, numbers, Asked(Ranks(), float("inf"), **options))
        language = options.get("language", "")
        found = scored(snapshot, terms, numbers, language_worth(snapshot, language) if language else NEITHER)
        assert found[known.before].tolist() == profile.quick(known.candidates).tolist()
        assert found[known.before] == pytest.approx(profile.rank(known.evidence).score.values, rel=1e-6)


def test_what_kernels_read_by_address_stays_whatever_languages_are_asked_for(engine):
    """Browsers tell of any language; an address that was given to a kernel must hold."""
    with engine._generations.use() as generation:
        lists = generation.shortlists_of(PROFILES["periplus"])
        names = generation.snapshot.language_names()
        before = {name: lists.worth(name) for name in ("", *names)}
        others = {lists.worth(f"{one}{two}") for one in ascii_lowercase for two in ascii_lowercase} - set(
            before.values()
        )
        assert len(others) == 1
        assert {name: lists.worth(name) for name in before} == before
        assert len(lists._languages) <= len(names) + 2


def answered(engine, request, per_host):
    engine._answers.clear()
    return structs.replace(engine.search(request, per_host=per_host), took_ms=0.0)


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_those_of_the_steps(engine, query, monkeypatch):
    kinds = [{}, {"page": 2}, {"size": 3}, {"size": 50, "page": 3}, {"duplicates": True}, {"language": "de"}]
    requests = [(SearchRequest(query, **{"correct": False} | kind), limit) for kind in kinds for limit in (0, 1, 3)]
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    quick = [answered(engine, *one) for one in requests]
    monkeypatch.setattr(execution, "applies", lambda task: False)
    assert [answered(engine, *one) for one in requests] == quick


def test_explanations_are_those_of_the_list(engine):
    request = SearchRequest("tide tables moon", explain=True, size=5)
    for result in answered(engine, request, 3):
        assert result.explain.value == pytest.approx(result.score)


def test_the_usual_way_is_the_usual_one(engine, monkeypatch):
    taken = []
    applies = execution.applies
    monkeypatch.setattr(execution, "applies", lambda task: taken.append(applies(task)) or taken[-1])
    engine._answers.clear()
    engine.search(SearchRequest("tide moon"))
    engine.search(SearchRequest("tide moon -site:a.example"))
    engine.search(SearchRequest("tide moon", profile="bm25"))
    assert taken == [True, False, False]


@pytest.mark.parametrize(
    "url",
    [
        *("https://a.example/", "https://a.example/one/two.html?q=1&r=2", "http://a.example//twice///", "https://a.example/%C3%A4"),
        *("https://a.example:8080/x", "https://xn--mnchen-3ya.de/x", "https://a.example/?", "https://a.example/a?b?c"),
        f"https://a.example/{'long/' * 40}", f"https://a.example/{'x' * 200}", "https://a.example/x#y",
    ],
)  # fmt: skip
def test_addresses_are_displayed_alike(url):
    spelled = addresses.canonical(url)
    assert displayed(spelled, addresses.host(spelled)) == addresses.display(spelled)


@given(st.text(max_size=12) | st.text("abcXYZ09_-.' ", max_size=12))
def test_typed_words_are_those_of_the_analysis(text):
    assert typed(text) == [token.text for token in analyze(text)]


@given(st.text(max_size=20) | st.text(" a\u00e9\ufffc\u200d\t\u2028\ue000", max_size=20))
def test_cleaning_at_once_is_cleaning(text):
    assert clean(text) == _SPACES.sub(" ", _UNSEEN.sub(" ", text)).strip()


def test_pages_without_text_are_shown_beside_others(tmp_path):
    pages = [page("https://a.example/", "Tide", ""), page("https://b.example/", "Tide", "The tide\n\ncomes  in.")]
    build(tmp_path, [*pages, page("https://c.example/", "Tide", "A tide turns.")])
    engine = Engine(tmp_path, PATIENT)
    shown = {result.site: (result.snippet, result.highlights) for result in engine.search(SearchRequest("tide"))}
    engine.close()
    assert shown["a.example"] == ("", ())
    assert shown["b.example"][0].startswith("The tide")
    assert shown["b.example"][1] == ((4, 8),)
    assert shown["c.example"] == ("A tide turns.", ((2, 6),))
