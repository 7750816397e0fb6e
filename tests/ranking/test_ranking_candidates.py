"""What the kernel of candidates reads of an index: postings found and positions read, against the plain way."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.core.format import pack
from periplus.core.layout.lists import COUNT, DOCUMENTS, FIRST, LENGTH, LIST_HEAD, LIST_ROW, MAXIMA, STARTS, TABLES
from periplus.core.layout.segments import PLACE, ROW, WINDOWS
from periplus.core.machine.arrays import at_i64
from periplus.core.score.postings import SCANNED, find, room_of
from periplus.core.score.term_positions import LANES, gathered, laid_out, merged, read, seek

FIELDS = 6
WINDOW = 256
TAIL = 64  # bytes that kernels may read beyond an array


@pytest.fixture(scope="module")
def find_all():
    @numba.njit
    def call(table_at, segments, numbers_at, candidates, lists_at, terms, postings_at, memory_at):
        table, numbers = at_i64(table_at, segments * ROW), at_i64(numbers_at, candidates)
        find(table, numbers, at_i64(lists_at, terms), terms, at_i64(postings_at, terms * candidates), memory_at)

    return call


@pytest.fixture(scope="module")
def read_all():
    """Places of some postings of one document, as ``features_of`` takes them; how many of each are in each field."""

    @numba.njit
    def call(blocks_at, postings, labels, starts, most, longest, counts, ends, positions, words):
        room = len(postings) * longest + LANES
        steps, one, other = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        firsts, run_ends = np.empty(FIELDS + 1, np.int64), np.empty(len(postings), np.int64)
        size, runs = np.int64(0), 0
        for i in range(len(postings)):
            begin, width, first, count = seek(blocks_at[i], postings[i])
            read(begin, first * width, width, count, np.int64(starts.ctypes.data), np.int64(steps.ctypes.data), firsts)
            there = np.int64(0)
            for field in range(FIELDS):
                counts[i * FIELDS + field] = firsts[field + 1] - firsts[field]
                there |= np.int64(firsts[field + 1] > firsts[field]) << field
            size = gathered(steps, firsts, np.int64(starts.ctypes.data), there, labels[i], most, one, size)
            run_ends[runs] = size
            runs += 1
        is_other = merged(one, other, run_ends, runs)
        laid_out(other if is_other else one, run_ends[0], ends, positions, words)

    return call


class Lists:
    """Lists of documents, segment by segment, as ``core.layout.lists`` lays them out."""

    def __init__(self, windows, terms):
        self.kept, segments = [], len(windows)
        self.table = np.zeros(segments * ROW, np.int64)
        before = np.cumsum([0, *windows])
        places = [[] for _ in windows]
        self.addresses, self.where = [], {}
        for term, lists in enumerate(terms):
            rows, rare = np.zeros(segments * LIST_ROW + LIST_HEAD, np.int64), []
            for segment, (documents, is_rare) in enumerate(lists):
                own, first = rows[segment * LIST_ROW :], len(places[segment])
                own[FIRST], own[LENGTH] = first, len(documents)
                for at, document in enumerate(documents):
                    self.where[term, segment << 32 | document] = first + at
                places[segment] += [document % WINDOW for document in documents]
                if is_rare or not documents:
                    own[MAXIMA] = self.address([document // WINDOW for document in documents], np.uint16)
                    rare += [(int(before[segment]) * WINDOW) + document for document in documents]
                else:
                    ends = np.searchsorted(documents, np.arange(windows[segment] + 1) * WINDOW)
                    own[STARTS] = self.address(ends, np.uint32)
            head = rows[segments * LIST_ROW :]
            head[COUNT], head[TABLES] = len(rare), sum(1 for row in range(segments) if rows[row * LIST_ROW + STARTS])
            head[DOCUMENTS] = self.address(rare, np.uint32) if rare else 0
            self.addresses.append(self.address(rows, np.int64))
        for segment, own in enumerate(places):
            self.table[segment * ROW + PLACE] = self.address([*own, *[0] * TAIL], np.uint8)
            self.table[segment * ROW + WINDOWS] = windows[segment]

    def address(self, values, kind):
        self.kept.append(np.array(values, kind))
        return self.kept[-1].ctypes.data


@st.composite
def collections(draw):
    windows = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    generator = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        share = draw(st.sampled_from((0.0, 0.003, 0.05, 0.4, 1.0)))
        chosen = [np.flatnonzero(generator.random(count * WINDOW) < share).tolist() for count in windows]
        terms.append([(documents, draw(st.booleans())) for documents in chosen])
    every = [segment << 32 | document for segment, count in enumerate(windows) for document in range(count * WINDOW)]
    numbers = generator.choice(every, draw(st.sampled_from((0, 1, 2, 7, 100))), replace=False)
    return windows, terms, numbers.astype(np.int64)


@settings(max_examples=150, deadline=None)
@given(collections())
def test_postings_are_those_of_the_lists(find_all, collection):
    windows, terms, numbers = collection
    lists = Lists(windows, terms)
    postings = np.zeros(len(terms) * len(numbers), np.int64)
    memory, addresses = np.full(room_of(len(windows), len(numbers)), -7), np.array(lists.addresses, np.int64)
    find_all(
        lists.table.ctypes.data, len(windows), numbers.ctypes.data, len(numbers), addresses.ctypes.data, len(terms),
        postings.ctypes.data, memory.ctypes.data,
    )  # fmt: skip
    sought = [(term, number) for term in range(len(terms)) for number in numbers.tolist()]
    assert postings.tolist() == [lists.where.get(one, -1) for one in sought]


def test_long_and_short_lists_are_both_among_the_random_ones():
    """A list of one candidate is sought in, not gone through, from this many rare postings on."""
    assert 0.05 * 6 * WINDOW > SCANNED


def packed(postings):
    """Postings, each its positions, in blocks; and where these begin."""
    counts = np.array([len(positions) for positions in postings], np.uint32)
    steps = np.concatenate([np.diff(positions, prepend=0) for positions in postings]).astype(np.uint32)
    sizes = np.zeros(-(-len(postings) // 64), np.uint32)
    data = np.zeros(16 * len(sizes) + 9 * len(steps) + 8 + TAIL, np.uint8)
    pack(counts, steps, data, sizes)
    return data, data.ctypes.data + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


@st.composite
def documents(draw):
    """Where fields begin, postings of which some are this document's, and the words that these stand for."""
    lengths = draw(st.lists(st.sampled_from((0, 1, 5, 40, 3000)), min_size=FIELDS, max_size=FIELDS))
    starts = np.cumsum([0, *lengths])
    generator = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    sizes = generator.choice((1, 1, 1, 2, 3, 8, 9, 20, 400), draw(st.integers(1, 150)))
    if draw(st.booleans()):
        sizes[:] = 1
    highest = max(int(starts[-1]), 1)
    postings = [np.sort(generator.choice(highest, min(int(size), highest), replace=False)) for size in sizes]
    chosen = draw(st.lists(st.integers(0, len(postings) - 1), min_size=1, max_size=6, unique=True))
    labels = draw(st.lists(st.integers(0, 3), min_size=len(chosen), max_size=len(chosen)))
    return starts, postings, chosen, labels


@settings(max_examples=150, deadline=None)
@given(documents(), st.sampled_from((3, 200)))
def test_positions_are_counted_by_field_and_put_in_order(read_all, document, most):
    starts, postings, chosen, labels = document
    data, begins = packed(postings)
    longest = max(len(positions) for positions in postings)
    room = len(chosen) * longest + LANES
    counts, ends = np.zeros(len(chosen) * FIELDS, np.int64), np.zeros(FIELDS, np.int64)
    positions, words = np.zeros(room, np.uint32), np.zeros(room, np.uint32)
    blocks, which = begins[np.array(chosen) // 64], np.array(chosen, np.int64)
    own_labels = np.array(labels, np.int64)
    read_all(blocks, which, own_labels, starts.astype(np.uint32), most, longest, counts, ends, positions, words)
    places = set()
    for place, (posting, label) in enumerate(zip(chosen, labels, strict=True)):
        fields = np.clip(np.searchsorted(starts[1:], postings[posting], "right"), 0, FIELDS - 1)
        assert counts[place * FIELDS : (place + 1) * FIELDS].tolist() == np.bincount(fields, minlength=FIELDS).tolist()
        for field in range(FIELDS):
            seen = postings[posting][fields == field][:most]
            places |= {(field, int(position - starts[field]), label) for position in seen}
    assert ends.tolist() == [sum(1 for place in places if place[0] <= field) for field in range(FIELDS)]
    found = list(zip(positions[: len(places)].tolist(), words[: len(places)].tolist(), strict=True))
    assert found == [place[1:] for place in sorted(places)]
    assert len(data) > 0  # is kept until here
