"""The doctor: what is whole is said to be whole, each kind of damage is found, and what can be mended is."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from periplus import Collection
from periplus.app.doctor import examine, repair
from periplus.app.serving.backend import CollectionBackend
from periplus.archive import places_of
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.errors import Corrupt, StorageBusy
from periplus.storage import folder_lock
from periplus.web import create_app
from web.asgi_client import Client


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doctor") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=12, scope="host", delay=0.01, resolve=web.resolve)
        made.rank()
        made.index()
        assert made.politeness().clean
    return folder


@pytest.fixture
def collection(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "c")
    with Collection.existing(tmp_path / "c") as copy:
        yield copy


def states(findings) -> dict[str, str]:
    return {finding.check: finding.state for finding in findings}


CHECKS = ("database", "archive", "documents", "ranks", "index", "politeness")


def test_a_sound_collection(collection):
    told = []
    found = states(examine(collection, lambda done, note: told.append(note)))

    assert all(found[check] == "ok" for check in CHECKS)
    assert {"python", "disk", "memory", "open files", "kernels"} < found.keys()
    assert "documents" in told


def test_a_new_collection_has_nothing_to_fail(tmp_path):
    with Collection(tmp_path / "c").create() as collection:
        found = states(examine(collection))

    assert found["index"] == found["ranks"] == "warning"
    assert "failed" not in {found[check] for check in CHECKS}


def flip(path) -> None:
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 0xFF
    path.write_bytes(bytes(body))


def test_damage_is_found_where_it_is(collection):
    flip(next(collection.folder.glob("index/segments/*/postings.bin")))
    flip(next(collection.folder.glob("ranks/1/page_ranks.npy")))
    batch = next(collection.folder.glob("documents/*.parquet"))
    batch.write_bytes(batch.read_bytes()[:-100])
    found = states(examine(collection))

    assert [check for check in CHECKS if found[check] == "failed"] == ["documents", "ranks", "index"]


def test_what_can_be_made_again_is_mended(collection):
    flip(next(collection.folder.glob("index/segments/*/postings.bin")))
    flip(next(collection.folder.glob("ranks/1/page_ranks.npy")))
    warc = max(collection.folder.glob("archive/*.warc.gz"), key=lambda path: path.stat().st_size)
    whole = warc.read_bytes()
    warc.write_bytes(whole + whole[:200])
    found = repair(collection)

    assert {finding.check for finding in found if finding.state == "mended"} == {"archive", "ranks", "index"}
    assert "failed" not in {finding.state for finding in found}
    assert warc.read_bytes() == whole
    assert list(collection.search("tide"))


def test_a_takedown_whose_plan_is_damaged_is_done_again(collection):
    """As a kill between the plan and its end leaves it, and then a bad disk."""
    url = next(result.url for result in collection.search("tide"))
    with collection.database.write() as tx:
        tx.insert_new("removed", ("target", "at"), [(url, 1.0)], "target")
        tx.insert_new("meta", ("key", "value"), [(f"takedown.unfinished {url}", "1")], "key")
    collection.files.write("archive/blanking.json", b'[["periplus.warc.gz", 1')
    assert states(examine(collection))["archive"] == "failed"
    found = repair(collection)

    assert ("takedown", "mended") in [(finding.check, finding.state) for finding in found]
    assert states(found)["archive"] == "ok"
    assert (collection.folder / "damaged" / "archive" / "blanking.json").exists()
    assert not places_of(collection.folder / "archive", lambda address: address == url)
    assert url not in [result.url for result in collection.search("tide")]


@pytest.mark.parametrize("name", ["blocked.json", "api-keys.json", "console.key", "judgements.json", "collection.id"])
def test_a_small_file_that_cannot_be_read_is_named(collection, name):
    collection.files.write(name, b"{")
    (finding,) = [finding for finding in examine(collection) if finding.check == "files"]
    assert finding.state == "failed"
    assert name in finding.detail


def test_the_status_names_a_damaged_file(collection, capsys):
    (collection.folder / "index" / "manifest.json").write_text("{")
    assert run(["status", "--dir", str(collection.folder)]) == 0
    assert "manifest.json" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["figures = '{'", "at = 'soon'"])
def test_a_state_that_holds_what_nobody_wrote_is_said_to_be_damaged(collection, change):
    """As a page of it reads that was cut off in the middle."""
    with collection.database.write() as tx:
        tx.execute(f"UPDATE workers SET {change}")
    with pytest.raises(Corrupt, match=r"state\.db holds values that nobody wrote"):
        collection.status()
    app = create_app(CollectionBackend(collection), collection.settings, operator_key="")
    answer = Client(app).get("/api/v1/status")
    assert answer.status == 503
    assert "state.db" in answer.text


def test_a_page_that_fails_over_a_damaged_state_says_so(collection):
    """The journal holds nothing where something must be, as a page reads that was cut off."""
    path = collection.folder / "state.db"
    collection.close()
    with closing(sqlite3.connect(path)) as connection:
        (whole,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'journal'").fetchone()
    schema = "UPDATE sqlite_master SET sql = ? WHERE name = 'journal'"
    loose = whole.replace("NOT NULL", "")
    for sql, given in ((schema, (loose,)), ("UPDATE journal SET at = NULL", ()), (schema, (whole,))):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(sql, given)
            connection.commit()
    app = create_app(CollectionBackend(collection), collection.settings, operator_key="a-key-of-the-console")
    answer = Client(app).get("/console", Authorization="Bearer a-key-of-the-console")
    assert answer.status == 503
    assert answer.raised is None
    assert "state.db" in answer.text


def test_nothing_is_mended_under_a_running_crawl(collection):
    with folder_lock(collection.folder / "crawl.lock", "crawling"), pytest.raises(StorageBusy):
        repair(collection)


def test_the_verb_fails_when_something_is_broken(collection, capsys):
    where = ["--dir", str(collection.folder)]
    assert run(["doctor", "--json", *where]) == 0
    assert "index" in {row["check"] for row in json.loads(capsys.readouterr().out)}
    flip(next(collection.folder.glob("index/segments/*/postings.bin")))
    assert run(["doctor", *where]) == 1
    assert "--repair" in capsys.readouterr().out
    assert run(["doctor", "--repair", *where]) == 0
    assert run(["doctor", *where]) == 0
