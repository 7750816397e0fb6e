"""Merges run beside writers and readers and change nothing but the files."""

from pathlib import Path

import numpy as np
import pytest
from index_world import make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.publishing import upkeep

WORDS = [f"w{number}" for number in range(40)]


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def check(store, documents):
    with store.open() as snapshot:
        oracle = Oracle(documents, snapshot.manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        assert snapshot.live == len(documents)
        expected = sorted(oracle.search(word("w0", "w3")).items(), key=lambda pair: (-pair[1], pair[0]))
        hits = snapshot.top(word("w0", "w3"), 500)
        assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in expected]
        assert hits.scores.tolist() == [score for _, score in expected]


@pytest.fixture
def documents():
    random = np.random.default_rng(21)
    return [random_document(random, number, WORDS) for number in range(100)]


@pytest.fixture
def store(tmp_path, documents):
    """Eight segments of ten documents, one too many."""
    store = IndexStore(tmp_path / "index")
    for number in range(8):
        rows = documents[10 * number : 10 * number + 10]
        store.update([(number + 1, rows)], prior=prior_of_keys, merge=False)
    return store


def interrupted(monkeypatch, what):
    """Do something once, after a merge was written and before it is published."""
    real, calls = upkeep.merge, []

    def merging(*arguments):
        order = real(*arguments)
        if not calls:
            calls.append(what())
        return order

    monkeypatch.setattr(upkeep, "merge", merging)


def test_an_update_does_not_wait_for_merges(store, documents):
    assert len(store.manifest().segments) == 8
    check(store, documents[:80])
    merged = store.merge()
    assert len(merged.segments) == 1
    assert store.merge() is None
    check(store, documents[:80])


def test_merged_segments_are_let_go_of(store):
    """Files that are removed but still mapped would take up the disk until the process ends."""
    before = {entry.name for entry in store.manifest().segments}
    store.merge()
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert not [name for name in before if name in mapped]


def test_what_a_writer_does_meanwhile_is_kept(store, documents, monkeypatch):
    other = IndexStore(store._generations.segments.parent)
    newer = make_document(5, "w0 w0 newer")
    rows = [newer, make_document(17, refusal="gone"), *documents[80:]]
    interrupted(monkeypatch, lambda: other.update([(9, rows)], prior=prior_of_keys, merge=False))
    store.merge()
    assert store.manifest().last_batch == 9
    assert len(store.manifest().segments) == 2
    gone = {make_document(5).key, make_document(17).key}
    check(store, [*(document for document in documents if document.key not in gone), newer])
    assert {path.name for path in store._generations.segments.iterdir()} == {
        entry.name for entry in store.manifest().segments
    }


def test_a_merge_of_what_was_rebuilt_is_thrown_away(store, documents, monkeypatch):
    other = IndexStore(store._generations.segments.parent)
    rows = [(1, documents[:30])]
    interrupted(monkeypatch, lambda: other.rebuild(rows, prior=prior_of_keys, merge=False))
    store.merge()
    assert not any(store._generations.merging_folder.iterdir())
    check(store, documents[:30])


def test_priors_set_meanwhile_are_kept(store, documents, monkeypatch):
    store.refresh_prior(None)
    interrupted(monkeypatch, lambda: IndexStore(store._generations.segments.parent).refresh_prior(prior_of_keys))
    store.merge()
    assert len(store.manifest().segments) == 1
    check(store, documents[:80])


def test_a_crash_while_merging_loses_nothing(store, documents, monkeypatch):
    def crash():
        raise KeyboardInterrupt

    interrupted(monkeypatch, crash)
    with pytest.raises(KeyboardInterrupt):
        store.merge()
    monkeypatch.undo()
    assert any(store._generations.merging_folder.iterdir())
    check(store, documents[:80])
    store.merge()
    assert not any(store._generations.merging_folder.iterdir())
    check(store, documents[:80])


def test_only_one_merges(store):
    with store._generations.merging() as is_alone:
        assert is_alone
        assert store.merge() is None
    assert store.merge() is not None


def test_a_new_epoch_when_documents_have_grown_longer(tmp_path, monkeypatch):
    store = IndexStore(tmp_path / "index")
    short = [make_document(number, "w0 w3") for number in range(4)]
    long = [make_document(number, "w0 " + "w3 w5 " * 30) for number in range(10, 30)]
    late = make_document(40, "w3 late")
    first = store.update([(1, short)], prior=prior_of_keys)
    grown = store.update([(2, long)], prior=prior_of_keys, merge=False)
    assert grown.epoch == first.epoch
    other = IndexStore(tmp_path / "index")
    interrupted(monkeypatch, lambda: other.update([(3, [late])], prior=prior_of_keys, merge=False))
    renewed = store.merge()
    assert renewed.epoch.number == first.epoch.number + 1
    assert renewed.documents == 25
    check(store, [*short, *long, late])


def test_no_new_epoch_when_they_have_not(tmp_path):
    store = IndexStore(tmp_path / "index")
    first = store.update([(1, [make_document(number, "w0 w3") for number in range(4)])])
    later = store.update([(2, [make_document(number, "w5 w3") for number in range(4, 40)])])
    assert later.epoch == first.epoch
