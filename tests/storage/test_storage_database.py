from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import Corrupt, DatabaseBusy, NotFound, StorageError
from periplus.storage import Database

VALUES = "CREATE TABLE things (key {int} PRIMARY KEY, word {text}, ratio {real}, body {blob})"


@pytest.fixture
def things(database):
    """The database with a table that has a column of each type."""
    types = database.backend.types
    with database.write() as tx:
        tx.execute(VALUES.format_map(types))
    return database


def keys(database):
    with database.read() as tx:
        return [key for (key,) in tx.rows("SELECT key FROM things ORDER BY key")]


def test_values_come_back_as_they_went_in(things):
    rows = [
        (1, "naïve – 灯台", 0.1, b"\x00\xff"),
        (-(2**63), "", -1e300, b""),
        (2**63 - 1, None, None, None),
        (2, "100 % 'quoted' ?", 3.0, b"?"),
    ]
    with things.write() as tx:
        tx.executemany("INSERT INTO things VALUES (?, ?, ?, ?)", rows)
        assert tx.rows("SELECT * FROM things ORDER BY key") == sorted(rows)
    with things.read() as tx:
        assert tx.rows("SELECT * FROM things ORDER BY key") == sorted(rows)
        assert tx.row("SELECT key, word FROM things WHERE word = ?", ("",)) == (-(2**63), "")
        assert tx.row("SELECT key FROM things WHERE word = ?", ("absent",)) is None
        assert tx.value("SELECT ratio FROM things WHERE key = ?", (1,)) == 0.1
        assert tx.value("SELECT ratio FROM things WHERE key = ?", (99,)) is None
        assert tx.value("SELECT key FROM things WHERE word = '100 % ''quoted'' ?' AND key = ?", (2,)) == 2


def test_execute_tells_how_many_rows_it_touched(things):
    with things.write() as tx:
        assert tx.execute("INSERT INTO things (key) VALUES (?), (?), (?)", (1, 2, 3)) == 3
        assert tx.execute("UPDATE things SET word = ? WHERE key > ?", ("x", 1)) == 2
        assert tx.execute("DELETE FROM things WHERE key = ?", (99,)) == 0


def test_truth_is_stored_as_an_integer(things):
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key, ratio) VALUES (?, ?)", [(True, 1.0), (False, 0.0)])
        assert tx.rows("SELECT key FROM things ORDER BY key") == [(0,), (1,)]


def test_text_is_ordered_by_code_point(things):
    words = ["a", "B", "ä", "Z", "_", "10", "9"]
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key, word) VALUES (?, ?)", list(enumerate(words)))
        assert [word for (word,) in tx.rows("SELECT word FROM things ORDER BY word")] == sorted(words)


def test_a_block_that_raises_is_undone(things):
    with pytest.raises(ZeroDivisionError), things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
        1 / 0  # noqa: B018
    assert keys(things) == []
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (2)")
    assert keys(things) == [2]


def test_a_failed_statement_undoes_the_block_and_the_database_goes_on(things):
    with pytest.raises(StorageError), things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
        tx.execute("INSERT INTO things (key) VALUES (1)")
    with pytest.raises(StorageError), things.write() as tx:
        tx.execute("SELECT nonsense FROM nowhere")
    assert keys(things) == []


def test_a_read_cannot_write(things):
    with pytest.raises(StorageError), things.read() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
    assert keys(things) == []


def test_a_read_is_one_snapshot(things, other):
    with things.read() as tx:
        assert tx.value("SELECT count(*) FROM things") == 0
        with other.write() as writer:
            writer.execute("INSERT INTO things (key) VALUES (1)")
        assert tx.value("SELECT count(*) FROM things") == 0
    assert keys(things) == [1]


def test_uncommitted_rows_are_not_seen(things, other):
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
        assert keys(other) == []
    assert keys(other) == [1]


def test_a_transaction_is_over_after_its_block(things):
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
    with pytest.raises(StorageError, match="has ended"):
        tx.execute("INSERT INTO things (key) VALUES (2)")


def test_a_thread_cannot_open_a_second_write(things):
    with things.write(), pytest.raises(StorageError, match="already has a write"), things.write():
        pass
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")


def test_stream_gives_all_rows_in_parts(things):
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key) VALUES (?)", [(i,) for i in range(1005)])
        assert len(list(tx.stream("SELECT key FROM things"))) == 1005
    with things.read() as tx:
        found = tx.stream("SELECT key FROM things WHERE key >= ? ORDER BY key", (5,), size=10)
        assert next(found) == (5,)
        assert [key for (key,) in found] == list(range(6, 1005))
        half_read = tx.stream("SELECT key FROM things ORDER BY key", size=10)
        next(half_read)
        half_read.close()
    assert len(keys(things)) == 1005


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(st.integers(0, 60), max_size=40), max_size=5))
def test_insert_new_tells_which_keys_were_new(things, batches):
    with things.write() as tx:
        tx.execute("DELETE FROM things")
    known: set[int] = set()
    for batch in batches:
        with things.write() as tx:
            fresh = tx.insert_new("things", ("key", "word"), [(key, f"w{i}") for i, key in enumerate(batch)], "key")
        assert len(fresh) == len(set(fresh))
        assert set(fresh) == set(batch) - known
        known |= set(batch)
    assert keys(things) == sorted(known)


def test_insert_new_keeps_what_was_there(things):
    with things.write() as tx:
        assert tx.insert_new("things", ("key", "word"), [], "key") == []
        assert tx.insert_new("things", ("key", "word"), [(1, "first"), (1, "second")], "key") == [1]
        assert tx.insert_new("things", ("key", "word"), [(1, "third"), (2, "other")], "key") == [2]
        assert tx.rows("SELECT key, word FROM things ORDER BY key") == [(1, "first"), (2, "other")]


def test_insert_new_by_several_columns(database):
    with database.write() as tx:
        tx.execute(
            "CREATE TABLE pairs (a {int}, b {int}, c {int}, PRIMARY KEY (a, b))".format_map(database.backend.types)
        )
        assert tx.insert_new("pairs", ("a", "b", "c"), [(1, 1, 1), (1, 2, 1), (1, 1, 2)], "a, b") == [(1, 1), (1, 2)]
        assert tx.insert_new("pairs", ("a", "b"), [(1, 1), (2, 1)], "a, b") == [(2, 1)]


def test_sums_and_averages_are_plain_numbers(things):
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key, ratio) VALUES (?, ?)", [(1, 0.5), (2, 0.25), (2**40, 0.25)])
        found = tx.row("SELECT SUM(key), AVG(key), SUM(ratio), COUNT(*), SUM(key) FROM things WHERE key < 10")
        assert found == (3, 1.5, 0.75, 2, 3)
        assert [type(value) for value in found] == [int, float, float, int, int]
        assert tx.value("SELECT SUM(key) FROM things WHERE key < 0") is None
        assert type(tx.value("SELECT -SUM(key) FROM things")) is int


def test_like_tells_capitals_apart(things):
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key, word) VALUES (?, ?)", [(1, "Tide"), (2, "tide")])
        assert tx.rows("SELECT key FROM things WHERE word LIKE ?", ("t%",)) == [(2,)]


def test_two_streams_at_once(things):
    with things.write() as tx:
        tx.executemany("INSERT INTO things (key) VALUES (?)", [(i,) for i in range(20)])
    with things.read() as tx:
        first = tx.stream("SELECT key FROM things ORDER BY key", size=3)
        second = tx.stream("SELECT key FROM things ORDER BY key DESC", size=3)
        assert [a + b for (a,), (b,) in zip(first, second, strict=True)] == [19] * 20


def test_insert_new_of_ten_thousand_rows_is_fast(things):
    rows = [(key * 7919, f"https://example.org/{key}", 0.5, b"x") for key in range(10_000)]
    columns = ("key", "word", "ratio", "body")
    best = min(_timed_insert(things, columns, rows) for _ in range(3))
    assert best < 1.0, f"{best:.3f} s"  # 0.05 s on SQLite when idle; the bound leaves room for a busy machine


def _timed_insert(database, columns, rows):
    with database.write() as tx:
        tx.execute("DELETE FROM things")
        began = time.perf_counter()
        assert len(tx.insert_new("things", columns, rows, "key")) == len(rows)
        took = time.perf_counter() - began
        assert tx.insert_new("things", columns, rows, "key") == []
        return took


def test_numbers_come_in_order_and_are_not_taken_by_a_failed_block(database):
    def take(name):
        with database.write() as tx:
            return tx.next_number(name)

    assert [take("batches"), take("batches"), take("other")] == [1, 2, 1]
    with pytest.raises(ZeroDivisionError), database.write() as tx:
        assert tx.next_number("batches") == 3
        1 / 0  # noqa: B018
    assert take("batches") == 3


def test_numbers_are_unique_over_threads(database):
    def take(_):
        with database.write() as tx:
            return tx.next_number("batches")

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(take, range(100))) == list(range(1, 101))


def test_many_threads_read_and_write(things):
    def work(worker):
        for i in range(20):
            with things.write() as tx:
                tx.execute("INSERT INTO things (key) VALUES (?)", (worker * 100 + i,))
            with things.read() as tx:
                assert tx.value("SELECT count(*) FROM things WHERE key / 100 = ?", (worker,)) == i + 1

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    assert len(keys(things)) == 120


def test_a_held_lock_is_reported_as_busy(things, other):
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
        with pytest.raises(DatabaseBusy, match="try again"), other.write() as late:
            late.execute("INSERT INTO things (key) VALUES (1)")
    with other.write() as late:
        late.execute("INSERT INTO things (key) VALUES (2)")
    assert keys(things) == [1, 2]


def test_threads_wait_for_their_turn(tmp_path):
    with Database.open(tmp_path / "state.db", busy_seconds=0.1) as database:
        holding, done = threading.Event(), threading.Event()

        def hold():
            with database.write():
                holding.set()
                done.wait(20)

        with ThreadPoolExecutor(1) as threads:
            held = threads.submit(hold)
            holding.wait(20)
            with pytest.raises(DatabaseBusy, match="another thread"), database.write():
                pass
            done.set()
            held.result()
        with database.write() as tx:
            tx.execute("INSERT INTO meta VALUES ('a', 'b')")


def test_a_closed_database_says_so(address):
    database = Database.open(address)
    database.close()
    with pytest.raises(StorageError, match="is closed"), database.read():
        pass
    with pytest.raises(StorageError, match="is closed"), database.write():
        pass


def test_closing_inside_a_transaction_lets_it_finish(address):
    database = Database.open(address)
    with database.write() as tx:
        tx.execute("INSERT INTO meta VALUES ('a', 'b')")
        database.close()
    with Database.open(address) as again, again.read() as tx:
        assert tx.value("SELECT value FROM meta") == "b"


def test_check_and_checkpoint_of_a_sound_database(things):
    things.checkpoint()
    assert things.check() == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_a_forked_child_has_connections_of_its_own(things):
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (1)")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with things.write() as tx:
                tx.execute("INSERT INTO things (key) VALUES (2)")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    with things.write() as tx:
        tx.execute("INSERT INTO things (key) VALUES (3)")
    assert keys(things) == [1, 2, 3]


@pytest.mark.parametrize("value", ["\ud800", 2**63, 2**200, object()])
def test_values_that_no_column_can_hold(things, value):
    with pytest.raises(StorageError), things.write() as tx:
        tx.execute("INSERT INTO things (key, word) VALUES (?, ?)", (value, value))
    assert keys(things) == []


# What only one of the two can show


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b"these are not the pages you are looking for" * 100)
    with pytest.raises(Corrupt, match="state.db is damaged or not a database"):
        Database.open(path)
    assert path.read_bytes().startswith(b"these")


def test_a_damaged_page_is_found(tmp_path):
    path = tmp_path / "state.db"
    with Database.open(path) as database:
        with database.write() as tx:
            tx.executemany("INSERT INTO meta VALUES (?, ?)", [(f"{i:05}", "x" * 500) for i in range(2000)])
        database.checkpoint()
    content = bytearray(path.read_bytes())
    for start in range(0, len(content), 4096):
        if b"x" * 400 in content[start : start + 4096]:
            content[start : start + 200] = bytes(range(200))
    path.write_bytes(content)
    with Database.open(path) as database:
        assert database.check()
        with pytest.raises(Corrupt, match="periplus doctor --repair"), database.read() as tx:
            tx.rows("SELECT * FROM meta ORDER BY key")


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(NotFound, match="is not a folder"):
        Database.open(tmp_path / "absent" / "state.db")


def test_a_folder_in_place_of_the_file(tmp_path):
    with pytest.raises(StorageError):
        Database.open(tmp_path)


def test_sqlite_syncs_every_commit(tmp_path):
    with Database.open(tmp_path / "state.db") as database, database.write() as tx:
        assert tx.value("PRAGMA journal_mode") == "wal"
        assert tx.value("PRAGMA synchronous") == 2
        assert tx.value("PRAGMA foreign_keys") == 1


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        Database.open(f"postgresql://someone:secret@/nowhere?host={tmp_path}")
    assert "secret" not in str(caught.value)


@pytest.mark.postgres
def test_a_connection_that_the_server_ended_is_replaced(postgres_address):
    with Database.open(postgres_address) as database, Database.open(postgres_address) as other:
        with database.write() as tx:
            number = tx.value("SELECT pg_backend_pid()")
        with other.write() as tx:
            tx.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ?", (number,))
        with database.write() as tx:
            tx.execute("INSERT INTO meta VALUES ('a', 'b')")
        with database.read() as tx:
            assert tx.value("SELECT value FROM meta") == "b"


@pytest.mark.postgres
def test_a_server_that_a_cut_network_hides_is_given_up(postgres_address):
    with Database.open(postgres_address) as database:
        connection = database.backend.connect(writable=False)
        given = {name: int(value) for name, value in connection.info.get_parameters().items() if value.isdigit()}
        connection.close()
    assert given["keepalives_idle"] + given["keepalives_interval"] * given["keepalives_count"] <= 30
    assert given["tcp_user_timeout"] == 30_000


@pytest.mark.postgres
def test_a_connection_that_breaks_inside_a_block_is_an_error_of_ours(postgres_address):
    with Database.open(postgres_address) as database:
        with pytest.raises(StorageError), database.write() as tx:
            tx.execute("INSERT INTO meta VALUES ('a', 'b')")
            tx.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        with database.read() as tx:
            assert tx.value("SELECT count(*) FROM meta") == 0


def test_many_new_rows_of_every_type_arrive_as_few_do(database):
    """From some number of rows on, PostgreSQL gets them by COPY."""
    columns = ("key", "word", "number", "part")
    rows = [(n, "tab\t, line\n, \\N and ü", n / 3, None if n % 2 else n) for n in range(-600, 600)]
    with database.write() as tx:
        tx.execute("CREATE TABLE many (key BIGINT PRIMARY KEY, word TEXT, number DOUBLE PRECISION, part BIGINT)")
        assert tx.insert_new("many", columns, rows[:3], "key") == [-600, -599, -598]
        assert len(tx.insert_new("many", columns, rows[:800], "key")) == 797
        assert len(tx.insert_new("many", columns, [*rows, *rows], "key")) == 400
    with database.write() as tx:
        assert tx.insert_new("many", columns, rows, "key") == []
        assert tx.rows("SELECT key, word, number, part FROM many ORDER BY key") == rows


def test_a_statement_for_each_of_many(database):
    with database.write() as tx:
        tx.executemany("INSERT INTO meta VALUES (?, ?)", [("a", "1"), ("b", "2")])
    with database.read() as tx:
        sql = "SELECT value FROM meta WHERE key = ?"
        assert tx.each(sql, [("b",), ("none",), ("a",)]) == [[("2",)], [], [("1",)]]
        assert tx.each(sql, []) == []
