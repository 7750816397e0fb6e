"""The store: batches are a log, generations are whole, merges change nothing but the files."""

import numpy as np
import pytest
from index_world import make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.errors import DatabaseBusy, NotFound, NotReady, UsageError
from periplus.index import FIELDS, Group, IndexQuery, IndexStore, TermForm
from periplus.index.format.marks import NEWS, UNFIT
from periplus.index.merging.merging import TIER_FACTOR
from periplus.index.publishing.generations import Generations
from periplus.records import Anchor, Heading


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def found(store, *terms):
    with store.open() as snapshot:
        hits = snapshot.top(word(*terms), 100)
        return {snapshot.stored(number).url for number in hits.numbers.tolist()}


def test_nothing_is_published_yet(store):
    assert store.manifest() is None
    with pytest.raises(NotReady):
        store.open()


def test_an_empty_update_publishes_an_empty_generation(store):
    assert store.update([]).generation == 1
    with store.open() as snapshot:
        assert snapshot.live == 0
        assert snapshot.top(word("tide"), 10).total.value == 0
        assert snapshot.numbers().tolist() == []
        assert snapshot.prefix("t", 5) == []
        assert snapshot.find(1) is None


def test_later_rows_win(store):
    old, new = make_document(1, "tide"), make_document(1, "chart")
    store.update([(1, [old, new])])
    assert found(store, "tide") == set()
    assert found(store, "chart") == {new.url}
    store.update([(2, [make_document(1, "port")])])
    assert found(store, "chart") == set()
    assert found(store, "port") == {new.url}
    with store.open() as snapshot:
        assert snapshot.live == 1
        assert snapshot.frequency("chart") == 0


def test_refused_rows_delete(store):
    store.update([(1, [make_document(1, "tide"), make_document(2, "tide")])])
    store.update([(2, [make_document(1, refusal="noindex")])])
    assert found(store, "tide") == {make_document(2).url}
    store.update([(3, [make_document(2, refusal="gone"), make_document(2, "tide again")])])
    assert found(store, "again") == {make_document(2).url}
    store.update([(4, [make_document(2, "tide"), make_document(2, refusal="gone")])])
    assert found(store, "tide") == set()


def test_nothing_new_is_no_new_generation(store):
    batches = [(1, [make_document(1, "tide")]), (2, [])]
    first = store.update(batches)
    assert (first.generation, first.last_batch) == (1, 2)
    assert store.update(batches) == first
    assert store.update([]) == first
    assert store.update([*batches, (3, [])]).last_batch == 3


def test_removing_documents(store):
    store.update([(1, [make_document(number, "tide") for number in range(5)])])
    manifest = store.remove([make_document(1).key, make_document(3).key, 12345])
    assert manifest.documents == 3
    assert manifest.last_batch == 1
    assert found(store, "tide") == {make_document(number).url for number in (0, 2, 4)}


def test_progress_is_told(store):
    told = []
    store.update([(1, [make_document(number) for number in range(3)])], progress=told.append)
    assert told == [1, 2, 3]


def test_prior_moves_without_indexing(store):
    documents = [make_document(number, "tide") for number in range(6)]
    first = store.update([(1, documents)])
    with store.open() as snapshot:
        assert snapshot.losses.codes == ("ranks",)
    second = store.refresh_prior(prior_of_keys)
    assert [entry.name for entry in second.segments] == [entry.name for entry in first.segments]
    with store.open() as snapshot:
        assert snapshot.losses.codes == ()
        hits = snapshot.top(word("tide"), 6)
        priors = snapshot.column("prior", hits.numbers)
        assert priors.tolist() == sorted(map(make_prior, documents), reverse=True)
    store.refresh_prior(None)
    with store.open() as snapshot:
        assert snapshot.losses.codes == ("ranks",)


def test_marks_fingerprints_and_facts_survive_merges(store):
    article = {"@type": "Article", "datePublished": "2025-03-01", "author": "A. Pilot"}
    for number in range(1, TIER_FACTOR + 1):
        kept = make_document(number, "tide", fingerprint=-number, signals={"adult_words": 0.2} if number % 2 else {})
        told = make_document(100 + number, "port", structured=(article | {"publisher": f"Log {number}"},))
        store.update([(number, [kept, told])], merge=False)
    store.remove([make_document(101).key])
    store.merge()
    with store.open() as snapshot:
        assert snapshot.segments == 1
        numbers = np.array([snapshot.find(make_document(n).key) for n in range(1, TIER_FACTOR + 1)])
        assert snapshot.column("fingerprint", numbers).tolist() == [-n for n in range(1, TIER_FACTOR + 1)]
        assert snapshot.column("marks", numbers).tolist() == [UNFIT * (n % 2) for n in range(1, TIER_FACTOR + 1)]
        for n in range(2, TIER_FACTOR + 1):
            place = snapshot.find(make_document(100 + n).key)
            assert snapshot.column("marks", [place]).tolist() == [NEWS]
            assert snapshot.facts(place, "news") == {"source": f"Log {n}", "author": "A. Pilot"}
            assert snapshot.facts(place, "places") == {}


def test_an_old_prior_survives_merges(store):
    documents = [make_document(number, "tide") for number in range(20)]
    store.update([(1, documents)], prior=prior_of_keys)
    for number in range(10):
        store.update([(number + 2, [make_document(100 + number, "port")])])
    with store.open() as snapshot:
        numbers = np.array([snapshot.find(document.key) for document in documents])
        assert snapshot.column("prior", numbers).tolist() == list(map(make_prior, documents))


def test_anchors_are_indexed(store):
    document = make_document(1, "harbour")
    store.update([(1, [document])], anchors=lambda page: (Anchor("safe haven", 9),))
    with store.open() as snapshot:
        (number,) = snapshot.numbers().tolist()
        row = snapshot.frequencies(number, ["haven"])[0]
        assert row[FIELDS.index("anchors")] == 4  # nine sites: as often as nine has bits
        assert row.sum() == 4


def test_what_is_stored_comes_back(store):
    document = make_document(
        7,
        "Body text.\nSecond paragraph.",
        title="A title",
        description="about",
        headings=(Heading(1, "One"), Heading(2, "Two")),
        language="en",
        published=5.0,
        author="Somebody",
        noarchive=True,
    )
    imported = make_document(8, "text", url="id:doc-8", id="doc-8")
    store.update([(1, [document, imported])])
    with store.open() as snapshot:
        stored = snapshot.stored(snapshot.find(document.key))
        assert (stored.url, stored.title, stored.text) == (document.url, document.title, document.text)
        assert stored.headings == document.headings
        assert (stored.host, stored.site) == ("b.example.org", "example.org")
        assert (stored.author, stored.noarchive, stored.published) == ("Somebody", True, 5.0)
        assert stored.id == f"{document.key & (2**64 - 1):016x}"
        other = snapshot.stored(snapshot.find(imported.key))
        assert (other.id, other.host, other.site) == ("doc-8", "", "")
        numbers = snapshot.numbers()
        assert snapshot.ids(numbers) == [snapshot.stored(number).id for number in numbers.tolist()]
        assert snapshot.stored_many(numbers[::-1].tolist()) == [snapshot.stored(n) for n in numbers[::-1].tolist()]
        assert snapshot.stored_many([]) == []
        assert snapshot.ids(numbers[:0]) == []
        with pytest.raises(NotFound):
            snapshot.stored(99)
        with pytest.raises(NotFound):
            snapshot.column("nonsense", snapshot.numbers())
        with pytest.raises(UsageError):
            snapshot.top(word("text"), 3, order="size")


def test_many_small_updates_equal_one_large(store, tmp_path):
    random = np.random.default_rng(3)
    words = [f"w{number}" for number in range(80)]
    documents = [random_document(random, number, words) for number in range(120)]
    for number in range(30):
        store.update([(number + 1, documents[4 * number : 4 * number + 4])], prior=prior_of_keys)
    whole = IndexStore(tmp_path / "whole")
    whole.update([(1, documents)], prior=prior_of_keys)
    with store.open() as many, whole.open() as one:
        assert len(many.manifest.segments) < 10
        assert many.live == one.live == 120
        assert [stored.id for stored in many.stored_many(many.numbers().tolist())] == many.ids(many.numbers())
        assert many.ids(many.numbers()) == [many.stored(number).id for number in many.numbers().tolist()]
        oracle = Oracle(documents, many.manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        for term in ("w0", "w3", "w40"):
            assert many.frequency(term) == one.frequency(term) == oracle.frequency(term)
            hits = many.top(word(term, "w1"), 50)
            expected = sorted(oracle.search(word(term, "w1")).items(), key=lambda pair: (-pair[1], pair[0]))[:50]
            assert many.column("key", hits.numbers).tolist() == [key for key, _ in expected]
            assert hits.scores.tolist() == [score for _, score in expected]


def test_little_memory_gives_more_segments_and_the_same_answers(tmp_path):
    random = np.random.default_rng(5)
    words = [f"w{number}" for number in range(60)]
    documents = [random_document(random, number, words) for number in range(200)]
    store = IndexStore(tmp_path / "small", memory=60_000)
    generations = store.update([(1, documents[:120]), (2, documents[120:])]).generation
    assert generations >= 2
    with store.open() as snapshot:
        oracle = Oracle(documents, snapshot.manifest.epoch)
        expected = sorted(oracle.search(word("w0", "w5")).items(), key=lambda pair: (-pair[1], pair[0]))
        hits = snapshot.top(word("w0", "w5"), 200)
        assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in expected]


def test_rebuilding_starts_a_new_epoch(store):
    store.update([(1, [make_document(1, "tide"), make_document(2, "port " * 50)])])
    before = store.manifest()
    after = store.rebuild([(1, [make_document(1, "tide")]), (2, [make_document(3, "chart")])])
    assert after.generation == before.generation + 1
    assert after.epoch.number > before.epoch.number
    assert after.last_batch == 2
    assert found(store, "port") == set()
    assert found(store, "tide", "chart") == {make_document(1).url, make_document(3).url}


def test_documents_stand_in_address_order(store):
    store.update([(1, [make_document(number) for number in (5, 2, 9, 0, 7)])])
    with store.open() as snapshot:
        urls = [snapshot.stored(number).url for number in snapshot.numbers().tolist()]
        assert urls == sorted(urls)


def test_only_one_writes(store, tmp_path):
    with Generations(tmp_path / "index").writing(), pytest.raises(DatabaseBusy):
        store.update([(1, [make_document(1)])])


def test_frequencies_positions_and_lengths(store):
    document = make_document(1, "tide and tide again", title="the tide", headings=(Heading(1, "High tide"),))
    store.update([(1, [document])])
    with store.open() as snapshot:
        number = snapshot.find(document.key)
        table = snapshot.frequencies(number, ["tide", "~tide", "nowhere", "the"])
        assert table[0].tolist() == table[1].tolist() == [1, 1, 2, 0, 0, 0]
        assert table[2].tolist() == [0] * 6
        assert table[3].tolist() == [1, 0, 0, 0, 0, 0]
        assert snapshot.positions(number, "tide").tolist() == [0, 2]
        assert snapshot.positions(number, "tide", "title").tolist() == [1]
        assert snapshot.positions(number, "nowhere").tolist() == []
        assert snapshot.lengths(number).tolist()[:3] == [2, 2, 4]
        assert snapshot.column("max_frequency", [number]).tolist() == [4]
        assert snapshot.average_lengths.tolist()[:3] == [2.0, 2.0, 4.0]
        assert snapshot.column("words", snapshot.numbers()).tolist() == [4]


def test_prefixes_give_words_by_frequency(store):
    texts = ["tide tides", "tide tidal", "tide tunnel", "tides"]
    store.update([(1, [make_document(number, text, language="en") for number, text in enumerate(texts)])])
    store.update([(2, [make_document(9, "tidal"), make_document(0, refusal="gone")])])
    with store.open() as snapshot:
        assert snapshot.prefix("ti", 3) == [("tidal", 2), ("tide", 2), ("tides", 1)]
        assert snapshot.prefix("ti", 1) == [("tidal", 2)]
        assert snapshot.prefix("zz", 3) == []
        assert all(not term.startswith("~") for term, _ in snapshot.prefix("", 50))


def test_names_of_columns(store):
    store.update([(1, [make_document(number, language="en") for number in range(2)])])
    store.update([(2, [make_document(2, language="de"), make_document(4, language="en")])])
    with store.open() as snapshot:
        numbers = snapshot.numbers()
        hosts = [snapshot.host_names()[host] for host in snapshot.column("host", numbers)]
        assert hosts == [snapshot.stored(number).host for number in numbers.tolist()]
        languages = [snapshot.language_names()[language] for language in snapshot.column("language", numbers)]
        assert languages == [snapshot.stored(number).language for number in numbers.tolist()]
        assert snapshot.site_names() == ["example.org"]
        assert snapshot.type_names() == ["text/html"]


def test_an_update_that_fails_is_as_if_it_had_never_been(tmp_path):
    store = IndexStore(tmp_path / "index", memory=20_000)
    store.update([(1, [make_document(1, "tide")])])

    def broken():
        for number in range(30):
            yield make_document(number, "port")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.update([(2, broken())])
    assert found(store, "port") == set()
    assert found(store, "tide") == {make_document(1).url}
    store.update([(2, [make_document(number, "chart") for number in range(30)])])
    assert len(found(store, "chart")) == 30
    assert found(store, "tide", "port") == set()
