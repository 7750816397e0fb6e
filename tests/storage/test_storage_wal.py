"""SQLite's write-ahead log stays bounded: beside readers that come and go, and after one that stayed."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from periplus.storage import Database
from periplus.storage.sqlite import LEAST_WAL

ROWS, SIZE = 100, 4_000  # rewritten by every commit: some 400 kB of log, while the file stays under 1 MB
COMMITS = 120


@pytest.fixture
def database(tmp_path):
    with Database.open(tmp_path / "state.db") as opened:
        yield opened


def write(database, number):
    with database.write() as tx:
        rows = [(str(place), f"{number:08d}" * (SIZE // 8)) for place in range(ROWS)]
        tx.executemany("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", rows)


def log_size(tmp_path):
    return (tmp_path / "state.db-wal").stat().st_size


def read_on(path, ended):
    """Another opening, as another process has it: always one snapshot or the next."""
    with Database.open(path) as database:
        while not ended.is_set():
            with database.read() as tx:
                assert len({value for (value,) in tx.rows("SELECT value FROM meta WHERE key < 'a'")}) <= 1


def test_the_log_stays_small_while_readers_come_and_go(database, tmp_path):
    ended = threading.Event()
    readers = [threading.Thread(target=read_on, args=(tmp_path / "state.db", ended)) for _ in range(3)]
    for reader in readers:
        reader.start()
    sizes = []
    try:
        for number in range(COMMITS):
            write(database, number)
            sizes.append(log_size(tmp_path))
    finally:
        ended.set()
        for reader in readers:
            reader.join()
    assert any(later < size for size, later in pairwise(sizes))  # it was cut off beside them, however slow they are
    assert max(sizes) < COMMITS * ROWS * SIZE
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM meta WHERE value LIKE ?", (f"{COMMITS - 1:08d}%",)) == ROWS


def test_a_reader_that_stays_is_waited_for_only_a_moment_and_the_log_shrinks_after_it(database, tmp_path):
    write(database, 0)
    with database.read() as tx:
        before = tx.rows("SELECT value FROM meta WHERE key = '0'")
        for number in range(1, 20):
            write(database, number)
        assert log_size(tmp_path) > LEAST_WAL
        assert tx.rows("SELECT value FROM meta WHERE key = '0'") == before
    database.checkpoint()
    assert log_size(tmp_path) == 0
