"""What a snapshot keeps of terms, and the memory that kernels work in."""

import gc
import threading
import weakref

import numpy as np
import pytest
from index_world import make_document
from oracle import Oracle

from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.retrieval.lookups import Found
from periplus.index.retrieval.scratch import ScratchBuffer, scratch_of
from periplus.index.retrieval.terms import Terms


def plain(*terms):
    return tuple(Group(forms=(TermForm(term),)) for term in terms)


def known(frequency):
    lists = np.zeros(5, np.int64)
    return Found(frequency, [0], lists, lists.ctypes.data, lists.nbytes)


def test_the_first_to_come_stays_as_its_address_may_be_in_use():
    terms, found = Terms(), known(1)
    first = terms.add("tide", found)
    assert first.address == found.address
    assert terms.add("tide", known(1)) is first
    assert terms.known == {"tide": first}


def test_a_full_one_takes_no_more(monkeypatch):
    monkeypatch.setattr("periplus.index.retrieval.terms.TERMS_KEPT", 2)
    terms = Terms()
    assert terms.takes(3)  # a query of three terms has to be answered all the same
    terms.add("tide", known(1))
    assert terms.takes(1)
    assert not terms.takes(2)
    monkeypatch.setattr("periplus.index.retrieval.terms.BYTES_KEPT", 39)  # a list takes 40
    assert not terms.takes(1)


def test_what_is_given_to_a_list_later_lives_as_long_as_its_term(many, monkeypatch):
    """Bits may lie in other memory than the list that points at them."""
    snapshot, _ = many
    monkeypatch.setattr(snapshot, "_terms", Terms())
    monkeypatch.setattr("periplus.index.retrieval.terms.FIRST_CHUNK", 8)  # a piece of memory each
    monkeypatch.setattr("periplus.index.retrieval.terms.CHUNK", 8)
    snapshot.top(IndexQuery(must=plain("w0", "w1")), 10)
    term = snapshot.known("w1")
    pieces = [weakref.ref(piece) for piece in snapshot._terms.chunks]
    assert len(pieces) > 2
    monkeypatch.setattr(snapshot, "_terms", Terms())  # as when there are too many
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
    """The scratch buffer of a thread begins at its smallest."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("k", [10, 1000, 20_000])
def test_the_scratch_buffer_grows_with_the_query(many, k):
    snapshot, oracle = many
    query = IndexQuery(should=plain(*[f"w{number}" for number in range(39)] * 6))

    def ask():
        before = scratch_of(0).words
        return snapshot.top(query, k, prior_weight=0.0), before, scratch_of(0).words

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


@pytest.mark.parametrize("k", [10, 100])
@pytest.mark.parametrize("forms", [1, 40, 700])
def test_kernels_keep_to_the_memory_that_they_asked_for(many, monkeypatch, k, forms):
    """Behind as many numbers as a query was said to need, nothing is written."""
    snapshot, oracle = many
    made = []

    def exact(words):
        numbers = np.full(words + 4_096, 7, np.int64)
        made.append((words, numbers))
        return ScratchBuffer(words, numbers, numbers.view(np.float64), numbers.data.cast("B"), numbers.ctypes.data)

    monkeypatch.setattr("periplus.index.retrieval.asking.scratch_of", exact)
    words = tuple(TermForm(f"w{number % 39}") for number in range(forms))
    for query in (
        IndexQuery(should=(Group(forms=words), *plain("w1"))),
        IndexQuery(must=(Group(forms=words), *plain("w0"))),
    ):
        wanted = sorted(oracle.search(query, 0.0).items(), key=lambda pair: (-pair[1], pair[0]))[:k]
        assert snapshot.top(query, k, prior_weight=0.0).scores.tolist() == [score for _, score in wanted]
    assert len(made) > 2
    assert all((numbers[words:] == 7).all() for words, numbers in made)
