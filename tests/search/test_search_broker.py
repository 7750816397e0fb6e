"""A broker whose shards go away: what is left answers as a whole, and the answer says what is missing."""

from __future__ import annotations

import pytest
from search_samples import DOCUMENTS, PATIENT, build

from periplus.errors import ShardsMissing
from periplus.index import IndexStore
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.shards.broker import Broker, LocalShards
from periplus.search.shards.exchange import MISSING
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
