"""Evidence of many candidates at once is what the index says of each."""

from __future__ import annotations

import numpy as np
import pytest
from search_samples import DOCUMENTS, anchors_of, build, page

from periplus.index import IndexStore
from periplus.index.format.fields import FIELDS

TERMS = ["tide", "~tide", "tables", "moon", "nowhere", "harbour"]
LABELS = [0, 0, 1, 2, 3, -1]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Two segments, so that candidates of both stand side by side."""
    folder = tmp_path_factory.mktemp("two")
    build(folder, DOCUMENTS[:6], 1, anchors=anchors_of)
    build(folder, [*DOCUMENTS[6:], page("https://far.example/", "Far", "tide " * 300 + "moon")], 2, anchors=anchors_of)
    opened = IndexStore(folder / "index").open()
    yield opened
    opened.close()


def test_counts_and_places_are_those_of_single_documents(snapshot):
    numbers = snapshot.numbers()[::-1].copy()
    found = snapshot.occurrences(numbers, TERMS, LABELS, FIELDS, 1_000)
    begin = 0
    for row, number in enumerate(numbers.tolist()):
        assert found.counts[row].tolist() == snapshot.frequencies(number, TERMS).tolist()
        for field, name in enumerate(FIELDS):
            end = int(found.ends[row, field])
            pairs = list(zip(found.positions[begin:end].tolist(), found.labels[begin:end].tolist(), strict=True))
            expected = {
                (position, label)
                for term, label in zip(TERMS, LABELS, strict=True)
                if label >= 0
                for position in snapshot.positions(number, term, name).tolist()
            }
            assert pairs == sorted(expected)
            begin = end


def test_places_are_bounded_and_only_of_the_fields_asked_for(snapshot):
    numbers = snapshot.numbers()
    found = snapshot.occurrences(numbers, ["tide", "moon"], [0, 1], ["body"], 5)
    sizes = np.diff(found.ends.reshape(-1), prepend=0).reshape(found.ends.shape)
    assert sizes[:, FIELDS.index("body")].max() == 6
    assert sizes.sum() == sizes[:, FIELDS.index("body")].sum()
    assert found.counts[:, 0].max() == 300


def test_no_documents_and_no_terms(snapshot):
    assert snapshot.occurrences(np.zeros(0, np.int64), ["tide"], [0], ["body"], 5).counts.shape == (0, 1, len(FIELDS))
    assert snapshot.occurrences(snapshot.numbers(), [], [], ["body"], 5).counts.shape[1:] == (0, len(FIELDS))
