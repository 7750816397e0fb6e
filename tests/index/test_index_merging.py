"""A merge gives the same bytes whatever memory it has, and takes no more of that for more documents."""

import multiprocessing
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY, make_document, random_document

from periplus.index import IndexStore
from periplus.index.format import files, texts
from periplus.index.format.aligned import aligned_ranges
from periplus.index.format.norms import Epoch
from periplus.index.merging.merged_order import Source
from periplus.index.merging.merging import merge

WORDS = [f"w{number}" for number in range(300)]
PLENTY, HARDLY_ANY = 1 << 30, 1


def store_of(folder, parts):
    store = IndexStore(folder)
    for number, rows in enumerate(parts, 1):
        store.update([(number, rows)], merge=False)
    return store


def sources_of(store):
    with store._writing() as session:
        return [Source(part.segment, part.alive) for part in session.parts], session.epoch


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Segments of all sizes, one with a dictionary of texts; some documents were replaced or are gone."""
    random = np.random.default_rng(5)
    parts = [
        [random_document(random, int(number), WORDS) for number in random.permutation(4_000)[:size]]
        for size in (1_200, 700, 90, 1, 300)
    ]
    gone = [make_document(number, refusal="gone") for number in range(0, 4_000, 7)]
    store = store_of(tmp_path_factory.mktemp("sources") / "index", [*parts, gone])
    return sources_of(store)


@pytest.mark.parametrize("renewed", [False, True], ids=["same-epoch", "new-epoch"])
def test_a_merge_with_hardly_any_memory_gives_the_same_bytes(tmp_path, sources, renewed):
    segments, epoch = sources
    if renewed:
        epoch = Epoch(number=epoch.number + 1, documents=9, averages=(2.0, 3.0, 20.0, 1.0, 4.0, 2.0))
    orders = [merge(tmp_path / str(memory), segments, epoch, memory) for memory in (PLENTY, HARDLY_ANY)]
    assert len(orders[0]) == sum(source.live for source in segments) < sum(len(source.alive) for source in segments)
    assert files_of(tmp_path / str(PLENTY)) == files_of(tmp_path / str(HARDLY_ANY))
    assert {path.name for path in tmp_path.iterdir()} == {str(PLENTY), str(HARDLY_ANY)}  # nothing else is left


def test_a_merge_is_what_a_build_of_the_same_documents_is(tmp_path):
    random = np.random.default_rng(6)
    rows = [random_document(random, number, WORDS) for number in range(1_500)]
    parts = store_of(tmp_path / "parts", [rows[:400], rows[400:401], rows[401:]])
    segments, epoch = sources_of(parts)
    whole = IndexStore(tmp_path / "whole")
    with whole._writing() as session:
        session.epoch = epoch
        session.take(rows)
        session.publish()
    merge(tmp_path / "merged", segments, epoch, HARDLY_ANY)
    (built,) = (tmp_path / "whole" / "segments").iterdir()
    assert files_of(tmp_path / "merged") == files_of(built)


def peak_of_a_merge(folder, size):
    """Bytes that the merge of so many documents takes at most, in this process.

    Buffers have fixed sizes; those of what waits to be written are made small here.
    """
    files.KEPT_BYTES, texts.FRAMES_TOGETHER = 1 << 10, 1 << 6
    rows = [make_document(number, f"name{number} w1 w2 w3 w{number % 77}") for number in range(size)]
    segments, epoch = sources_of(store_of(folder / "parts", [rows[place::4] for place in range(4)]))
    merge(folder / "before", segments, epoch, 1 << 17)  # kernels are loaded, perhaps compiled
    peaks = []
    for turn in range(2):  # the interpreter's table of names grows by megabytes at some moment, but not in both
        tracemalloc.start()
        merge(folder / f"merged-{turn}", segments, epoch, 1 << 17)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


def test_memory_of_a_merge_does_not_grow_with_documents(tmp_path):
    """In processes of their own: threads of other tests would be counted too."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        few, many = (processes.apply(peak_of_a_merge, (tmp_path / str(size), size)) for size in (3_000, 15_000))
    assert few < 5_000_000
    assert many < few + 1_000_000  # five times the documents


class Numbers:
    """Numbers that weigh themselves."""

    def __init__(self, values):
        self._values = values
        self.weight = sum(values)

    def __len__(self):
        return len(self._values)

    def at(self, place):
        return self._values[place]

    def before(self, value):
        return sum(one < value for one in self._values)

    def reach(self, low, share):
        return low + int(np.searchsorted(np.cumsum(self._values[low:]), share, "right"))


@PROPERTY
@given(
    st.lists(st.lists(st.integers(1, 60), unique=True).map(sorted), min_size=1, max_size=5),
    st.integers(1, 200),
)
def test_ranges_hold_the_same_values_and_no_more_than_they_may(lists, most):
    sequences = [Numbers(values) for values in lists]
    before = 0
    ends = [0] * len(lists)
    for ranges in aligned_ranges(sequences, most):
        assert [low for low, _ in ranges] == ends
        held = [values[low:high] for values, (low, high) in zip(lists, ranges, strict=True)]
        every = [value for some in held for value in some]
        assert every
        assert min(every) > before
        assert sum(every) <= most + len(lists) or len(set(every)) == 1  # each sequence has a share of at least one
        before, ends = max(every), [high for _, high in ranges]
    assert ends == [len(values) for values in lists]
