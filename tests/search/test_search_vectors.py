"""Word vectors that an operator brings: what they add to a query, and what is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from msgspec import structs
from search_samples import PATIENT, build, page
from test_search_shards import ShardedSource

from periplus.errors import SettingError
from periplus.index import IndexStore
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.query import vectors
from periplus.search.query.lexicon import lexicon_of
from periplus.search.query.vectors import LEAST_COSINE, MOST_RELATED, RELATED_SHARE, RelatedWords, WordVectors

PAGES = [
    page("https://a.example/car", "The car", "a car on the road"),
    page("https://a.example/auto", "An automobile", "an automobile in the garage"),
    page("https://a.example/auto2", "Another automobile", "cars and automobile and cars"),
    page("https://a.example/boat", "The boat", "a boat at sea"),
    page("https://a.example/boat2", "The boat", "another boat at sea"),
]
# car and automobile point the same way, cars with them; the boat does not.
WORDS = {"car": (1, 0.1, 0), "automobile": (1, 0.2, 0), "cars": (1, 0.1, 0), "boat": (-1, 0, 1), "absent": (1, 0.1, 0)}


def written(folder, words=WORDS, dtype=np.float32):
    (folder / "model").mkdir()
    (folder / "model" / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    np.save(folder / "model" / "vectors.npy", np.array(list(words.values()), dtype))
    return folder


def engine_of(folder, name="model"):
    return Engine(folder, structs.replace(PATIENT, search=structs.replace(PATIENT.search, vectors=name)))


@pytest.fixture
def collection(tmp_path):
    build(tmp_path, PAGES)
    return written(tmp_path)


def test_a_query_also_finds_what_nearly_means_the_same(collection):
    engine, plain = engine_of(collection), engine_of(collection, "")
    assert [result.url for result in plain.search(SearchRequest("car")).results] == [
        "https://a.example/car",
        "https://a.example/auto2",  # which has "cars"
    ]
    found = [result.url for result in engine.search(SearchRequest("car")).results]
    assert found[0] == "https://a.example/car"
    assert set(found) == {"https://a.example/car", "https://a.example/auto", "https://a.example/auto2"}
    for query in ('"car"', "+car"):  # who quotes or signs a word means that word
        assert engine.search(SearchRequest(query)).total == plain.search(SearchRequest(query)).total
    engine.close()
    plain.close()


def test_explanations_still_add_up(collection):
    engine = engine_of(collection)
    (result,) = [one for one in engine.search(SearchRequest("car")).results if one.url.endswith("/auto")]
    explained = engine.explain("car", result.url)
    assert explained.value == pytest.approx(result.score)
    assert explained.value > 0
    engine.close()


def test_related_words_occur_and_have_another_stem(collection):
    with IndexStore(collection / "index").open() as snapshot:
        related = WordVectors.open(collection, "model").over(lexicon_of(snapshot))
        ((word, cosine),) = related.near("car")
        assert word == "automobile"  # not "cars", which has its stem, and not "absent"
        assert vectors.LEAST_COSINE <= cosine <= 1.0
        assert related.near("absent") == related.near("car")  # a word may be asked for that no page has
        assert related.near("automobile") == ()  # "car" is in one document only
        assert related.near("boat") == related.near("nowhere") == ()


def test_shares_are_below_those_of_a_words_own_forms():
    assert RELATED_SHARE < 0.5  # index.STRONG_SHARE: related words are no match of title or coverage


def test_the_nearest_words_are_those_of_the_greatest_cosine():
    chance = np.random.default_rng(3)
    words = [f"{first}{second}orm" for first in "bcdfghjklm" for second in "bcdfghjklm"]
    rows = chance.normal(size=(len(words), 6)).astype(np.float32)
    related = RelatedWords(WordVectors(words, rows), words, rows)
    unit = [row / sum(row**2) ** 0.5 for row in rows.astype(np.float64)]
    apart = [row - sum(unit) / len(unit) for row in unit]
    for word, own in zip(words, apart, strict=True):
        cosines = {
            other: sum(own * row) / (sum(own**2) * sum(row**2)) ** 0.5
            for other, row in zip(words, apart, strict=True)
            if other != word
        }
        best = sorted((other for other in cosines if cosines[other] >= LEAST_COSINE), key=lambda other: -cosines[other])
        assert [other for other, _ in related.near(word)] == best[:MOST_RELATED]


def test_many_columns_are_shortened(tmp_path):
    build(tmp_path, PAGES)
    chance = np.random.default_rng(1)
    words = {word: np.concatenate([row, chance.normal(0, 0.01, 200)]) for word, row in WORDS.items()}
    written(tmp_path, words)
    with IndexStore(tmp_path / "index").open() as snapshot:
        related = WordVectors.open(tmp_path, "model").over(lexicon_of(snapshot))
        assert [word for word, _ in related.near("car")] == ["automobile"]


@pytest.mark.parametrize(
    ("words", "rows", "reason"),
    [
        ("a\nb\n", np.zeros((3, 4), np.float32), "2 words and 3 rows"),
        ("a\n", np.zeros(4, np.float32), "must be a table"),
        ("a\n", np.zeros((1, 4), np.int64), "must be a table"),
        ("a\n", np.zeros((1, 1), np.float32), "must be a table"),
        ("", np.zeros((0, 4), np.float32), "0 words"),
        ("a\n", np.array([{}], object), "cannot be read"),
        (None, np.zeros((1, 4), np.float32), "cannot be read"),
    ],
)
def test_what_is_wrong_in_the_folder_is_said(tmp_path, words, rows, reason):
    (tmp_path / "model").mkdir()
    if words is not None:
        (tmp_path / "model" / "words.txt").write_text(words, encoding="utf-8")
    np.save(tmp_path / "model" / "vectors.npy", rows, allow_pickle=True)
    with pytest.raises(SettingError, match=reason):
        WordVectors.open(tmp_path, "model")


@pytest.mark.parametrize("shards", [2, 5])
def test_shards_answer_as_one_index_does(collection, tmp_path_factory, shards):
    copy = tmp_path_factory.mktemp("cut")
    shutil.copytree(collection, copy, dirs_exist_ok=True)
    IndexStore(copy / "index").reshard(shards)
    settings = structs.replace(PATIENT, search=structs.replace(PATIENT.search, vectors="model"))
    whole, cut = engine_of(collection), Engine(copy, settings, ShardedSource(copy))
    for query in ("car", "absent boat", "automobile sea"):
        one, other = whole.search(SearchRequest(query)), cut.search(SearchRequest(query))
        assert [(result.url, result.score) for result in one.results] == [
            (result.url, result.score) for result in other.results
        ]
        assert one.results
    whole.close()
    cut.close()


def test_nothing_is_read_without_the_setting(tmp_path):
    assert WordVectors.open(tmp_path, "") is None
