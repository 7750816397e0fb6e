"""The doctor: what is whole is said to be whole, each kind of damage is found, and what can be mended is."""

from __future__ import annotations

import json
import shutil

import pytest

from periplus import Collection
from periplus.app.doctor import examine, repair
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.errors import StorageBusy
from periplus.storage import folder_lock


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


@pytest.mark.parametrize("name", ["blocked.json", "api-keys.json", "console.key"])
def test_a_small_file_that_cannot_be_read_is_named(collection, name):
    collection.files.write(name, b"{")
    (finding,) = [finding for finding in examine(collection) if finding.check == "files"]
    assert finding.state == "failed"
    assert name in finding.detail


def test_the_status_names_a_damaged_file(collection, capsys):
    (collection.folder / "index" / "manifest.json").write_text("{")
    assert run(["status", "--dir", str(collection.folder)]) == 0
    assert "manifest.json" in capsys.readouterr().out


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
