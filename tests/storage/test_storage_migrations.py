from __future__ import annotations

import pytest

from periplus.errors import Incompatible, StorageError
from periplus.storage import Database
from periplus.storage.migrations import Migration, migrate, packaged, read_folder

MORE = Migration(len(packaged()) + 1, "more", "CREATE TABLE more (key {int} PRIMARY KEY); INSERT INTO more VALUES (1);")
OPEN = "import sys; from periplus.storage import Database; sys.stdin.readline(); Database.open(sys.argv[1]).close()"


def test_a_new_database_has_every_table(database):
    with database.read() as tx:
        for table in ("meta", "counters", "leases", "batches", "control", "events"):
            assert tx.value(f"SELECT count(*) FROM {table}") == 0
        applied = tx.rows("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
    assert applied == [(m.number, m.name, m.checksum) for m in packaged()]


def test_opening_again_applies_nothing(database, address):
    assert migrate(database) == 0
    with Database.open(address) as again:
        assert migrate(again) == 0


def test_a_later_version_adds_its_migrations(database):
    assert migrate(database, [*packaged(), MORE]) == 1
    assert migrate(database, [*packaged(), MORE]) == 0
    with database.read() as tx:
        assert tx.value("SELECT key FROM more") == 1


def test_a_newer_schema_is_refused(database, address):
    migrate(database, [*packaged(), MORE])
    with pytest.raises(Incompatible, match="use a newer"):
        Database.open(address)


def test_a_changed_migration_is_refused(database):
    first, *rest = packaged()
    changed = Migration(first.number, first.name, first.script + " ")
    with pytest.raises(Incompatible, match="not the one applied"):
        migrate(database, [changed, *rest])


def test_a_failing_migration_leaves_nothing_behind(database):
    broken = Migration(MORE.number, "broken", "CREATE TABLE half (key {int}); CREATE TABLE half (key {int});")
    with pytest.raises(StorageError):
        migrate(database, [*packaged(), broken])
    assert migrate(database, [*packaged(), MORE]) == 1
    with pytest.raises(StorageError), database.read() as tx:
        tx.rows("SELECT * FROM half")


def test_processes_that_open_at_once_take_turns(address, start):
    processes = [start(OPEN, address) for _ in range(4)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        errors = process.communicate()[1]
        assert process.returncode == 0, errors
    with Database.open(address) as database, database.read() as tx:
        assert tx.value("SELECT count(*) FROM schema_migrations") == len(packaged())


def test_numbers_have_no_gaps(tmp_path):
    (tmp_path / "0001_a.sql").write_text("")
    (tmp_path / "0003_b.sql").write_text("")
    (tmp_path / "README.md").write_text("not a migration")
    with pytest.raises(StorageError, match="without gaps"):
        read_folder(tmp_path)
    (tmp_path / "0002_c.sql").write_text("")
    assert [m.name for m in read_folder(tmp_path)] == ["a", "c", "b"]


def test_addresses_of_an_older_schema_are_kept(address, monkeypatch):
    """The table of addresses was made anew in schema 4."""
    columns = "key, url, host, depth, priority, state, next_at, reason, etag, body_hash, pending, batch"
    rows = [(n * 7919 - 50, f"http://h{n % 3}.test/{n}", n % 3, 2, 5, n % 4, 1.5, "r", "e", 9, 1, 4) for n in range(40)]
    with monkeypatch.context() as earlier:
        earlier.setattr("periplus.storage.migrations.packaged", lambda: packaged()[:3])
        with Database.open(address) as database, database.write() as tx:
            tx.executemany(f"INSERT INTO urls ({columns}) VALUES ({', '.join('?' * 12)})", rows)
    with Database.open(address) as database, database.read() as tx:
        assert tx.rows(f"SELECT {columns} FROM urls ORDER BY key") == sorted(rows)
        assert tx.value("SELECT url FROM urls WHERE host = 1 AND key = ?", (rows[1][0],)) == rows[1][1]


def test_tasks_under_a_name_that_moved_are_forgotten(database):
    """Nobody would ever ask for them again; all others stay."""
    rows = [("index", f"periplus.{module}:work", "1", "failed", 0.0) for module in ("index.segment_tasks", "graph.x")]
    with database.write() as tx:
        tx.executemany("INSERT INTO tasks (job, kind, input, state, changed) VALUES (?, ?, ?, ?, ?)", rows)
        tx.execute("DELETE FROM schema_migrations WHERE number >= 23")
    assert migrate(database, packaged()[:23]) == 1
    with database.read() as tx:
        assert tx.rows("SELECT kind FROM tasks") == [("periplus.graph.x:work",)]
