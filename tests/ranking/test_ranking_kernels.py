"""The kernel of places says what the plain functions of ``features`` and ``plain_features`` say."""

from __future__ import annotations

import numpy as np
import plain_features
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.core.score import COLUMNS, places
from periplus.ranking import WordPlaces, features
from periplus.ranking.evidence import ADDRESS, BODY, HEADINGS, TITLE

WORDS = 4
HOST = 8.0


def by_hand(seen, row, weights, length):
    title, body, headings, address = (seen[field][row] for field in (TITLE, BODY, HEADINGS, ADDRESS))
    words = len(weights)
    in_title = len({position for position, _ in title})
    share = in_title / max(length, 1.0, in_title)
    return [
        plain_features.nearness(body, weights),
        features.phrase_share(body, words) if words > 1 else 0.0,
        plain_features.passage(title, body, weights) ** 2,
        features.phrase_share(headings, words),
        plain_features.telling_subsequence(title, weights),
        share**2,
        len({word for position, word in address if position < HOST}) / words,
        len({word for position, word in address if position >= HOST}) / words,
    ]


def sightings(words):
    pairs = st.sets(st.tuples(st.integers(0, 30), st.integers(0, words - 1)), max_size=14)
    return pairs.map(lambda found: tuple(sorted(found)))


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, WORDS), st.integers(1, 3))
def test_every_feature_is_that_of_the_plain_function(data, words, count):
    seen = {
        field: tuple(data.draw(sightings(words)) for _ in range(count)) for field in (TITLE, BODY, HEADINGS, ADDRESS)
    }
    weights = data.draw(st.lists(st.floats(0.0, 5.0), min_size=words, max_size=words))
    where = WordPlaces.of(seen, count)
    table = np.zeros(count * len(COLUMNS))
    lengths = np.arange(3.0, 3.0 + count)
    places(
        where.ends.reshape(-1),
        where.positions,
        where.words,
        np.array(weights),
        lengths,
        np.full(count, HOST),
        features.NEAR_WINDOW,
        features.SWAPPED,
        table,
    )
    for row, found in enumerate(table.reshape(count, len(COLUMNS)).tolist()):
        assert found == pytest.approx(by_hand(seen, row, weights, float(lengths[row])), abs=1e-9)


def test_places_give_back_what_they_were_made_of():
    seen = {BODY: (((3, 0), (4, 1)), ()), TITLE: ((), ((0, 1),))}
    where = WordPlaces.of(seen, 2)
    assert where.seen(BODY) == seen[BODY]
    assert where.seen(TITLE) == seen[TITLE]
    assert where.seen(ADDRESS) == ((), ())
    assert WordPlaces.none(2).seen(BODY) == ((), ())
