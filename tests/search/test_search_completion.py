"""Completion: prefixes, words inside, weights and bounds."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from periplus.search.completion import Completion


def made(*entries: tuple[str, float]) -> Completion:
    return Completion({text.lower(): (text, weight) for text, weight in entries})


def texts(suggestions):
    return [suggestion.text for suggestion in suggestions]


ENTRIES = made(("Tide tables", 1.0), ("Tidal power", 3.0), ("High tide", 1.5), ("Harbour", 2.0))


def test_prefixes_by_weight_then_words_inside():
    assert texts(ENTRIES.complete("tid", 8)) == ["Tidal power", "Tide tables", "High tide"]


def test_several_words_and_case_and_accents():
    assert texts(ENTRIES.complete("HIGH  ti", 8)) == ["High tide"]
    assert texts(made(("cafe noir", 1.0)).complete("Café", 8)) == ["cafe noir"]


def test_limit_and_nothing():
    assert len(ENTRIES.complete("t", 1)) == 1
    assert ENTRIES.complete("", 8) == []
    assert ENTRIES.complete("zzz", 8) == []
    assert ENTRIES.complete("t", 0) == []


def test_an_entry_is_given_once():
    assert texts(made(("tide by tide", 1.0)).complete("tide", 8)) == ["tide by tide"]


def test_from_titles_headings_and_sites(engine):
    assert "Tide tables for the western coast" in texts(engine.suggest("tide"))
    assert "How to read a tide table" in texts(engine.suggest("how to"))
    assert "harbour.example" in texts(engine.suggest("harb"))
    assert texts(engine.suggest("harb"))[0] in ("harbour.example", "Harbour Office")


def test_fast_on_many_entries():
    many = Completion({f"w{i % 977} entry {i}": (f"w{i % 977} entry {i}", float(i % 31)) for i in range(50_000)})
    started = time.process_time()
    for text in ("w", "w1", "w12 e", "entry 4"):
        assert len(many.complete(text, 8)) == 8
    assert time.process_time() - started < 1.0


@given(st.text(max_size=60))
def test_any_text_may_be_typed(text):
    assert len(ENTRIES.complete(text, 8)) <= 4
