"""A state database that is lost, or is not that of the files: never replaced in silence, and nothing is overwritten."""

from __future__ import annotations

import json
import shutil

import pytest

from periplus import Collection
from periplus.app import doctor, state
from periplus.app.importing import import_paths
from periplus.cli.main import run
from periplus.documents import BatchLog
from periplus.errors import StateLost
from periplus.storage import Database, LocalFiles

PAGES = ("Spring tides follow the full moon.", "Neap tides follow the quarters.")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A collection of two imports, indexed."""
    folder = tmp_path_factory.mktemp("state")
    with Collection(folder / "c") as collection:
        for place, text in enumerate(PAGES):
            file = folder / f"{place}.jsonl"
            record = {"id": str(place), "url": f"https://tide{place}.test/", "title": "Tides", "text": text}
            file.write_text(json.dumps(record), encoding="utf-8")
            import_paths(collection, [file])
        collection.index()
    return folder / "c"


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "c")


@pytest.fixture
def more(tmp_path):
    file = tmp_path / "more.jsonl"
    file.write_text('{"id": "9", "url": "https://new.test/", "title": "New", "text": "Slack water."}', encoding="utf-8")
    return file


def stored(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for name in ("documents", "links")
        for path in (folder / name).iterdir()
    }


def lose(folder):
    (folder / "state.db").unlink()


def empty(folder):
    (folder / "state.db").write_bytes(b"")


def overwrite(folder):
    (folder / "state.db").write_bytes(b"not a database at all" * 500)


def start_afresh(folder):
    """As a version that does not look would leave it."""
    lose(folder)
    Database.open(folder / "state.db").close()


def take_another(folder):
    lose(folder)
    other = folder.parent / "other"
    with Collection(other) as collection:
        collection.create()
    shutil.copy(other / "state.db", folder / "state.db")


def take_older(folder):
    with Database.open(folder / "state.db") as database, database.write() as tx:
        tx.execute("DELETE FROM batches WHERE number = 2")
        tx.execute("UPDATE counters SET value = 1 WHERE name = 'batches'")


LOSSES = {
    lose: "missing or empty beside stored files",
    empty: "missing or empty beside stored files",
    overwrite: "damaged or not a database",
    start_afresh: "empty beside stored files",
    take_another: "belongs to another collection",
    take_older: "older than the stored files",
}


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_whatever_would_write_says_what_is_missing_and_what_to_do(folder, more, capsys, loss):
    loss(folder)
    before = stored(folder)
    where = ["--dir", str(folder)]
    for verb in (
        ["import", str(more)],
        ["index"],
        ["rank"],
        ["crawl", "http://127.0.0.1:9/", "--allow-private"],
        ["up", "http://127.0.0.1:9/", "--allow-private", "--port", "0"],
        ["remove", "https://tide0.test/"],
    ):
        assert run([*verb, *where]) == 1
        said = capsys.readouterr().err.strip().splitlines()[-1]
        assert LOSSES[loss] in said, verb
        assert "periplus doctor --repair" in said, verb
    assert stored(folder) == before


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_the_doctor_says_so_and_repairs_it(folder, more, capsys, loss):
    loss(folder)
    before = stored(folder)
    where = ["--dir", str(folder)]
    assert run(["doctor", *where]) == 1
    assert "periplus doctor --repair" in " ".join(capsys.readouterr().out.split())
    assert run(["doctor", "--repair", *where]) == 0
    assert run(["doctor", *where]) == 0
    assert run(["import", str(more), *where]) == 0
    assert before.items() <= stored(folder).items()
    assert run(["index", *where]) == 0
    capsys.readouterr()
    assert run(["search", "water", "--json", *where]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 1


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_whatever_reads_goes_on_and_says_so(folder, capsys, loss):
    loss(folder)
    where = ["--dir", str(folder)]
    state_file = folder / "state.db"
    before = state_file.read_bytes() if state_file.exists() else None
    assert run(["search", "tides", "--json", *where]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2
    assert run(["status", "--json", *where]) == 0
    printed = capsys.readouterr()
    assert LOSSES[loss] in printed.err
    assert LOSSES[loss] in json.loads(printed.out)["notice"]
    assert (state_file.read_bytes() if state_file.exists() else None) == before  # nothing was made in its place


def test_a_search_says_that_the_state_is_missing(folder, capsys):
    lose(folder)
    assert run(["search", "tides", "--dir", str(folder)]) == 0
    assert "periplus doctor --repair" in capsys.readouterr().err


def test_a_folder_without_stored_files_gets_a_new_state(tmp_path, more):
    with Collection(tmp_path / "c") as collection:
        import_paths(collection, [more])
        assert not collection.notice
    (tmp_path / "c" / "collection.id").unlink()  # as collections of earlier versions are
    with Collection(tmp_path / "c") as collection:
        import_paths(collection, [more])
    assert state.identity_of(tmp_path / "c")


@pytest.mark.parametrize(
    "damage", [lambda text: b"f" + text[1:], lambda text: text[:7], lambda _: b"", lambda _: b"\xff"]
)
def test_a_damaged_name_of_the_folder_is_not_another_collection(folder, more, damage):
    with Collection(folder) as collection:
        import_paths(collection, [more])
    path, sound = folder / "collection.id", (folder / "collection.id").read_bytes()
    path.write_bytes(damage(sound) if damage(sound) != sound else b"0" + sound[1:])
    with Collection(folder) as collection:
        assert not collection.notice
        assert [one for one in doctor.examine(collection) if one.state == "failed" and "collection.id" in one.detail]
        assert [one.state for one in doctor.repair(collection)].count("failed") == 0
    assert path.read_bytes() == sound


def test_a_batch_that_a_crash_left_without_a_row_is_no_loss(folder, more):
    for name in ("documents", "links"):
        shutil.copy(folder / name / "00000001.parquet", folder / name / "00000003.parquet")
    with Collection(folder) as collection:
        import_paths(collection, [more])
        assert BatchLog(LocalFiles(folder), collection.database).numbers() == [1, 2, 4]


def test_a_state_that_vanishes_is_not_made_again_by_a_reader(folder):
    with Collection(folder) as collection:
        with collection.database.read() as tx:
            first = tx.value("SELECT COUNT(*) FROM batches")
        assert first == 2
        lose(folder)
        with collection.database.read(), pytest.raises(Exception, match="state.db"), collection.database.read():
            pass  # a second reader needs a connection of its own
    assert not (folder / "state.db").exists()


@pytest.mark.postgres
def test_an_empty_postgresql_database_beside_stored_files(folder, more, postgres_address):
    (folder / "state.db").unlink()
    with Collection(folder, flags={"storage.database": postgres_address}) as collection:
        with pytest.raises(StateLost, match="empty beside stored files"):
            import_paths(collection, [more])
        assert "doctor --repair" in collection.status().notice
        assert len(collection.search("tides").results) == 2
