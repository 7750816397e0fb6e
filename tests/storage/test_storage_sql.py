from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import StorageError
from periplus.storage.sql import numbered, pieces, statements, with_types

FRAGMENTS = st.sampled_from(
    ["a", " ", "?", ";", "'x'", "'?;'", "'it''s ?'", '"?"', '"a""?;"', "-- ? ; '\n", "/* ?;' */"]
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ?", "SELECT $1"),
        ("a = ? AND b = ?", "a = $1 AND b = $2"),
        ("a = '?' AND b = ?", "a = '?' AND b = $1"),
        ("a = 'it''s ?' AND b = ?", "a = 'it''s ?' AND b = $1"),
        ('"odd?" = ?', '"odd?" = $1'),
        ("-- why?\n?", "-- why?\n$1"),
        ("/* ? \n ? */ ?", "/* ? \n ? */ $1"),
        ("a % 2 = ? AND b LIKE '50%'", "a % 2 = $1 AND b LIKE '50%'"),
        ("", ""),
    ],
)
def test_placeholders_are_numbered_only_in_code(sql, expected):
    assert numbered(sql) == expected


@given(st.lists(FRAGMENTS).map("".join))
def test_pieces_are_the_whole_statement(sql):
    assert "".join(text for _, text in pieces(sql)) == sql
    assert numbered(sql).count("$") == sum(text.count("?") for is_code, text in pieces(sql) if is_code)


@given(st.text())
def test_any_text_can_be_scanned(text):
    assert "".join(piece for _, piece in pieces(text)) == text
    numbered(text)
    statements(text)


@given(
    st.lists(FRAGMENTS.filter(lambda text: text != ";" and not text.startswith("--")), max_size=8), st.integers(1, 4)
)
def test_statements_are_split_where_sqlite_ends_them(parts, copies):
    statement = "SELECT 1 " + "".join(parts)
    found = statements(f"{statement};\n" * copies)
    assert len(found) == copies
    assert all(sqlite3.complete_statement(text + ";") for text in found)


def test_comments_are_dropped_and_empty_statements_too():
    assert statements("-- a;b\n;;CREATE x; /* ; */ SELECT ';';") == ["CREATE x", "SELECT ';'"]


def test_types_are_filled_in():
    assert with_types("a {int}, b {blob}", {"int": "BIGINT", "blob": "BYTEA"}) == "a BIGINT, b BYTEA"
    with pytest.raises(StorageError, match="unknown type {money}"):
        with_types("a {money}", {"int": "BIGINT"})
