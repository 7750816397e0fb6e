"""Questions and answers survive the wire, and hostile bytes are one clear error."""

from __future__ import annotations

import contextlib
import struct

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.cluster.codec import (
    FORMAT,
    METHODS,
    BadMessage,
    decode_answer,
    decode_question,
    encode_answer,
    encode_question,
)
from periplus.index import Filters, GivenStatistics, Group, IndexQuery
from periplus.ranking import PROFILES
from periplus.records import Total
from periplus.search.query.lexicon import KnownWord
from periplus.search.shards.counting import Counted
from periplus.search.shards.exchange import EVERYBODY, Excerpt, Hits, Order, ShardQuery, Visibility
from periplus.text import TermForm

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
whole = st.integers(-(2**63), 2**63 - 1)
numbers = st.lists(whole, max_size=6).map(lambda values: np.array(values, np.int64))
scores = st.lists(st.floats(), max_size=6).map(lambda values: np.array(values, np.float64))
forms = st.lists(st.builds(TermForm, texts, st.floats(0, 1)), max_size=3).map(tuple)
groups = st.lists(st.builds(Group, forms, st.lists(texts, max_size=3).map(tuple), texts), max_size=3).map(tuple)
filters = st.builds(Filters, st.lists(texts, max_size=2).map(tuple), before=st.floats(0, 1e10))
index_queries = st.builds(IndexQuery, groups, groups, groups, st.lists(groups, max_size=2).map(tuple), filters, filters)
counts = st.integers(0, 2**40)


@st.composite
def words(draw):
    own = draw(forms)
    return KnownWord(draw(texts), draw(st.floats(0, 9)), own, tuple(draw(counts) for _ in own), draw(st.floats(0, 9)))


@st.composite
def shard_queries(draw):
    query, own = draw(index_queries), tuple(draw(st.lists(words(), max_size=3)))
    terms = [form.term for word in own for form in word.forms]
    statistics = GivenStatistics(draw(counts), {term: draw(counts) for term in terms}, (1.5,) * 6)
    only = draw(st.none() | numbers)
    seen = (
        EVERYBODY
        if draw(st.booleans())
        else Visibility(draw(st.booleans()), frozenset(draw(st.lists(texts))), "", only)
    )
    profile = PROFILES[draw(st.sampled_from(sorted(PROFILES)))]
    return ShardQuery(
        query, own, statistics, profile, "date", draw(texts), draw(st.floats(0, 1e10)), 5.0, seen, draw(counts)
    )


def same(one, other):
    """Records with arrays in them do not compare by themselves."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if hasattr(one, "__struct_fields__"):
        return type(one) is type(other) and all(same(getattr(one, f), getattr(other, f)) for f in one.__struct_fields__)
    return one == other


@given(shard_queries(), numbers, numbers)
def test_questions_arrive_as_they_were_asked(asked, own, named):
    found, *rest = decode_question("score", encode_question((asked, own, named)), 5.0)
    assert same(rest[0], own)
    assert same(rest[1], named)
    for name in ("query", "words", "profile", "order", "language", "now", "deadline", "visibility"):
        assert same(getattr(found, name), getattr(asked, name)), name
    terms = [form.term for word in asked.words for form in word.forms]
    assert found.statistics.frequencies(terms) == asked.statistics.frequencies(terms)
    assert found.statistics.documents == asked.statistics.documents
    assert tuple(found.statistics.average_lengths) == tuple(asked.statistics.average_lengths)


@given(numbers, scores, counts, st.booleans())
def test_hits_arrive_as_they_were_found(own, values, total, is_whole):
    hits = Hits(own, values, values, own, own, values, Total(total, "gte"), is_whole, Order(values, own))
    found = decode_answer("top", encode_answer(hits))
    assert same(found, hits)
    found.scores[:] = 1.0  # the broker writes into what it was given


@given(texts, st.lists(st.tuples(counts, counts), max_size=3).map(tuple))
def test_excerpts_and_counts_arrive(text, highlights):
    excerpt = Excerpt(text, text, text, text, text, text, highlights, text, None, text, text)
    assert decode_answer("show", encode_answer([excerpt])) == [excerpt]
    counted = Counted({text: 3}, {}, {}, {"2026": 1}, whole=True)
    assert decode_answer("counted", encode_answer(counted)) == counted


@given(st.sampled_from(sorted(METHODS)), st.binary(max_size=200), st.booleans())
def test_hostile_bytes_are_one_clear_error(method, data, is_formatted):
    data = FORMAT + data if is_formatted else data
    for decode in (decode_question, decode_answer):
        with contextlib.suppress(BadMessage):
            decode(method, data)


@given(shard_queries(), st.data())
def test_cut_and_changed_messages_are_refused_or_read(asked, data):
    message = bytearray(encode_question((asked, 10, 5, True)))
    place = data.draw(st.integers(0, len(message) - 1))
    with pytest.raises(BadMessage):
        decode_question("top", bytes(message[:place]))
    message[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(BadMessage):
        decode_question("top", bytes(message))


@pytest.mark.parametrize("shape", [(2**31, 2**31, 4), (0, 2**32 - 1, 9), (5,)])
def test_an_array_that_says_more_than_it_has_is_refused(shape):
    data = struct.pack(f"<BB{len(shape)}I", 1, len(shape), *shape) + b"\0" * 8
    message = FORMAT + msgspec.msgpack.encode([msgspec.msgpack.Ext(1, data)])
    with pytest.raises(BadMessage, match="array"):
        decode_question("ids", message)


def test_an_array_of_another_type_is_refused():
    with pytest.raises(BadMessage, match="int64 was expected"):
        decode_question("ids", encode_question((np.zeros(3),)))
