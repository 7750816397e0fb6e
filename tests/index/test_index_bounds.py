"""A segment holds at most 16,777,216 documents: builds stop there, merges leave apart, nothing is written beyond."""

from types import SimpleNamespace

import numpy as np
import pytest
from index_world import random_document

from periplus.errors import StorageError
from periplus.index import IndexStore
from periplus.index.building import builder, inversion
from periplus.index.format.norms import Epoch
from periplus.index.format.postings import MAX_DOCUMENTS, PostingsWriter
from periplus.index.merging import merging
from periplus.index.publishing import upkeep, writing
from periplus.text import analyze
from periplus.text.words import ascii_pattern

WORDS = [f"w{number}" for number in range(10)]


@pytest.mark.parametrize("documents", [MAX_DOCUMENTS + 1, 1 << 40])
def test_a_segment_beyond_the_bound_is_refused(documents):
    with pytest.raises(StorageError, match="at most 16,777,216"):
        PostingsWriter(SimpleNamespace(stream=lambda *_: None), documents)


def test_more_words_than_a_segment_tells_apart_are_refused():
    starts = np.array([[0, 1, inversion.MAX_POSITIONS], [0, 1, 2]], np.uint32)
    with pytest.raises(StorageError, match="more than 268,435,455 words"):
        inversion.first_positions(starts)
    assert inversion.first_positions(starts[:1]).tolist() == [0, inversion.MAX_POSITIONS]


def test_a_build_begins_another_segment_before_its_positions_end(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "MAX_POSITIONS", 40)
    monkeypatch.setattr(builder, "WAITING_DOCUMENTS", 2)  # looked at whenever some are cut into words
    random = np.random.default_rng(3)
    store = IndexStore(tmp_path)
    store.update([(1, [random_document(random, number, WORDS) for number in range(10)])], merge=False)
    with store.open() as snapshot:
        assert snapshot.segments > 1
        assert snapshot.live == 10


def test_a_build_begins_another_segment_at_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MAX_DOCUMENTS", 4)
    random = np.random.default_rng(3)
    store = IndexStore(tmp_path)
    store.update([(1, [random_document(random, number, WORDS) for number in range(10)])], merge=False)
    with store.open() as snapshot:
        assert snapshot.segments == 3
        assert snapshot.live == 10


def sources(*sizes):
    return [SimpleNamespace(live=size, segment=SimpleNamespace(documents=size)) for size in sizes]


def test_merges_that_would_pass_the_bound_are_not_due():
    size = MAX_DOCUMENTS // 8
    assert merging.merges_due(sources(*[size] * 8)) == [list(range(8))]
    assert merging.merges_due(sources(*[size] * 7, size + 1)) == []


def test_a_merge_takes_small_segments_along():
    """They would cost every query a little, and the merge hardly more."""
    assert merging.merges_due(sources(*[30_000] * 7, 900, 2_779, 30_000)) == [list(range(10))]
    assert merging.merges_due(sources(*[900] * 8, 30_000)) == [list(range(8))]  # not the large ones
    assert merging.merges_due(sources(*[30_000] * 8, *[4_000] * 8)) == [list(range(16))]


def test_all_become_one_when_none_has_half_of_the_documents():
    assert merging.merges_due(sources(32_000, 6_000, 32_000, 5_000)) == [list(range(4))]
    assert merging.merges_due(sources(30_000, 20_000, 10_000)) == []  # it has half
    assert merging.merges_due(sources(30_000, 20_000, 10_001)) == [[0, 1, 2]]
    assert merging.merges_due(sources(7, 7)) == []
    assert merging.merges_due(sources()) == []


def test_a_growing_collection_is_written_anew_seldom():
    """A thousand updates of one size: few segments at any time, and each document is written a few times."""
    segments, written = [], 0
    for _ in range(1_000):
        segments.append(1_000)
        while due := merging.merges_due(sources(*segments)):
            places = due[0]
            written += sum(segments[place] for place in places)
            merged = sum(segments[place] for place in places)
            segments = [size for place, size in enumerate(segments) if place not in places] + [merged]
        assert len(segments) <= 3 * merging.TIER_FACTOR
    assert sum(segments) == 1_000_000
    assert written <= 3 * 1_000_000


def test_a_merge_leaves_what_is_not_small_beside_it():
    below, large = int(8 * 9_000 * merging.SMALL_SHARE) // 7, 500_000
    assert merging.merges_due(sources(large, *[9_000] * 8, *[below] * 7)) == [list(range(1, 16))]
    assert merging.merges_due(sources(large, *[9_000] * 8, *[below + 1] * 7)) == [list(range(1, 9))]
    size = MAX_DOCUMENTS // 8
    assert merging.merges_due(sources(*[size] * 8, 100)) == [list(range(8))]  # would pass the bound


def test_an_epoch_that_would_pass_the_bound_is_not_renewed():
    epoch = Epoch(number=1, documents=1_000, averages=(1.0,) * 6)
    totals = SimpleNamespace(live=MAX_DOCUMENTS, field_totals=lambda: np.full(6, 9.0 * MAX_DOCUMENTS))
    assert upkeep.renewed(epoch, [[totals]]).number == 2
    totals.live += 1
    assert upkeep.renewed(epoch, [[totals]]) is epoch
    assert upkeep.renewed(epoch, [[totals], [totals]]) is epoch
    totals.live -= 1
    assert upkeep.renewed(epoch, [[totals], [totals]]).documents == 2 * MAX_DOCUMENTS  # each shard is one segment


@pytest.mark.parametrize("text", ["tide tables", "  the port  of call ", "A1 b2 readFile", "x", "", "3 11 go"])
def test_plain_words_are_cut_as_the_pattern_cuts_them(text):
    cut = [(match[0], match.start(), match.end()) for match in ascii_pattern().finditer(text)]
    tokens = analyze(text, "en")
    assert [(text[token.start : token.end], token.start, token.end) for token in tokens] == cut
    assert [token.position for token in tokens] == list(range(len(cut)))
