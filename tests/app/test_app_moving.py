"""A collection that moves to many machines and back: the same answers, nothing lost, nothing done by halves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from periplus import Collection
from periplus.app.moving import move, to_machines, uploads
from periplus.app.moving.rest import LEASES
from periplus.app.moving.storage_settings import with_storage
from periplus.app.moving.target import OF_A_PLACE
from periplus.cli.main import run
from periplus.errors import Corrupt, Occupied, SettingError, StateLost, StorageBusy, UsageError
from periplus.storage import Database, Leases, LocalFiles, folder_lock
from periplus.storage.copying import row_count, tables
from periplus.storage.objects import FolderObjects

SAME_ANSWERS = Path(__file__).resolve().parents[2] / "bench" / "same_answers"
EVERY = 40  # of the requests that are compared


@pytest.fixture(scope="module")
def voyage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "collection"
    command = [sys.executable, "-m", "periplus", "demo", "--once", "--json", "--dir", str(folder)]
    assert subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 0
    return folder


@pytest.fixture(scope="module")
def expected(voyage):
    return answers(voyage)


@pytest.fixture
def demo(voyage, tmp_path):
    """A copy of the demo's collection."""
    return Path(shutil.copytree(voyage, tmp_path / "collection"))


@pytest.fixture
def files(tmp_path):
    return f"file://{tmp_path}/objects"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request, tmp_path):
    return str(tmp_path / "shared.db") if request.param == "sqlite" else request.getfixturevalue("postgres_address")


def answers(folder):
    """What the collection answers to some of the requests that versions are compared by, always on the same day."""
    lines = (SAME_ANSWERS / "requests/demo.jsonl").read_text(encoding="utf-8").splitlines()[::EVERY]
    asked, given = folder.parent / "requests.jsonl", folder.parent / "answers.jsonl"
    asked.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, str(SAME_ANSWERS / "ask.py"), str(folder), str(asked), str(given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = given.read_text(encoding="utf-8").splitlines()
    assert len(found) == len(lines)
    return found


def moved(folder, to, database=""):
    with Collection(folder) as collection:
        return move(collection, str(to), database)


def counts(address):
    with Database.open(address) as state, state.read() as tx:
        return {table: row_count(tx, table) for table in tables(tx) if table not in OF_A_PLACE}


def stored_files(folder):
    """The files that are there only once, with their bytes."""
    files = LocalFiles(folder)
    names = [name for part in ("archive/", "documents/", "links/") for name in files.names(part)]
    return {name: files.read(name) for name in names}


def test_there_and_back_again(demo, files, database, tmp_path, expected):
    before, rows = stored_files(demo), counts(demo / "state.db")
    done = moved(demo, files, database)

    assert done.rows == sum(rows.values()) + len(LEASES)  # which the move holds
    assert done.tables == len(rows)
    assert stored_files(demo) == {}
    assert stored_files(Path(done.kept)) == before
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(demo / "periplus.toml", other)
    assert answers(other) == expected
    assert answers(demo) == expected
    with Collection(other) as collection:
        assert len(list(collection.documents())) > 70
        assert collection.inspect("http://almanac.localhost:8640/").verdict

    back = tmp_path / "back"
    moved(other, back)
    assert stored_files(back) == before
    found = counts(back / "state.db")
    assert {table: count for table, count in found.items() if table not in ("leases", "meta", "events")} == {
        table: count for table, count in rows.items() if table not in ("leases", "meta", "events")
    }
    assert answers(back) == expected
    assert not (back / ".depot").exists()
    assert "storage" not in (back / "periplus.toml").read_text()
    with Collection(back) as collection:
        assert collection.index().documents > 70
        assert collection.status().notice == ""
    with (
        Collection(other) as collection,
        pytest.raises(StateLost, match=f"was moved to {back.resolve()}; use it there"),
    ):
        collection.index()


def test_a_collection_goes_on_at_its_new_place(demo, files, database, tmp_path, expected):
    moved(demo, files, database)
    with Collection(demo) as collection:
        collection.index(rebuild=True)
        collection.rank()
        collection.remove("http://almanac.localhost:8640/")
    assert answers(demo) != expected
    moved(demo, demo)  # its own folder becomes the collection again
    with Collection(demo) as collection:
        assert not collection.settings.storage.files
        assert collection.status().notice == ""
        assert collection.search("almanac").total.value
        assert collection.rank().pages
    assert all(name.count("-") <= 1 and name[-16].isdigit() for name in LocalFiles(demo).names("documents/"))
    moved(demo, files, database)  # to where it was before
    with Collection(demo) as collection:
        assert collection.search("almanac").total.value


def test_a_move_that_was_cut_off_is_taken_up(demo, files, database, tmp_path, expected, monkeypatch):
    class Cut(Exception):
        pass

    sent = []
    real = uploads.is_whole

    def cut(objects, stored):
        sent.append(stored.name)
        if len(sent) == 7:
            raise Cut
        return real(objects, stored)

    monkeypatch.setattr(uploads, "is_whole", cut)
    with pytest.raises(Cut):
        moved(demo, files, database)
    assert answers(demo) == expected  # as before
    monkeypatch.undo()
    real_fill = to_machines.place.fill

    def half(source, target, told):
        real_fill(source, target, told)
        raise Cut

    monkeypatch.setattr(to_machines.place, "fill", half)
    with pytest.raises(Cut):
        moved(demo, files, database)
    monkeypatch.undo()
    puts = []
    real_put = LocalFiles.create

    def counted(self, name, **more):
        if self.root == (tmp_path / "objects").resolve():
            puts.append(name)
        return real_put(self, name, **more)

    monkeypatch.setattr(LocalFiles, "create", counted)
    moved(demo, files, database)
    monkeypatch.undo()
    assert puts == []  # no file is sent twice
    assert answers(demo) == expected


def test_files_alone_move_where_the_state_is_shared_already(demo, files, tmp_path, expected):
    shared = tmp_path / "shared.db"
    (demo / "state.db").rename(shared)
    with (demo / "periplus.toml").open("a") as settings:
        settings.write(f'[storage]\ndatabase = "{shared}"\n')
    assert answers(demo) == expected
    done = moved(demo, files, str(shared))
    assert (done.rows, done.tables) == (0, 0)
    assert done.files > 10
    assert answers(demo) == expected
    with Collection(demo) as collection:
        assert collection.index(rebuild=True).documents > 70


def test_an_object_that_is_not_what_was_sent_is_noticed(demo, files, database, monkeypatch):
    real = FolderObjects.put
    spoilt = []

    def spoiling(self, name, data):
        real(self, name, data)
        if not spoilt and name.startswith("documents/"):
            spoilt.append(name)
            self._files.write(name, b"x" * self.size(name))

    monkeypatch.setattr(FolderObjects, "put", spoiling)
    with pytest.raises(Corrupt, match=r"documents/.* is not what was sent; run periplus move again"):
        moved(demo, files, database)
    moved(demo, files, database)


@pytest.mark.parametrize("lock", ["crawl.lock", "building.lock", "up.lock", "index/writer.lock"])
def test_nothing_moves_while_somebody_is_at_work(demo, files, tmp_path, lock):
    with folder_lock(demo / lock, "at work"), pytest.raises(StorageBusy, match="another process is"):
        moved(demo, files, str(tmp_path / "shared.db"))
    moved(demo, files, str(tmp_path / "shared.db"))


def test_nothing_moves_back_while_another_machine_is_at_work(demo, files, tmp_path):
    shared = str(tmp_path / "shared.db")
    moved(demo, files, shared)
    busy = pytest.raises(StorageBusy, match="is indexing or ranking this collection")
    with Collection(demo) as there, there.catalogs.alone("indexing or ranking"), busy:
        moved(demo, tmp_path / "back")
    with Database.open(shared) as state:
        with state.write() as tx:
            tx.execute("UPDATE leases SET owner = 'm2:7:ab x', expires = 1e12 WHERE name = 'crawl'")
        with pytest.raises(StorageBusy, match=r"a crawl is at work \(crawl, m2:7:ab\); stop it: periplus stop"):
            moved(demo, tmp_path / "back")
        with state.write() as tx:
            tx.execute("UPDATE leases SET expires = 0 WHERE name = 'crawl'")
        conductor = Leases(state).acquire("cluster.conductor", "m2:9:ef y", 60.0)
        assert conductor
        with pytest.raises(StorageBusy, match=r"a cluster is at work \(cluster.conductor, m2:9:ef\), or was"):
            moved(demo, tmp_path / "back")
        Leases(state).release(conductor)
    moved(demo, tmp_path / "back")


def test_places_that_are_taken_are_refused(demo, files, tmp_path, voyage):
    shared = str(tmp_path / "shared.db")
    with pytest.raises(UsageError, match="name the database as well"):
        moved(demo, files)
    with pytest.raises(UsageError, match="is no place for files"):
        moved(demo, "ftp://there", shared)
    with pytest.raises(UsageError, match="is a folder by itself already"):
        moved(demo, tmp_path / "elsewhere")
    LocalFiles(tmp_path / "objects").write("something", b"x")
    with pytest.raises(Occupied, match=r"holds something else \(something\); name an empty prefix"):
        moved(demo, files, shared)
    moved(demo, f"{files}/2", shared)
    with pytest.raises(UsageError, match="has its files in"):
        moved(demo, f"{files}/3", str(tmp_path / "other.db"))
    another = Path(shutil.copytree(voyage, tmp_path / "another"))
    with pytest.raises(Occupied, match="holds this collection already; name an empty database"):
        moved(another, f"{files}/2", shared)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    with pytest.raises(Occupied, match="is not empty"):
        moved(demo, tmp_path / "full")


def test_the_verb_says_what_it_did(demo, files, tmp_path, capsys):
    shared = str(tmp_path / "shared.db")
    assert run(["move", "--to", files, shared, "--dir", str(demo)]) == 0
    said = capsys.readouterr().err
    assert f"moved to {files}: " in said
    assert "rows of " in said
    assert "on other machines: a folder with a copy of" in said
    assert run(["move", "--to", str(tmp_path / "back"), "--dir", str(demo), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] > 10
    assert run(["search", "lighthouse", "--dir", str(demo)]) == 1
    assert "this collection was moved to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", '[storage]\ndatabase = "d"\nfiles = "f"\n'),
        ("# x\n[crawl]\ndelay = 1\n", '# x\n[crawl]\ndelay = 1\n\n[storage]\ndatabase = "d"\nfiles = "f"\n'),
        (
            '[storage]\ndatabase = "old"  # said\n[crawl]\nfiles = 3\n',
            '[storage]\ndatabase = "d"\nfiles = "f"\n[crawl]\nfiles = 3\n',
        ),
    ],
)
def test_settings_name_the_new_place_and_keep_all_else(text, changed):
    assert with_storage(text, {"database": "d", "files": "f"}) == changed
    without = with_storage(changed, {"database": "", "files": ""})
    assert tomllib.loads(without) == {name: part for name, part in tomllib.loads(text).items() if name != "storage"}


def test_settings_that_cannot_be_changed_line_by_line_are_refused():
    with pytest.raises(SettingError, match="write them under"):
        with_storage('storage = { database = "x" }\n', {"database": "d", "files": "f"})
    with pytest.raises(SettingError, match="write them under"):
        with_storage('storage.database = "x"\n', {"database": "d", "files": "f"})
