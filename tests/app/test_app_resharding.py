"""Another number of shards from the command line: what is said, what is remembered, what is checked."""

from __future__ import annotations

import json

import pytest

from periplus import Collection, addresses
from periplus.app.doctor import examine, repair
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.verifying import Verifier
from periplus.cli.main import run
from periplus.documents import BatchLog
from periplus.records import Document

PATIENCE = 60.0  # seconds


def append(collection, first, count):
    urls = [f"https://one.example/{number}" for number in range(first, first + count)]
    rows = [Document(url, addresses.key(url), 1.0, title=f"Tide {url[-2:]}", text="tide tables") for url in urls]
    BatchLog(collection.files, collection.database).append(rows)


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c").create() as made:
        append(made, 10, 40)
        made.index()
        yield made


def said(capsys, *words):
    assert run([*words]) == 0
    return capsys.readouterr()


def test_a_reshard_is_told_and_stays(collection, capsys):
    folder = str(collection.folder)
    before = collection.search("tide", k=50)
    told = said(capsys, "reshard", "3", "--dir", folder)
    assert "40 documents in 3 shards of " in told.err
    assert told.out == ""
    assert collection.engine.reload()
    assert [hit.url for hit in collection.search("tide", k=50)] == [hit.url for hit in before]
    status = json.loads(said(capsys, "status", "--json", "--dir", folder).out)
    assert (len(status["index"]["shards"]), sum(status["index"]["shards"])) == (3, 40)
    assert "in 3 shards" in status["events"][0]["text"]
    assert "3 of " in said(capsys, "status", "--dir", folder).out
    append(collection, 60, 5)
    assert "index.shards" not in said(capsys, "index", "--dir", folder).err  # nobody asked for another number
    again = json.loads(said(capsys, "reshard", "3", "--json", "--dir", folder).out)
    assert (again["generation"], sum(again["shards"])) == (3, 45)  # nothing was to be done
    said(capsys, "index", "--rebuild", "--dir", folder)
    assert len(json.loads(said(capsys, "status", "--json", "--dir", folder).out)["index"]["shards"]) == 3
    assert "45 documents in 1 shard," in said(capsys, "reshard", "1", "--dir", folder).err


def test_a_setting_that_the_index_does_not_have_is_told(collection, capsys):
    (collection.folder / "periplus.toml").write_text("[index]\nshards = 2\n", encoding="utf-8")
    folder = str(collection.folder)
    line = "periplus: index.shards is 2, but the index has 1: periplus reshard 2 changes that"
    assert line in said(capsys, "index", "--dir", folder).err
    said(capsys, "reshard", "2", "--dir", folder)
    assert "index.shards" not in said(capsys, "index", "--dir", folder).err


def test_a_new_index_is_built_in_shards(tmp_path):
    with Collection(tmp_path / "c").create("[index]\nshards = 4\n") as made:
        append(made, 10, 40)
        assert made.index().shards == 4
        assert len(made.search("tide", k=50).results) == 40


@pytest.mark.parametrize("kind", ["words", "pages"])
def test_damaged_files_of_the_whole_are_found_and_made_again(collection, kind):
    collection.reshard(3)
    (path,) = collection.folder.glob(f"index/summaries/*.{kind}")
    body = bytearray(path.read_bytes())
    body[-1] ^= 1
    path.write_bytes(body)
    with Verifier(collection, pause=0.0) as verifier:
        assert verifier.first_round.wait(PATIENCE)
    assert any(path.name in line for line in CollectionBackend(collection).status()["damage"])
    assert [path.name in one.detail for one in examine(collection) if one.check == "index"] == [True]
    assert ("index", "mended") in [(one.check, one.state) for one in repair(collection)]
    found = [one for one in examine(collection) if one.check == "index"]
    assert [(one.state, "40 documents in 3 shards" in one.detail) for one in found] == [("ok", True)]
