"""Rows of one database in another: both ways between SQLite and PostgreSQL."""

from __future__ import annotations

import pytest

from periplus.storage import Database, write_event
from periplus.storage.copying import copy_tables, row_count, tables

COUNT = 12_000


@pytest.fixture
def filled(tmp_path):
    with Database.open(tmp_path / "filled.db") as database:
        with database.write() as tx:
            tx.executemany(
                "INSERT INTO seeds (key, url, added_at) VALUES (?, ?, ?)",
                [(number - 5, f"https://example.org/{number}/ä", number / 3) for number in range(COUNT)],
            )
            tx.execute("INSERT INTO arrivals (id, part, message) VALUES (?, ?, ?)", (7, 1, b"\x00\xff\x01"))
            write_event(tx, "test", "an event")
            tx.next_number("batches")
        yield database


def all_rows(database):
    with database.read() as tx:
        return {table: sorted(tx.rows(f"SELECT * FROM {table}")) for table in tables(tx)}


def test_rows_come_and_go_between_engines(filled, database, tmp_path):
    told = []
    with filled.read() as source:
        counts = copy_tables(source, database, progress=lambda table, rows: told.append((table, rows)))
    assert counts["seeds"] == COUNT
    assert [rows for table, rows in told if table == "seeds"] == [5_000, 10_000, 12_000]
    assert all_rows(database) == all_rows(filled)
    with database.write() as tx:  # numbers go on behind those that were copied
        tx.execute("INSERT INTO arrivals (part, message) VALUES (?, ?)", (1, b"next"))
        assert tx.value("SELECT MAX(id) FROM arrivals") == 8
    with Database.open(tmp_path / "back.db") as back, database.read() as source:
        copy_tables(source, back)
        assert all_rows(back) == all_rows(database)


def test_what_was_there_is_replaced_and_tables_can_be_left_out(filled, database):
    with database.write() as tx:
        tx.execute("INSERT INTO seeds (key, url, added_at) VALUES (1, 'https://old.example/', 0)")
        tx.execute("INSERT INTO meta (key, value) VALUES ('kept', 'x')")
    with filled.read() as source:
        counts = copy_tables(source, database, without=("meta",))
    assert "meta" not in counts
    with database.read() as tx:
        assert row_count(tx, "seeds") == COUNT
        assert tx.value("SELECT value FROM meta WHERE key = 'kept'") == "x"
