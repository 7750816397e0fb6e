"""What changes after a document was indexed: anchor texts, many small updates; and batch access to occurrences."""

import numpy as np
from index_world import make_document, random_document

from periplus.index import FIELDS, Group, IndexQuery, IndexStore, TermForm
from periplus.records import Anchor, Heading

WORDS = [f"{letter}{number}" for letter in "abcdefgh" for number in range(8)]


def word(*terms, **more):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),), **more) for term in terms))


def urls(store, query):
    with store.open() as snapshot:
        return {snapshot.stored(number).url for number in snapshot.top(query, 100).numbers.tolist()}


def test_replaced_documents_carry_their_new_anchors(store):
    documents = [make_document(number, "tide") for number in range(5)]
    store.update([(7, documents)])
    manifest = store.replace(documents[1:3], anchors=lambda key: [Anchor("harbour guide", 3)])
    assert manifest.last_batch == 7
    assert manifest.documents == 5
    assert urls(store, word("harbour", field="anchors")) == {document.url for document in documents[1:3]}
    assert urls(store, word("tide")) == {document.url for document in documents}
    # Batches go on where they stood.
    assert store.update([(7, [make_document(9, "never")]), (8, [make_document(8, "port")])]).last_batch == 8
    assert urls(store, word("never", "port")) == {make_document(8).url}


def test_replacing_brings_nothing_back(store):
    gone, kept = make_document(1, "tide"), make_document(2, "tide")
    store.update([(1, [gone, kept])])
    store.update([(2, [make_document(1, refusal="gone")])])
    assert store.replace([gone, kept, make_document(3, "tide")]).documents == 1
    assert urls(store, word("tide")) == {kept.url}


def test_replacing_in_little_memory_ends_in_the_same(store, tmp_path):
    documents = [make_document(number, f"tide w{number}") for number in range(40)]
    store.update([(1, documents)])
    small = IndexStore(tmp_path / "index", memory=1)
    taken = []
    small.update([(1, documents)])
    small.replace(documents, anchors=lambda key: [Anchor("port", 1)], progress=taken.append)
    assert taken == list(range(1, 41))
    assert urls(small, word("port")) == urls(store, word("tide"))


def test_many_small_segments_answer_like_one(tmp_path):
    random = np.random.default_rng(3)
    documents = [random_document(random, number, WORDS) for number in range(60)]
    one, many = IndexStore(tmp_path / "one"), IndexStore(tmp_path / "many")
    one.update([(1, documents)])
    many.update([(1, documents)])
    many.rebuild([(1, documents)])
    for number, document in enumerate(documents[:20], 2):
        many.update([(number, [document])])
    with one.open() as left, many.open() as right:
        for terms in (("a0",), ("a0", "a1", "b3"), ("missing", "a2")):
            first, second = left.top(word(*terms), 10), right.top(word(*terms), 10)
            assert [left.stored(number).url for number in first.numbers.tolist()] == [
                right.stored(number).url for number in second.numbers.tolist()
            ]
            assert first.total == second.total
            assert np.allclose(first.scores, second.scores)


def test_occurrences_agree_with_single_lookups(store):
    random = np.random.default_rng(4)
    documents = [random_document(random, number, WORDS) for number in range(30)]
    store.update([(1, documents[:20])])
    store.update([(2, documents[20:])])
    terms, labels = ["a0", "a1", "missing", "b2"], [0, 1, 2, -1]
    with store.open() as snapshot:
        numbers = snapshot.numbers()[::-2].copy()
        found = snapshot.occurrences(numbers, terms, labels, FIELDS, 1000)
        assert np.array_equal(snapshot.lengths_of(numbers), [snapshot.lengths(number) for number in numbers.tolist()])
        begin = 0
        for row, number in enumerate(numbers.tolist()):
            assert np.array_equal(found.counts[row], snapshot.frequencies(number, terms))
            for place, field in enumerate(FIELDS):
                end = int(found.ends[row, place])
                wanted = sorted(
                    (position, label)
                    for term, label in zip(terms, labels, strict=True)
                    if label >= 0
                    for position in snapshot.positions(number, term, field).tolist()
                )
                assert sorted(zip(found.positions[begin:end], found.labels[begin:end], strict=True)) == wanted
                begin = end


def test_occurrences_keep_to_their_bounds(store):
    store.update([(1, [make_document(1, "tide " * 50, headings=(Heading(2, "tide"),))])])
    with store.open() as snapshot:
        found = snapshot.occurrences(snapshot.numbers(), ["tide"], [5], ("body",), 7)
        assert found.counts[0, 0, FIELDS.index("body")] == 50
        assert found.positions.tolist() == list(range(7))
        assert found.labels.tolist() == [5] * 7


def test_terms_that_are_forgotten_within_a_query_are_still_there_for_it(store, monkeypatch):
    """Kernels get addresses of what is known of terms, which must not be freed before they are read."""
    random = np.random.default_rng(5)
    store.update([(1, [random_document(random, number, WORDS) for number in range(80)])])
    queries = [word(*random.choice(WORDS, 6, replace=False)) for _ in range(40)]
    queries += [IndexQuery(must=query.should[:2]) for query in queries]
    with store.open() as snapshot:
        wanted = [snapshot.top(query, 20).numbers.tolist() for query in queries]
    monkeypatch.setattr("periplus.index.retrieval.terms.TERMS_KEPT", 1)
    with store.open() as snapshot:
        assert [snapshot.top(query, 20).numbers.tolist() for query in queries] == wanted
