"""Plain queries: what a query knows of itself, what a snapshot keeps of terms, and the memory that kernels work in."""

import gc
import threading
import weakref

import numpy as np
import pytest
from index_world import make_document
from msgspec.structs import replace
from oracle import Oracle

from periplus.index import Filters, Group, IndexQuery, IndexStore, TermForm
from periplus.index.plan import KnownTerm
from periplus.index.query import MAX_GROUPS
from periplus.index.rooms import room_of
from periplus.index.terms import Terms


def plain(*terms):
    return tuple(Group(forms=(TermForm(term),)) for term in terms)


def test_a_query_of_single_forms_knows_its_terms():
    assert IndexQuery(should=plain("tide", "port")).terms == ("tide", "port")
    assert IndexQuery(must=plain("tide", "port")).terms == ("tide", "port")
    assert IndexQuery(must=plain("tide"), filters=Filters(languages=("en",))).terms == ("tide",)


@pytest.mark.parametrize(
    "query",
    [
        IndexQuery(),
        IndexQuery(should=plain("tide"), must=plain("port")),
        IndexQuery(should=plain("tide"), must_not=plain("port")),
        IndexQuery(any_of=(plain("tide"),)),
        IndexQuery(must=plain("tide"), any_of=(plain("port"),)),
        IndexQuery(should=(Group(forms=(TermForm("tide"), TermForm("tides", 0.5))),)),
        IndexQuery(should=(Group(forms=(TermForm("tide"),), weight=2.0),)),
        IndexQuery(should=(Group(forms=(TermForm("tide", 0.9),)),)),
        IndexQuery(should=(Group(forms=(TermForm("tide"),), field="title"),)),
        IndexQuery(should=(Group(phrase=("tide",)),)),
        IndexQuery(should=(Group(prefix="tide"),)),
        IndexQuery(should=plain(*["tide"] * (MAX_GROUPS + 1))),
    ],
)
def test_all_others_have_none(query):
    assert query.terms == ()


def test_a_changed_query_has_the_terms_of_the_change():
    query = IndexQuery(should=plain("tide"))
    assert replace(query, should=plain("port")).terms == ("port",)
    assert replace(query, must_not=plain("port")).terms == ()
    assert replace(query, must_not=plain("port")) == IndexQuery(should=plain("tide"), must_not=plain("port"))


def known(frequency):
    lists = np.zeros(5, np.int64)
    return KnownTerm(frequency, 1.0, (0,), lists, lists.ctypes.data, 1024, b"")


def test_the_first_to_come_stays_as_its_address_may_be_in_use():
    terms, first = Terms(), known(1)
    assert terms.add("tide", first) is first
    assert terms.add("tide", known(1)) is first
    assert terms.pack(["tide"], known) == np.array([1024, first.address, 1], np.int64).tobytes()


def test_a_full_one_takes_no_more(monkeypatch):
    monkeypatch.setattr("periplus.index.terms.TERMS_KEPT", 2)
    terms = Terms()
    assert terms.takes(3)  # a query of three terms has to be answered all the same
    terms.add("tide", known(1))
    assert terms.takes(1)
    assert not terms.takes(2)
    monkeypatch.setattr("periplus.index.terms.BYTES_KEPT", 39)  # a list takes 40
    assert not terms.takes(1)


def test_what_is_given_to_a_list_later_lives_as_long_as_its_term(many, monkeypatch):
    """Bits may lie in other memory than the list that points at them."""
    snapshot, _ = many
    monkeypatch.setattr(snapshot, "_terms", Terms(snapshot.table, 1_000))
    monkeypatch.setattr("periplus.index.terms.FIRST_CHUNK", 8)  # a piece of memory each
    monkeypatch.setattr("periplus.index.terms.CHUNK", 8)
    snapshot.top(IndexQuery(must=plain("w0", "w1")), 10)
    term = snapshot.known("w1")
    pieces = [weakref.ref(piece) for piece in snapshot._terms.chunks]
    assert len(pieces) > 2
    monkeypatch.setattr(snapshot, "_terms", Terms(snapshot.table, 1_000))  # as when there are too many
    gc.collect()
    assert all(piece() is not None for piece in pieces)
    assert term.kept == [piece() for piece in pieces]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    every = [make_document(number, " ".join(f"w{number % step}" for step in range(2, 40))) for number in range(600)]
    store = IndexStore(tmp_path_factory.mktemp("many"))
    store.update([(1, every[:300])])
    store.update([(2, every[300:])])
    with store.open() as snapshot:
        yield snapshot, Oracle(every, snapshot.manifest.epoch)


def in_a_new_thread(call):
    """The room of a thread begins at its smallest."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("k", [10, 1000, 20_000])
def test_the_room_grows_with_the_query(many, k):
    snapshot, oracle = many
    query = IndexQuery(should=plain(*[f"w{number}" for number in range(39)] * 6))

    def ask():
        before = room_of(0).words
        return snapshot.top(query, k, prior_weight=0.0), before, room_of(0).words

    hits, before, after = in_a_new_thread(ask)
    wanted = sorted(oracle.search(query, 0.0).items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in wanted]
    assert hits.scores.tolist() == [score for _, score in wanted]
    assert (after > before) == (k > 1000)


def test_words_that_do_not_occur_are_left_out_or_leave_nothing(many):
    snapshot, _ = many
    some = snapshot.top(IndexQuery(should=plain("w0", "absent", "w1")), 10)
    assert some.numbers.tolist() == snapshot.top(IndexQuery(should=plain("w0", "w1")), 10).numbers.tolist()
    none = snapshot.top(IndexQuery(must=plain("w0", "absent", "w1")), 10)
    assert (len(none.numbers), none.total.value, none.total.relation) == (0, 0, "eq")
