"""Two shards answer as one index does: ids, order, scores, totals, counts, snippets, corrections and explanations."""

from __future__ import annotations

import random

import msgspec
import pytest
from msgspec import structs
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, page, prior_of

from periplus.index import IndexStore
from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.broker import Broker, LocalShards, _share
from periplus.search.dictionary import dictionary_of
from periplus.search.shard import Shard
from periplus.search.spelling import Speller

SEED = 5
WORDS = [
    *("tide", "tides", "moon", "harbour", "table", "tables", "light", "keeper", "storm", "lantern", "the", "of"),
    *("chart", "charts", "charting", "compass", "pilot", "pilots", "anchor", "rope", "sail", "sailing"),
]
NOW = 1_800_000_000.0


def made_up(count):
    generator = random.Random(SEED)
    pages, texts = [], []
    for number in range(count):
        text = " ".join(generator.choices(WORDS, k=generator.choice((5, 40, 300))))
        text = generator.choice(texts) if texts and generator.random() < 0.2 else text
        texts.append(text)
        url = f"https://{generator.choice('abcdef')}.example/{generator.choice(WORDS)}/{number}"
        title = " ".join(generator.choices(WORDS, k=generator.randrange(5)))
        fingerprint = random.Random(text).getrandbits(62) | 1
        language = generator.choice(("en", "de", ""))
        published = NOW - generator.randrange(1_000) * 86_400
        pages.append(page(url, title, text, language=language, fingerprint=fingerprint, published=published))
    return pages


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """The same collection, whole and in two shards."""
    folder = tmp_path_factory.mktemp("whole")
    build(folder, DOCUMENTS, 1, anchors=anchors_of, prior=prior_of)
    build(folder, made_up(400), 2, anchors=anchors_of, prior=prior_of)
    whole, cut = Engine(folder, PATIENT), Engine(folder, PATIENT)
    store = IndexStore(folder / "index")
    store.reshard(2)
    with cut._generations.use() as generation:
        parts = [store.open(shard=number) for number in range(2)]
        assert min(part.live for part in parts) > 0.4 * generation.summary.live
        generation.shards = shards = Broker(LocalShards(Shard(part, generation.ranks) for part in parts))
        words = dictionary_of(generation.summary)
        generation.lazy_speller._value = Speller(words, generation.lexicon, shards.count)
        yield whole, cut
    whole.close()
    cut.close()


def answer(engine, request, **more):
    found = msgspec.to_builtins(structs.replace(engine.search(request, **more), took_ms=0.0))
    return {name: value for name, value in found.items() if name != "generation"}


QUERIES = [
    *("tide", "tide tables moon", "the tables of the tide", "harbour tides tide", "nowhere", "storm lantern keeper"),
    *("moon -storm", '"tide tables"', "tid*", "-char* moon", "+moon tide", "+tide +storm +rope", "moon OR storm"),
    *("tide 2027 news", "lang:de tide", "intitle:moon", "intitle:tab*", "site:a.example", "site:a.example tide"),
    *("-site:b.example storm", "-lang:de -site:a.example tide", "before:2026-01-01 tide", "after:2026-06-01 rope"),
    *("harbour.example", "https://harbour.example/tides", "tidez", "harbuor lihgt", "icecream", "moon nowhere"),
    *('"harbour light" OR "storm tide"', "(ebb flow) OR tide", "charting sail", "tide " * 9, ""),
]
OPTIONS = [
    {},
    {"page": 2, "size": 7},
    {"page": 12, "size": 10},
    {"sort": "date"},
    {"duplicates": True},
    {"counts": True},
    {"explain": True, "size": 3},
    {"lens": "raise:a.example,lower:b.example,block:c.example"},
    {"lens": "pin:d.example"},
    {"safe": True},
    {"reader": "de"},
    *({"profile": name, "size": 5, "explain": True} for name in PROFILES if name != "periplus"),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_two_shards_answer_as_one(engines, options, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    whole, cut = engines
    for query in QUERIES:
        for per_host in (0, 2):
            request = SearchRequest(query, **options)
            assert answer(cut, request, per_host=per_host) == answer(whole, request, per_host=per_host), query


def test_documents_are_found_shown_explained_and_compared_alike(engines, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    whole, cut = engines
    for document in DOCUMENTS[:6]:
        url = document.url
        assert cut.stored(url) == whole.stored(url)
        assert cut.similar(url, 5) == whole.similar(url, 5)
        for query in ("tide tables", "-tide moon", "site:nowhere.example tide", "lang:de moon"):
            assert cut.explain(query, url) == whole.explain(query, url)
    assert cut.ranking("tide tables", 50) == whole.ranking("tide tables", 50)


@pytest.mark.parametrize(("scored", "shards"), [(100, 1), (100, 2), (100, 7), (3, 4), (0, 3)])
def test_shards_score_their_share_and_no_more_than_all(scored, shards):
    assert _share(scored, shards) <= scored
    assert shards * _share(scored, shards) >= scored


def test_candidates_that_no_shard_had_scored_are_scored_afterwards(engines, monkeypatch):
    whole, cut = engines
    monkeypatch.setattr("periplus.search.broker._share", lambda scored, shards: min(scored, 3))
    monkeypatch.setattr("time.time", lambda: NOW)
    for query in ("tide", "storm lantern keeper"):
        request = SearchRequest(query, size=50)
        cut._answers.clear()
        assert answer(cut, request) == answer(whole, request)
