"""A broker whose shards go away: what is left answers as a whole, and the answer says what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import DOCUMENTS, PATIENT, build

from periplus.errors import ShardsMissing
from periplus.index import IndexStore
from periplus.records import SearchRequest, Total
from periplus.search import Engine
from periplus.search.shards.broker import LOCAL, SHARD_BITS, Broker, LocalShards
from periplus.search.shards.exchange import MISSING, Hits, Order
from periplus.search.shards.shard import Shard

SHARDS = 3


class Leaving:
    """Shards in this process, of which some answer no more from a certain method on."""

    def __init__(self, shards):
        self._inner = LocalShards(shards)
        self.documents = self._inner.documents
        self.leaving = {}  # method by place
        self.asked = []
        self.deadlines = []

    def ask(self, asked, deadline):
        self.asked += asked
        self.deadlines.append(deadline)
        answers = self._inner.ask(asked, deadline)
        lost = [self.leaving.get(ask.place) in (ask.method, "any") for ask in asked]
        return [MISSING if gone else answer for gone, answer in zip(lost, answers, strict=True)]


def lost(answer):
    return [part for part in answer.degraded if part.startswith("shard:")]


@pytest.fixture
def engine(tmp_path):
    build(tmp_path, DOCUMENTS)
    store = IndexStore(tmp_path / "index")
    store.reshard(SHARDS)
    with_shards = Engine(tmp_path, PATIENT)
    with with_shards._generations.use() as generation:
        snapshots = [store.open(shard=number) for number in range(SHARDS)]
        shards = Leaving([Shard(one, generation.ranks) for one in snapshots])
        generation.shards = Broker(shards)
        yield with_shards, shards
    with_shards.close()


def test_whole_answers_say_so(engine):
    answer = engine[0].search(SearchRequest("tide"))
    assert (answer.coverage, lost(answer)) == (1.0, [])


@pytest.mark.parametrize("method", ["top", "show"])
def test_a_shard_that_leaves_takes_only_its_documents_along(engine, method):
    searched, shards = engine
    whole = searched.search(SearchRequest("tide", size=50))
    shards.leaving = {1: method}
    answer = searched.search(SearchRequest("tide", size=50, duplicates=True))
    assert lost(answer) == ["shard:1"]
    assert answer.coverage == pytest.approx(1.0 - shards.documents[1] / sum(shards.documents))
    assert 0 < answer.total.value < whole.total.value
    assert {result.id for result in answer.results} < {result.id for result in whole.results}


def test_a_missing_shard_is_not_asked_twice_by_one_search(engine):
    searched, shards = engine
    shards.leaving = {1: "top"}
    searched.search(SearchRequest("tide", size=50))
    assert [ask.method for ask in shards.asked if ask.place == 1].count("top") == 1


def test_spelling_asks_as_its_search_does(engine):
    """Until the deadline, without shards that are missing, and the next search begins with all of them again."""
    searched, shards = engine
    searched.warm()
    shards.asked.clear()
    shards.deadlines.clear()
    shards.leaving = {1: "count"}
    assert lost(searched.search(SearchRequest("tidetables"))) == ["shard:1"]
    assert [ask.place for ask in shards.asked if ask.method == "count"].count(1) == 1
    assert max(shards.deadlines) < float("inf")
    shards.leaving = {}
    again = searched.search(SearchRequest("tidetables", size=50))
    assert (again.query.corrected, lost(again)) == ("tide tables", [])
    assert [ask.place for ask in shards.asked if ask.method == "count"].count(1) == 2


def test_answers_without_a_shard_are_not_kept(engine):
    searched, shards = engine
    shards.leaving = {1: "any"}
    for _ in range(3):
        assert lost(searched.search(SearchRequest("tide")))
    shards.leaving = {}
    assert not lost(searched.search(SearchRequest("tide")))


def test_no_shard_at_all_is_one_clear_line(engine):
    searched, shards = engine
    shards.leaving = dict.fromkeys(range(SHARDS), "any")
    with pytest.raises(ShardsMissing, match="none of the 3 shards answered"):
        searched.search(SearchRequest("tide"))


def test_a_page_that_may_be_in_a_missing_shard_is_not_said_to_be_unknown(engine):
    searched, shards = engine
    shards.leaving = {1: "any"}
    with pytest.raises(ShardsMissing, match="shard:1 may have"):
        searched.explain("tide", "https://nowhere.example/")


class Played:
    """Shards that only know the scores of their documents; keys of documents are their scores' places."""

    def __init__(self, scores):
        self._scores = [sorted(own, reverse=True) for own in scores]
        self.documents = [len(own) for own in scores]
        self.asked = []

    def ask(self, asked, deadline):
        self.asked += asked
        return [self._top(ask.place, *ask.arguments) for ask in asked]

    def _top(self, place, _, k, scored, ordered):
        own = np.array(self._scores[place][:k], np.int64).reshape(-1, 2)
        firsts, keys = own[:, 0].astype(float), own[:, 1]
        scores = np.where(np.arange(len(own)) < scored, firsts, np.nan)
        nothing = np.zeros(len(own), np.int64)
        order = Order(firsts, -keys) if ordered else None
        total = Total(self.documents[place])
        return Hits(keys, firsts, scores, nothing, nothing, firsts, total, len(own) < k, order)


def played(scores_by_shard):
    """Distinct documents: a score and a number each."""
    numbers = iter(range(1_000_000))
    return Played([[(score, next(numbers)) for score in own] for own in scores_by_shard])


SCORES = st.lists(st.lists(st.integers(0, 5), max_size=60), min_size=2, max_size=7)


@given(SCORES, st.integers(1, 80), st.booleans())
def test_the_best_of_all_shards_are_found_however_they_are_spread(scores_by_shard, k, skewed):
    if skewed:
        scores_by_shard = [[score + 10 * place for score in own] for place, own in enumerate(scores_by_shard)]
    shards = played(scores_by_shard)
    every = sorted((one for own in shards._scores for one in own), reverse=True)
    found = Broker(shards).top(None, k, 0)
    assert (found.numbers & LOCAL).tolist() == [number for _, number in every[:k]]
    assert found.firsts.tolist() == [score for score, _ in every[:k]]
    assert found.total == Total(len(every))
    assert found.whole == (len(every) < k) or len(every) == k
    assert [
        shards._scores[number >> SHARD_BITS].count((score, number & LOCAL))
        for number, score in zip(found.numbers.tolist(), found.firsts.tolist(), strict=True)
    ] == [1] * len(found.numbers)
    assert len(shards.asked) <= 2 * len(scores_by_shard)


def test_documents_that_are_spread_by_chance_are_found_by_one_question_a_shard():
    generator = np.random.default_rng(3)
    for _ in range(20):
        shards = played(generator.integers(0, 10**9, (4, 5_000)).tolist())
        Broker(shards).top(None, 1_000, 0)
        assert [ask.arguments[1] for ask in shards.asked] == [314] * 4


def test_only_a_shard_that_may_have_more_of_the_best_is_asked_again():
    shards = played([[9] * 50, [1] * 50, [2] * 50])
    Broker(shards).top(None, 30, 0)
    assert [(ask.place, ask.arguments[1]) for ask in shards.asked] == [(0, 23), (1, 23), (2, 23), (0, 30)]
