"""Many terms looked up at once are what they are when each is looked up alone."""

from __future__ import annotations

import ctypes
import random

import pytest

from periplus import addresses
from periplus.core.layout.lists import BESTS, FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.index import IndexStore
from periplus.index.retrieval.lookups import looked_up_all
from periplus.records import Document

SEED = 31
WORDS = [f"{first}{second}{'x' * (place % 70)}" for place, first in enumerate("abcdefgh") for second in "aeiouäé灯"]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Three segments, with frequent and rare words, and words that only one of them has."""
    store = IndexStore(tmp_path_factory.mktemp("lookups"))
    generator = random.Random(SEED)
    for batch, count in ((1, 400), (2, 60), (3, 1)):
        documents = []
        for number in range(count):
            url = f"https://h.example/{batch}/{number}"
            text = " ".join(["common", f"only{batch}", *generator.choices(WORDS, k=12)])
            documents.append(Document(url, addresses.key(url), 1.0, text=text, language="en"))
        store.update([(batch, documents)])
    with store.open() as opened:
        yield opened


def told(found, segments):
    """Everything of a term, with the windows of rare postings in place of their address."""
    rows = (ctypes.c_int64 * (LIST_ROW * segments)).from_address(found.address)
    lists = []
    for segment in range(segments):
        row = list(rows[LIST_ROW * segment : LIST_ROW * (segment + 1)])
        is_rare = row[LENGTH] > 0 and row[STARTS] == 0
        windows = list((ctypes.c_uint16 * row[LENGTH]).from_address(row[MAXIMA])) if is_rare else row[MAXIMA]
        lists.append((row[FIRST], row[LENGTH], row[STARTS], row[BESTS], windows))
    return found.live, found.numbers, lists


def test_terms_together_are_terms_alone(snapshot):
    assert snapshot.segments == 3
    terms = [*WORDS, "common", "only1", "only2", "only3", "", "zzz", "aa", "a", "~common", "x" * 64, "\ud800"]
    random.Random(SEED).shuffle(terms)
    for size in (1, 2, 7, len(terms)):
        for start in range(0, len(terms), size):
            some = terms[start : start + size]
            together = looked_up_all(snapshot.table, some)
            alone = [looked_up_all(snapshot.table, [term])[0] for term in some]
            assert [told(one, 3) for one in together] == [told(one, 3) for one in alone]


def test_terms_have_their_numbers_in_each_dictionary(snapshot):
    terms = [*WORDS, "common", "only2", "zzz", "~common"]
    found = looked_up_all(snapshot.table, terms)
    for segment, view in enumerate(snapshot.views):
        wanted = view.segment.dictionary.find([term.encode() for term in terms]).tolist()
        assert [one.numbers[segment] for one in found] == wanted


def test_a_snapshot_keeps_what_it_looked_up(snapshot):
    before = snapshot.known("common")
    snapshot.known_all(["common", "only1", "only1", "nowhere"])
    assert snapshot.known("common") is before  # its address may be in use
    assert [snapshot.frequency(term) for term in ("common", "only1", "only3", "nowhere")] == [461, 400, 1, 0]
    snapshot.known_all([])
