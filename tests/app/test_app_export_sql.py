"""``export --to``: whole or not at all, gone on with after a kill, and the same over one connection as over several."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import psycopg
import pytest

from periplus import Collection
from periplus.app.exporting import sql
from periplus.app.exporting.sql_tables import PIECES_COLUMNS, TABLES
from periplus.app.importing import import_paths
from periplus.cli.main import run
from periplus.errors import StorageError

pytestmark = pytest.mark.postgres
NAMES = [table.name for table in TABLES]
TEXT = "the spring tide rises and the neap tide falls"
ODD = "tab\there, back\\slash, new\nline, {brace}, \\N, naïve 潮"
# The lock of a test, for which the transaction of the sixth piece waits.
BARRIER = """
CREATE TABLE export_pieces ({columns});
CREATE TABLE done (piece BIGINT, by INTEGER);
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM done) >= 5 THEN {then} END IF;
    INSERT INTO done VALUES (NEW.piece, pg_backend_pid());
    RETURN NEW;
END $$;
CREATE TRIGGER barrier BEFORE UPDATE ON export_pieces FOR EACH ROW EXECUTE FUNCTION wait()
"""
CHILD = """
import sys
from periplus.app.exporting import sql
from periplus.cli.main import run
sql.DOCUMENTS_AT_ONCE = 10
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def collection(tmp_path, monkeypatch):
    monkeypatch.setattr(sql, "DOCUMENTS_AT_ONCE", 10)
    with Collection(tmp_path / "c") as made:
        add(made, 100)
        yield made


def add(collection, count, name="page"):
    rows = [
        {
            "id": f"{name}-{number}",
            "url": f"http://{number % 7}.test/{name}-{number}",
            "title": f"Tide {number}" + (f" {ODD}" if number % 10 == 0 else ""),
            "text": " ".join(TEXT.split()[: 1 + number % 9]) + (f" {ODD}" if number == 3 else ""),
        }
        for number in range(count)
    ]
    path = collection.folder.with_name(f"{name}.jsonl")
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))
    import_paths(collection, [path])
    collection.index()
    collection.rank()


def tables_of(address):
    with psycopg.connect(address) as connection:
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in NAMES}


def words(collection, address, *more):
    return ["export", "--to", address, "--dir", str(collection.folder), *more]


def names_in(address):
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    return {name for (name,) in found}


def test_one_and_several_connections_write_the_same_tables(collection, postgres_address, capsys):
    assert run(words(collection, postgres_address, "--connections", "1", "--json")) == 0
    alone, told = tables_of(postgres_address), json.loads(capsys.readouterr().out)
    with psycopg.connect(postgres_address) as connection:
        connection.execute("DELETE FROM export_noted")
    assert run(words(collection, postgres_address, "--connections", "3", "--json")) == 0

    assert tables_of(postgres_address) == alone
    assert json.loads(capsys.readouterr().out) == told
    assert {table["table"]: table["rows"] for table in told} == {name: len(rows) for name, rows in alone.items()}
    assert all(alone[name] for name in NAMES if name not in ("export_pages", "export_links"))
    assert names_in(postgres_address) == {*NAMES, "export_noted"}


def test_what_is_there_already_is_not_written_again(collection, postgres_address, capsys):
    assert run(words(collection, postgres_address, "--json")) == 0
    assert all(table["is_new"] for table in json.loads(capsys.readouterr().out))
    assert run(words(collection, postgres_address, "--json")) == 0
    again = json.loads(capsys.readouterr().out)

    assert not any(table["is_new"] for table in again)
    assert [table["table"] for table in again] == NAMES


def test_texts_come_as_they_are(collection, postgres_address):
    assert run(words(collection, postgres_address)) == 0
    with psycopg.connect(postgres_address) as connection:
        (text,) = connection.execute("SELECT text FROM export_documents WHERE id = 'page-3'").fetchone()
    with collection.stores.index.open() as snapshot:
        kept = {snapshot.stored(number).id: snapshot.stored(number) for number in snapshot.numbers().tolist()}
    assert text == kept["page-3"].text
    assert "back\\slash" in text
    assert "\\N" in text


def test_a_phrase_is_found_by_the_places_of_words(collection, postgres_address):
    assert run(words(collection, postgres_address)) == 0
    with psycopg.connect(postgres_address) as connection:
        found = connection.execute(
            """SELECT DISTINCT d.id FROM export_hits a JOIN export_hits b USING (number, field)
            JOIN export_documents d USING (number)
            WHERE a.term = 'neap' AND b.term = 'tide' AND field = 'body'
            AND EXISTS (SELECT 1 FROM unnest(a.positions) AS place WHERE place + 1 = ANY (b.positions))"""
        ).fetchall()
        counted = connection.execute(
            """SELECT count(*) FROM export_postings p WHERE (p.title, p.headings, p.body) <> (
            SELECT coalesce(sum(cardinality(positions)) FILTER (WHERE field = 'title'), 0),
                coalesce(sum(cardinality(positions)) FILTER (WHERE field = 'headings'), 0),
                coalesce(sum(cardinality(positions)) FILTER (WHERE field = 'body'), 0)
            FROM export_hits h WHERE h.term = p.term AND h.number = p.number)"""
        ).fetchone()
    assert {name for (name,) in found} == {f"page-{number}" for number in range(100) if number % 9 >= 7}
    assert counted == (0,)


def test_an_export_killed_on_the_way_goes_on_and_nobody_sees_half_of_it(collection, postgres_address):
    assert run(words(collection, postgres_address)) == 0
    before = tables_of(postgres_address)
    add(collection, 40, "later")
    with psycopg.connect(postgres_address, autocommit=True) as ours:
        ours.execute(BARRIER.format(columns=PIECES_COLUMNS, then="PERFORM pg_advisory_xact_lock(23);"))
        ours.execute("SELECT pg_advisory_lock(23)")
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, *words(collection, postgres_address, "--connections", "2")],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        waiting_for_lock(ours)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        done = {piece for (piece,) in ours.execute("SELECT piece FROM done").fetchall()}
        assert 5 <= len(done) <= 6  # the other process may have been at its end already
        assert tables_of(postgres_address) == before
        ours.execute("SELECT pg_advisory_unlock(23)")

        assert run(words(collection, postgres_address, "--connections", "2")) == 0
        log = ours.execute("SELECT piece FROM done").fetchall()
    assert len(log) == len(set(log)) > len(done)  # no piece was done twice
    after = tables_of(postgres_address)
    assert len(after["export_documents"]) == 140
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("DELETE FROM export_noted")
    assert run(words(collection, postgres_address, "--connections", "1")) == 0
    assert tables_of(postgres_address) == after


def waiting_for_lock(connection):
    """Until somebody waits for the lock of the test."""
    asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    pause = threading.Event()
    for _ in range(600):
        if connection.execute(asked).fetchone()[0]:
            return
        pause.wait(0.1)
    raise AssertionError("the export never came to the barrier")


def test_a_lost_connection_is_one_line_and_the_next_export_goes_on(collection, postgres_address, capsys):
    with psycopg.connect(postgres_address, autocommit=True) as ours:
        ours.execute(BARRIER.format(columns=PIECES_COLUMNS, then="PERFORM pg_terminate_backend(pg_backend_pid());"))
        assert run(words(collection, postgres_address, "--connections", "1")) == 1
        said = capsys.readouterr().err.strip().splitlines()
        assert "PostgreSQL cannot be written to" in said[-1]
        ours.execute("DROP TRIGGER barrier ON export_pieces")
        assert names_in(postgres_address) & set(NAMES) == set()
        assert ours.execute("SELECT count(rows) FROM export_pieces").fetchone() == (5,)

        assert run(words(collection, postgres_address, "--connections", "1")) == 0
    assert len(tables_of(postgres_address)["export_documents"]) == 100


def test_another_collection_takes_the_place_of_the_first(collection, postgres_address, tmp_path):
    assert run(words(collection, postgres_address)) == 0
    with Collection(tmp_path / "other" / "c") as other:
        add(other, 5, "other")
        assert run(words(other, postgres_address)) == 0
    assert sorted(row[1] for row in tables_of(postgres_address)["export_documents"]) == [f"other-{n}" for n in range(5)]


def test_a_collection_in_shards_and_in_an_object_store_is_exported_as_one_in_a_folder(
    collection, postgres_address, tmp_path
):
    assert run(words(collection, postgres_address)) == 0
    alone = tables_of(postgres_address)
    flags = {"storage.files": f"file://{tmp_path}/store", "storage.database": postgres_address, "index.shards": 3}
    with Collection(tmp_path / "shared" / "c", flags=flags) as shared:
        add(shared, 100)
        sql.export_to_sql(shared, postgres_address, 2)
    other = tables_of(postgres_address)

    assert len(other["export_documents"]) == 100
    assert other["export_lexicon"] == alone["export_lexicon"]
    told = [{row[1]: (row[2:7], row[8:]) for row in one["export_documents"]} for one in (alone, other)]
    assert told[0] == told[1]  # but for the time of the import
    assert {row[6] for row in alone["export_documents"]} == {None}  # nobody said when these were published
    assert len(other["export_hits"]) == len(alone["export_hits"])


def test_a_second_export_of_something_else_ends_the_first(collection, postgres_address):
    with psycopg.connect(postgres_address, autocommit=True) as ours:
        ours.execute(f"CREATE TABLE export_pieces ({PIECES_COLUMNS})")
        ours.execute(
            "CREATE FUNCTION another() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.made_from = 'another';"
            " RETURN NEW; END $$"
        )
        ours.execute("CREATE TRIGGER another BEFORE INSERT ON export_pieces FOR EACH ROW EXECUTE FUNCTION another()")
    with pytest.raises(StorageError, match="another export was begun"):
        sql.export_to_sql(collection, postgres_address, 1)
    assert names_in(postgres_address) & set(NAMES) == set()
