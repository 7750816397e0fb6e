"""The codes of dictionary, lists and positions: what goes in comes out, and a slow search finds the same."""

import bisect
import itertools
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY

from periplus.core.format.heads import list_of, unpack_windows
from periplus.errors import StorageError
from periplus.index.format.dictionary import Dictionary, DictionaryWriter, JoinedTerms
from periplus.index.format.files import ArrayFile, ArrayFileWriter
from periplus.index.format.positions import Positions, PositionsWriter
from periplus.index.format.postings import BEST_RANKS, Postings, PostingsWriter

terms_of_all_kinds = st.lists(
    st.one_of(
        st.binary(min_size=1, max_size=64),
        st.text("ab", min_size=1, max_size=40).map(str.encode),
        st.tuples(st.sampled_from(["~", "interna", "x" * 20]), st.text("abc", max_size=20))
        .map("".join)
        .map(str.encode),
    ),
    max_size=120,
    unique=True,
).map(sorted)


def written_dictionary(folder, runs):
    file = ArrayFileWriter(folder / "terms.bin", "TERM")
    writer = DictionaryWriter(file)
    for run in runs:
        writer.append(JoinedTerms.of(run))
    writer.finish()
    file.close()
    return Dictionary(ArrayFile(folder / "terms.bin", "TERM"))


@PROPERTY
@given(terms_of_all_kinds, st.lists(st.integers(0, 120), max_size=3), st.binary(min_size=1, max_size=5))
def test_terms_are_found_and_read(tmp_path_factory, terms, cuts, other):
    bounds = [0, *sorted(min(cut, len(terms)) for cut in cuts), len(terms)]
    runs = [terms[low:high] for low, high in itertools.pairwise(bounds)]
    dictionary = written_dictionary(tmp_path_factory.mktemp("terms"), runs)
    assert len(dictionary) == len(terms)
    assert dictionary.terms(0, len(terms)) == terms
    assert [dictionary.term(number) for number in range(len(terms))] == terms
    for low in range(0, len(terms), 7):
        assert dictionary.terms(low, low + 3) == terms[low : low + 3]
    assert dictionary.find(terms).tolist() == list(range(len(terms)))
    for text in [other, other + b"\x00", *(term + b"a" for term in terms), *(term[:-1] for term in terms if term[:-1])]:
        place = bisect.bisect_left(terms, text)
        assert dictionary.lower_bound(text) == place
        assert dictionary.find([text]).tolist() == [place if terms[place : place + 1] == [text] else -1]
        low, high = dictionary.prefix_range(text)
        assert terms[low:high] == [term for term in terms if term.startswith(text)]


def steps_of(positions):
    return [second - first for first, second in zip([0, *positions], positions, strict=False)]


postings_of_all_kinds = st.lists(
    st.one_of(
        st.integers(0, 300).map(lambda position: [position]),
        st.lists(st.integers(0, 40), min_size=1, max_size=30, unique=True).map(sorted),
        st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True).map(sorted),
        st.just([0]),
    ),
    max_size=300,
)


@pytest.mark.parametrize("runs", [1, 3])
@PROPERTY
@given(postings=postings_of_all_kinds)
def test_positions_of_any_posting(tmp_path_factory, runs, postings):
    from periplus.core.build import copy_positions

    path = tmp_path_factory.mktemp("positions") / "positions.bin"
    file = ArrayFileWriter(path, "POSI")
    writer = PositionsWriter(file)
    coded = [steps_of(positions) for positions in postings]
    for run in np.array_split(np.arange(len(coded)), runs):
        part = [coded[place] for place in run.tolist()]
        writer.append(np.array([len(steps) for steps in part], np.uint32), np.array(list(chain(*part)), np.uint32))
    writer.finish()
    file.close()
    stored = Positions(ArrayFile(path, "POSI"), len(postings))
    assert stored.longest == max(map(len, postings), default=0)
    counts = np.array([len(steps) for steps in coded], np.int64)
    target = np.zeros(int(counts.sum()), np.uint32)
    ordinals = np.arange(len(coded), dtype=np.uint32)[::-1].copy()
    copy_positions(stored.tables, ordinals, (np.cumsum(counts) - counts)[::-1].copy(), target)
    assert target.tolist() == list(chain(*coded))


def slow_heads(frequencies, frequent_from):
    """First posting, how many, row of the window tables and first rare posting of every term."""
    first = rare = rows = 0
    for size in frequencies:
        is_frequent = size >= frequent_from
        yield first, size, rows if is_frequent else -1, rare
        first += size
        rare += 0 if is_frequent else size
        rows += is_frequent


@PROPERTY
@given(
    st.lists(st.one_of(st.integers(1, 12), st.integers(245, 265), st.integers(1, 70)), max_size=36),
    st.lists(st.integers(0, 60), max_size=3),
    st.integers(1, 70_000),
    st.randoms(use_true_random=False),
)
def test_lists_are_found_where_they_were_written(tmp_path_factory, frequencies, cuts, documents, random):
    documents = max([documents, *frequencies])
    lists = [sorted(random.sample(range(documents), size)) for size in frequencies]
    impacts = [random.choices(range(1, 256), k=len(found)) for found in lists]
    bounds = [0, *sorted(min(cut, len(lists)) for cut in cuts), len(lists)]
    path = tmp_path_factory.mktemp("postings") / "postings.bin"
    file = ArrayFileWriter(path, "POST")
    writer = PostingsWriter(file, documents)
    for low, high in itertools.pairwise(bounds):
        flat = list(chain.from_iterable(lists[low:high])), list(chain.from_iterable(impacts[low:high]))
        sizes = np.array(frequencies[low:high], np.uint32)
        writer.append(sizes, np.array(flat[0], np.uint32), np.array(flat[1], np.uint8))
    assert writer.finish() == sum(frequencies)
    file.close()
    postings = Postings(ArrayFile(path, "POST"), documents, len(lists))
    assert postings.frequencies(0, len(lists)).tolist() == frequencies
    ranked = [sorted(some, reverse=True) for some in impacts if len(some) >= 10]
    best = [[some[rank - 1] if rank <= len(some) else 0 for rank in BEST_RANKS] for some in ranked]
    assert postings.best.reshape(-1, 4).tolist() == best
    frequent_from = max(64, 4 * postings.windows)
    for term, (first, size, row, rare) in enumerate(slow_heads(frequencies, frequent_from)):
        assert list_of(postings.small, postings.blocks, postings.large, term) == (first, size, row, rare)
        assert postings.place[first : first + size].tolist() == [document & 255 for document in lists[term]]
        if row < 0:
            windows = np.empty(size, np.uint16)
            unpack_windows(postings.rare_window, postings.windows, rare, windows)
            assert windows.tolist() == [document >> 8 for document in lists[term]]


def test_more_postings_than_numbers_of_32_bits_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("periplus.index.format.postings.MAX_POSTINGS", 3)
    writer = PostingsWriter(ArrayFileWriter(tmp_path / "postings.bin", "POST"), 10)
    with pytest.raises(StorageError, match="at most 3 postings"):
        writer.append(np.array([4], np.uint32), np.arange(4, dtype=np.uint32), np.ones(4, np.uint8))
