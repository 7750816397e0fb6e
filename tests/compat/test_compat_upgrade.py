"""A collection of the oldest kept schema and index format is taken up: state migrated, index rebuilt."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from periplus import Collection
from periplus.app import doctor
from periplus.app.importing import import_paths
from periplus.errors import Incompatible
from periplus.storage import Database
from periplus.storage.migrations import packaged

HERE = Path(__file__).parent
OLDEST_SCHEMA = 3  # the first with addresses, journal and workers
TABLES = ("meta", "counters", "batches", "leases")


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Documents of today, whose format has not changed; a state of the oldest schema, an index of the first format."""
    folder, notes = tmp_path / "c", tmp_path / "notes.jsonl"
    rows = [{"id": f"note-{n}", "title": f"Note {n}", "text": f"the tide tables of harbour {n}"} for n in range(5)]
    notes.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with Collection(folder) as made:
        made.create()
        import_paths(made, [notes])
        made.index()
    today = (folder / "state.db").rename(tmp_path / "today.db")
    with monkeypatch.context() as earlier:
        earlier.setattr("periplus.storage.migrations.packaged", lambda: packaged()[:OLDEST_SCHEMA])
        Database.open(folder / "state.db").close()
    copy_rows(today, folder / "state.db")
    shutil.rmtree(folder / "index")
    shutil.copytree(HERE / "index-1", folder / "index")
    return folder


def copy_rows(source: Path, target: Path) -> None:
    """What both schemas have of the tables that tell which files there are."""
    with closing(sqlite3.connect(source)) as new, closing(sqlite3.connect(target)) as old:
        for table in TABLES:
            columns = ", ".join(row[1] for row in old.execute(f"PRAGMA table_info({table})"))
            rows = new.execute(f"SELECT {columns} FROM {table}").fetchall()
            marks = ", ".join("?" * (columns.count(",") + 1))
            old.executemany(f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", rows)
        old.commit()


def test_the_oldest_collection_is_taken_up(old):
    with Collection(old) as made:
        assert made.status().batches == 1  # which migrates the state
        with made.database.read() as tx:
            assert tx.value("SELECT MAX(number) FROM schema_migrations") == len(packaged())
        with pytest.raises(Incompatible, match="format 1.*rebuild the index"):
            made.search("tide")
        said = {one.check: one.advice for one in doctor.examine(made) if one.state == "failed"}
        assert any("rebuild" in advice or "--repair" in advice for advice in said.values())
        made.index(rebuild=True)
        assert len(made.search("tide tables").results) == 5
        assert [one for one in doctor.examine(made) if one.state == "failed"] == []


def test_an_older_version_refuses_what_a_newer_one_wrote(old, monkeypatch):
    with Collection(old) as made:
        made.status()
    monkeypatch.setattr("periplus.storage.migrations.packaged", lambda: packaged()[:OLDEST_SCHEMA])

    with pytest.raises(Incompatible, match="newer"):
        Database.open(old / "state.db")
