"""Shards answer as one index does: ids, order, scores, totals, counts, snippets, corrections and explanations."""

from __future__ import annotations

import random
import shutil

import msgspec
import pytest
from msgspec import structs
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, page, prior_of

from periplus.graph import Stores
from periplus.index import IndexStore
from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.opening.generations import Opened
from periplus.search.opening.summary import open_summary
from periplus.search.shards.broker import Broker, LocalShards
from periplus.search.shards.ranks import Ranks
from periplus.search.shards.shard import Shard
from periplus.search.suggesting.completion import Completion

SEED = 5
SHARDS = [1, 2, 4, 7]
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


class ShardedSource:
    """The shards of a generation, each open by itself, and its files: no part of it knows all segments."""

    keeps_before = True

    def __init__(self, folder):
        self._folder = folder
        self._stores = Stores(folder)
        self._store = self._stores.index

    def newest(self):
        manifest = self._store.manifest()
        return manifest.generation if manifest else 0

    def open(self):
        ranks = Ranks.open(self._stores.ranks)
        shards = range(self._store.manifest().shards)
        broker = Broker(LocalShards(Shard(self._store.open(shard=number), ranks) for number in shards))
        return Opened(open_summary(self._store), broker, ranks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collection of two segments, with deleted documents."""
    folder = tmp_path_factory.mktemp("whole")
    build(folder, [*DOCUMENTS, *made_up(3)], 1, anchors=anchors_of, prior=prior_of)
    gone = [structs.replace(document, refusal="gone") for document in made_up(2)]
    build(folder, [*made_up(400)[2:], *gone], 2, anchors=anchors_of, prior=prior_of)
    return folder


@pytest.fixture(scope="module")
def whole(folder):
    engine = Engine(folder, PATIENT)
    yield engine
    engine.close()


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def cut(folder, tmp_path_factory, request):
    """The same collection in several shards."""
    copy = tmp_path_factory.mktemp("cut")
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    store = IndexStore(copy / "index")
    assert store.reshard(request.param).shards == request.param
    engine = Engine(copy, PATIENT, ShardedSource(copy))
    yield engine
    engine.close()


def answer(engine, request, **more):
    found = msgspec.to_builtins(structs.replace(engine.search(request, **more), took_ms=0.0))
    return {name: value for name, value in found.items() if name != "generation"}


QUERIES = [
    *("tide", "tide tables moon", "the tables of the tide", "harbour tides tide", "nowhere", "storm lantern keeper"),
    *("moon -storm", '"tide tables"', "tid*", "-char* moon", "+moon tide", "+tide +storm +rope", "moon OR storm"),
    *("tide 2027 news", "lang:de tide", "intitle:moon", "intitle:tab*", "site:a.example", "site:a.example tide"),
    *("-site:b.example storm", "-lang:de -site:a.example tide", "before:2026-01-01 tide", "after:2026-06-01 rope"),
    *(
        "harbour.example",
        "https://harbour.example/tides",
        "tidez",
        "harbuor lihgt",
        "tide() of",
        "charting::of tidez",
        "icecream",
        "moon nowhere",
    ),
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
def test_shards_answer_as_one(whole, cut, options, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    for query in QUERIES:
        for per_host in (0, 2):
            request = SearchRequest(query, **options)
            assert answer(cut, request, per_host=per_host) == answer(whole, request, per_host=per_host), query


def test_documents_are_found_shown_explained_and_compared_alike(whole, cut, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    for document in DOCUMENTS[:6]:
        url = document.url
        assert cut.stored(url) == whole.stored(url)
        assert cut.similar(url, 5) == whole.similar(url, 5)
        for query in ("tide tables", "-tide moon", "site:nowhere.example tide", "lang:de moon"):
            assert cut.explain(query, url) == whole.explain(query, url)
    assert cut.ranking("tide tables", 50) == whole.ranking("tide tables", 50)


@pytest.mark.parametrize("most", [1, 3])
def test_answers_are_the_same_where_a_shard_gave_too_few_at_first(whole, cut, monkeypatch, most):
    monkeypatch.setattr("periplus.search.shards.broker._share", lambda k, shards: min(k, most))
    monkeypatch.setattr("time.time", lambda: NOW)
    for query in ("tide", "storm lantern keeper", '"tide tables"', "-moon tide", "lang:de", "tid*"):
        for options in ({"size": 50}, {"page": 3, "size": 10}, {"sort": "date"}):
            request = SearchRequest(query, **options)
            cut._answers.clear()
            assert answer(cut, request) == answer(whole, request), query


def test_words_names_and_completions_are_those_of_the_whole(whole, cut):
    with whole._generations.use() as one, cut._generations.use() as other:
        for name in ("languages", "sites", "hosts_by_name", "tabs", "is_small"):
            assert getattr(other, name) == getattr(one, name), name
        assert other.summary.languages == one.summary.languages
        assert list(other.summary.hosts) == list(one.summary.hosts)
        assert other.losses.codes == one.losses.codes
        assert other.summary.words(1_000_000) == one.summary.words(1_000_000)
        assert other.lexicon.documents == one.lexicon.documents
        assert list(other.lexicon.average_lengths) == list(one.lexicon.average_lengths)
        every = [word for word, _ in one.summary.words(1_000)] + ["~tide", "nowhere", "", "\ud800"]
        assert other.lexicon.frequencies(every) == one.lexicon.frequencies(every)
        for text in ("t", "ti", "tide", "c", "z", "ta"):
            for limit in (1, 3, 1_000):
                assert other.lexicon.prefix(text, limit) == one.lexicon.prefix(text, limit)
        titles = [sorted(map(title_of, each.summary.titled_pages())) for each in (one, other)]
        assert titles[0] == titles[1]
        assert len(titles[0]) == one.summary.live
    for typed in ("t", "tid", "tide ta", "harb", "exa", "moon", "zz"):
        assert cut.suggest(typed) == whole.suggest(typed)


def title_of(page):
    return page.page_key, page.host, page.prior, page.title


def test_what_is_blocked_is_blocked_in_all_shards(whole, cut):
    blocked = frozenset({"a.example", "https://harbour.example/tides"})
    with whole._generations.use() as one, cut._generations.use() as other:
        made = [Completion.build(each.summary, {"tide calendar": 5}, {"low tide": 3}, blocked) for each in (one, other)]
    for typed in ("t", "tid", "a", "b", "how", "low"):
        assert made[0].complete(typed, 50) == made[1].complete(typed, 50)
    assert not made[1].complete("how to read", 5)  # the heading of a page that is hidden


@pytest.fixture
def living(tmp_path):
    """A collection in one shard, and the same in several that are updated alike."""

    def both(act):
        return [act(IndexStore(tmp_path / name / "index")) for name in ("one", "many")]

    both(lambda store: store.update([(1, made_up(120))], anchors=anchors_of, prior=prior_of, merge=False))
    store = IndexStore(tmp_path / "many" / "index")
    store.reshard(4)
    engines = Engine(tmp_path / "one", PATIENT), Engine(tmp_path / "many", PATIENT, ShardedSource(tmp_path / "many"))
    yield both, store, *engines
    for engine in engines:
        engine.close()


def test_shards_follow_updates_deletes_merges_epochs_and_other_numbers(living, monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    both, store, one, many = living
    longer = [structs.replace(document, text=document.text * 4) for document in made_up(900)[300:]]
    gone = [structs.replace(document, refusal="gone") for document in made_up(150)[::4]]

    def update(number, rows, *, merge=False):
        return lambda store: store.update([(number, rows)], anchors=anchors_of, prior=prior_of, merge=merge)

    steps = [
        lambda: both(update(2, made_up(200)[120:])),
        lambda: both(update(3, gone)),
        lambda: [both(update(4 + n, made_up(300)[200 + 10 * n : 210 + 10 * n])) for n in range(9)],
        lambda: both(lambda store: store.merge()),
        lambda: both(update(20, longer, merge=True)),  # in a new epoch
        lambda: both(lambda store: store.refresh_prior(prior_of)),
        lambda: both(lambda store: store.remove([document.key for document in made_up(300)[1::9]])),
        lambda: store.reshard(2),
        lambda: both(update(30, made_up(120)[::5])),
        lambda: store.reshard(1),
        lambda: store.reshard(7),
    ]
    epochs = set()
    for step in steps:
        step()
        assert many.reload()
        one.reload()
        epochs.add(store.manifest().epoch.number)
        for query in (
            "tide tables moon",
            "tid*",
            "storm lantern keeper",
            "site:a.example tide",
            "harbuor lihgt",
            "tidez",
        ):
            request = SearchRequest(query, explain=True, counts=True)
            assert answer(many, request) == answer(one, request), query
        assert many.suggest("ta") == one.suggest("ta")
    assert len(epochs) == 2
