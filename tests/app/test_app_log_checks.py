"""The doctor compares files with rows, says what to do, and takes in what a crash or an old state left out."""

from __future__ import annotations

import json
import shutil

import pytest

from periplus import Collection
from periplus.app.doctor import examine, repair
from periplus.app.importing import import_paths
from periplus.demo import DemoWeb
from periplus.documents import BatchLog


def findings(found, check="log"):
    return [(finding.state, finding.detail) for finding in found if finding.check == check]


def numbers(collection):
    return BatchLog(collection.files, collection.database).numbers()


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c") as made:
        for place, word in enumerate(("spring", "neap", "slack")):
            file = tmp_path / f"{place}.jsonl"
            record = {"id": str(place), "url": f"https://tide.test/{place}", "title": word, "text": f"{word} tides"}
            file.write_text(json.dumps(record), encoding="utf-8")
            import_paths(made, [file])
        made.index()
        yield made


def drop_row(collection, number):
    with collection.database.write() as tx:
        tx.execute("DELETE FROM batches WHERE number = ?", (number,))


def test_rows_and_files_that_agree(collection):
    assert findings(examine(collection)) == [("ok", "rows and files agree")]


def test_a_batch_without_a_row_is_told_and_taken_in(collection):
    drop_row(collection, 2)
    [(state, detail)] = findings(examine(collection))
    assert state == "warning"
    assert "1 batches without a row (documents/00000002.parquet …)" in detail
    mended = repair(collection)
    assert ("mended", "taken in: batches 2, which had no row") in findings(mended)
    assert numbers(collection) == [1, 2, 3]
    assert [hit.title for hit in collection.search("neap")] == ["neap"]
    assert findings(examine(collection)) == [("ok", "rows and files agree")]


def test_a_batch_taken_in_holds_nothing_that_was_taken_down(collection):
    drop_row(collection, 2)
    collection.remove("https://tide.test/1", ban=True)  # nothing of it is known to the state
    repair(collection)
    log = BatchLog(collection.files, collection.database)
    assert [document.refusal for document in log.documents(2)] == ["removed"]
    assert not list(collection.search("neap"))


def test_a_torn_batch_without_a_row_is_set_aside(collection):
    name = "documents/00000004.parquet"
    collection.files.write(name, b"torn")
    assert findings(examine(collection))[0][0] == "warning"
    assert ("mended", "1 torn batches without a row are set aside in damaged/") in findings(repair(collection))
    assert collection.files.read(f"damaged/{name}") == b"torn"
    assert not collection.files.exists(name)
    assert findings(examine(collection)) == [("ok", "rows and files agree")]


def test_a_row_without_files_is_a_damaged_batch(collection):
    collection.files.remove("documents/00000002.parquet")
    assert findings(examine(collection), "documents")[0][0] == "failed"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marks") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=8, delay=0.01, resolve=web.resolve)
        made.index()
    return folder


@pytest.mark.parametrize("loss", ["cut", "missing"])
def test_an_archive_that_is_shorter_than_the_state_knows(crawled, tmp_path, loss):
    folder = shutil.copytree(crawled, tmp_path / "c")
    warc = next((folder / "archive").glob("*.warc.gz"))
    if loss == "cut":
        warc.write_bytes(warc.read_bytes()[: warc.stat().st_size // 2])
    else:
        warc.unlink()
    with Collection(folder) as collection:
        [(state, detail)] = findings(examine(collection))
        assert state == "failed"
        assert warc.name in detail
        pages = collection.status().index.documents
        repair(collection)
        assert findings(examine(collection)) == [("ok", "rows and files agree")]
        collection.index(rebuild=True)
        assert collection.status().index.documents == pages  # documents are kept, whatever became of the archive
        assert collection.politeness().clean
