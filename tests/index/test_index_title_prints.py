"""Titles as numbers: when a query is the title of a page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.index import BEFORE_LAST, IndexStore, sameness, title_print
from periplus.index.format import columns as columns_module
from periplus.records import Document


def same(query, title):
    return sameness(title_print(query), np.array([title_print(title)], np.int64))[0]


@pytest.mark.parametrize(
    ("query", "title", "expected"),
    [
        ("std::list::size", "std::list::size", 1),
        ("std::list::size", "std::list::max_size", 0),
        ("std::list::size", "std::list::size - cppreference.com", BEFORE_LAST),
        ("std::list::size - cppreference.com", "std::list::size", BEFORE_LAST),
        ("std::vector::vector", "std::vector::~vector", 0),
        ("const T&", "const T", 0),
        ("what is  OWNERSHIP", "What is “Ownership”?", 1),
        ("C++ keywords: for", "C++ keywords for", 1),
        ("Notes - Part 1", "Notes — Part 1", 1),
        ("Notes - Part 1", "Notes - Part 2", 0),
        ("Notes -- Part 1", "Notes — Part 1", 1),
        ("Notes", "Notes -- Part 1", BEFORE_LAST),
        ("well-known", "well - known", 0),
        ("ＷＩＤＥ", "wide", 1),
        ("", "", 0),
        ("?", "!", 0),
        ("tide", "", 0),
    ],
)
def test_a_query_is_a_title(query, title, expected):
    assert same(query, title) == expected


@pytest.mark.parametrize(
    ("query", "title", "expected"),
    [
        ("Class String", "String (Java SE 17)", BEFORE_LAST),
        ("String (Java SE 17)", "String (Java SE 17)", 1),
        ("String", "String - Manual", BEFORE_LAST),  # what stands before a dash is told already
        ("Class String", "String - Manual", 0),
        ("Class String", "", 0),
    ],
)
def test_a_query_is_the_heading_that_a_page_begins_with(query, title, expected):
    print_of_page = title_print(title, "Class String")
    assert sameness(title_print(query), np.array([print_of_page], np.int64))[0] == expected


@given(st.text(), st.text())
def test_any_text_has_a_number_that_says_what_it_is(one, other):
    number = title_print(one)
    assert 0 <= number < 1 << 62
    assert same(one, one) == float(number != 0)
    assert same(one, other) == same(other, one)
    assert same(one.upper() if one.isascii() else one, one) == float(number != 0)


def documents():
    return [Document(f"https://a.example/{i}", i, 0.0, title=f"Page {i} - Name", text="tide") for i in range(1, 9)]


def test_the_column_survives_a_merge_and_segments_without_it_have_zeros(tmp_path, monkeypatch):
    store = IndexStore(tmp_path)
    store.update([(1, documents()[:4])], merge=False)
    with monkeypatch.context() as earlier:  # as the version before wrote its segments
        without = {name: kind for name, kind in columns_module.PLAIN.items() if name != "title"}
        earlier.setattr(columns_module, "PLAIN", without)  # not an item of it: that would come back as the last
        store.update([(2, documents()[4:])], merge=False)

    def prints():
        with store.open() as snapshot:
            numbers = snapshot.numbers()
            found = zip(
                snapshot.column("key", numbers).tolist(), snapshot.column("title", numbers).tolist(), strict=True
            )
            return dict(found)

    expected = {i: title_print(f"Page {i} - Name") if i <= 4 else 0 for i in range(1, 9)}
    assert prints() == expected
    store.merge()
    assert prints() == expected
