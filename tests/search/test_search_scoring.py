"""Scores by the kernel are those of the formula's parts, and what results are made of."""

from __future__ import annotations

import random
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, page, prior_of

from periplus import addresses
from periplus.index import IndexStore, title_print
from periplus.index.retrieval.query import IndexQuery
from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine, plan, read
from periplus.search.query.lexicon import lexicon_of
from periplus.search.query.plan import typed
from periplus.search.query.text import _SPACES, _UNSEEN, clean
from periplus.search.shards.display import displayed
from periplus.search.shards.exchange import ShardQuery
from periplus.search.shards.languages import Languages
from periplus.search.shards.ranks import Ranks
from periplus.search.shards.scoring import Scorers
from periplus.search.shards.shard import Shard
from periplus.text import analyze

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


NAMED = {"named": 3}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "options", [{}, {"language": "en"}, {"now": 1_800_000_000.0}, {"title": title_print("Tide tables")}, NAMED]
)
def test_scores_of_the_kernel_are_those_of_the_tree(folder, query, options):
    with IndexStore(folder / "index").open() as snapshot:
        numbers = np.random.default_rng(SEED).permutation(snapshot.numbers())
        named = numbers[: options.get("named", 0)].copy()
        more = {name: value for name, value in options.items() if name != "named"}
        lexicon, made = lexicon_of(snapshot), plan(read(query), ("en",))
        asked = ShardQuery(made.query, lexicon.known(made.words), lexicon, PROFILES["periplus"], **more)
        shard = Shard(snapshot, Ranks())
        known = shard.evidence(asked, numbers, named)
        tree = dict(zip(known.numbers.tolist(), asked.profile.rank(known.evidence).score.values, strict=True))
        expected = [tree[number] for number in numbers.tolist()]
        assert shard.score(asked, numbers, named).tolist() == pytest.approx(expected, rel=1e-6)


def test_scores_do_not_depend_on_what_else_is_scored(folder):
    with IndexStore(folder / "index").open() as snapshot:
        numbers, lexicon = snapshot.numbers(), lexicon_of(snapshot)
        words = lexicon.known(plan(read("tide tables moon"), ("en",)).words)
        asked, shard = ShardQuery(IndexQuery(), words, lexicon, PROFILES["periplus"]), Shard(snapshot, Ranks())
        single = [shard.score(asked, numbers[place : place + 1])[0] for place in range(len(numbers))]
        assert shard.score(asked, numbers).tolist() == single


def test_any_language_may_be_asked_for_and_few_are_kept(folder):
    """Browsers tell of any language."""
    with IndexStore(folder / "index").open() as snapshot:
        lexicon, languages = lexicon_of(snapshot), Languages(snapshot)
        scorers = Scorers(snapshot, languages)
        for language in ("", "de", *(one + two for one in ascii_lowercase for two in ascii_lowercase)):
            asked = ShardQuery(IndexQuery(), (), lexicon, PROFILES["periplus"], language=language)
            assert len(scorers.of(asked).scores(asked, snapshot.numbers()[:1])) == 1
        assert set(languages._known) <= {"", *snapshot.language_names()}


def test_explanations_are_those_of_the_list(engine):
    request = SearchRequest("tide tables moon", explain=True, size=5)
    for result in engine.search(request, per_host=3):
        assert result.explain.value == pytest.approx(result.score)


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
