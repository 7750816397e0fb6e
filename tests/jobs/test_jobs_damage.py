"""Files of batches that are damaged as a whole: they are listed with their error, and the rest goes on."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import addresses
from periplus.app import Collection
from periplus.app.doctor import repair
from periplus.cli.main import run
from periplus.documents import BatchLog
from periplus.documents.batches import tables_of
from periplus.errors import Corrupt, NotFound
from periplus.jobs import operator_view
from periplus.records import Document
from support.postgres import postgres_address  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mockweb.mock_web import MockWeb

PAGES = 6


@pytest.fixture(params=["folder", pytest.param("objects", marks=pytest.mark.postgres)])
def flags(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Of a collection in one folder, and of one on many machines."""
    if request.param == "folder":
        return {}
    database = request.getfixturevalue("postgres_address")
    return {"storage.files": f"file://{tmp_path}/store", "storage.database": database}


@pytest.fixture
def crawled(mock_web: MockWeb, tmp_path: Path, flags: dict[str, str]) -> Iterator[Collection]:  # noqa: F811
    """A batch or more of each of two crawls."""
    for number in range(PAGES):
        mock_web.page(f"http://a.test/{number}", f"<h1>Leaf {number}</h1><p>Of the harbour.", links=[f"/{number + 1}"])
        mock_web.page(f"http://b.test/{number}", f"<h1>Reef {number}</h1><p>Of the shoal.", links=[f"/{number + 1}"])
    how = flags | {"crawl.resolve": mock_web.resolve, "crawl.delay": 0.0, "crawl.workers": 1}
    with Collection(tmp_path / "c", flags=how) as collection:
        collection.crawl(["http://a.test/0"], seconds=30)
        collection.crawl(["http://b.test/0"], seconds=30)
        yield collection


@pytest.fixture
def imported(tmp_path: Path, flags: dict[str, str]) -> Iterator[Collection]:
    """Three batches of which the archive knows nothing."""
    with Collection(tmp_path / "c", flags=flags).create() as collection:
        log = log_of(collection)
        for number in range(3):
            url = f"https://records.test/{number}"
            document = Document(url, addresses.key(url), 1.0, title=f"Record {number}", text="calm sea " * 20)
            log.publish(log.stage(tables_of([document])), source="records.jsonl")
        yield collection


def log_of(collection: Collection) -> BatchLog:
    return BatchLog(collection.files, collection.database, collection.depot)


def path_of(collection: Collection, number: int, folder: str) -> Path:
    """Where the only whole copy of a file is: in the folder, or in the object store."""
    names = log_of(collection).names_of(number)
    name = names.links if folder == "links" else names.documents
    root = collection.folder
    if collection.depot is not None:
        collection.depot.drop(name)
        root = root.parent / "store"
    return root / name


@contextmanager
def damaged(
    collection: Collection, number: int, folder: str = "documents", content: bytes | None = None
) -> Iterator[None]:
    """Not the file that it was, or none at all."""
    path = path_of(collection, number, folder)
    whole = path.read_bytes()
    path.write_bytes(content) if content is not None else path.unlink()
    yield
    path.write_bytes(whole)


def found(collection: Collection) -> set[str]:
    return {hit.url for words in ("harbour", "shoal", "calm") for hit in collection.search(words, k=50)}


def archived_in(collection: Collection, number: int) -> list[str]:
    """The archive files of the pages of a batch, one for each page."""
    with collection.database.read() as tx:
        return [str(file) for (file,) in tx.rows("SELECT file FROM urls WHERE batch = ?", (number,))]


def told(collection: Collection) -> str:
    return " ".join(event.text for event in operator_view(collection.database, 50).events if event.level == "warning")


def is_due(collection: Collection) -> bool:
    due = collection.pipeline.due()
    return bool(due.batches or due.ranks or due.backlog)


@pytest.mark.parametrize(("folder", "content"), [("documents", None), ("links", b"PAR1 and then nothing")])
def test_pages_of_a_damaged_batch_are_made_again_from_the_archive(
    crawled: Collection, folder: str, content: bytes | None
) -> None:
    first = log_of(crawled).numbers()[0]
    name, pages = path_of(crawled, first, folder).name, len(archived_in(crawled, first))
    with damaged(crawled, first, folder, content):
        ranks = crawled.rank()
        manifest = crawled.index()
        assert manifest.documents == 2 * PAGES
        assert {url.partition("//")[2][:6] for url in found(crawled)} == {"a.test", "b.test"}
        assert ranks.links == 2 * PAGES
        assert name in told(crawled)
        assert f"{pages} pages are made again from the archive" in told(crawled)
        assert not operator_view(crawled.database).failed_tasks
        assert not is_due(crawled)
        if content is not None:
            assert (crawled.folder / "damaged" / folder / name).read_bytes() == content


def test_the_archive_may_lack_them_too(crawled: Collection) -> None:
    """The rest goes on, and the crawl asks again for what is lost."""
    first = log_of(crawled).numbers()[0]
    lost = archived_in(crawled, first)
    for root in (crawled.folder, crawled.folder.parent / "store"):
        for path in (root / "archive").rglob("*.warc.gz"):
            path.write_bytes(b"no archive any more")
    with damaged(crawled, first):
        assert crawled.index().documents == 2 * PAGES - len(lost)
    assert all(f"archive/{file} lacks" in told(crawled) for file in lost)


def test_what_the_archive_does_not_have_is_left_out_and_listed(
    imported: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    name = path_of(imported, 2, "documents").name
    with damaged(imported, 2, content=b"no batch"):
        assert imported.index().documents == 2
        assert name in imported.warnings[0]
        assert imported.rank().pages == 2
        failed = {task.job: task for task in operator_view(imported.database).failed_tasks}
        assert {task.input for task in failed.values()} == {"batch 2"}
        assert set(failed) == {"index", "rank"}
        assert name in failed["index"].error
        assert not is_due(imported)
        assert imported.index().documents == 2  # once more, with nothing new
        if imported.depot is None:
            assert run(["index", "--rebuild", "--dir", str(imported.folder)]) == 0
            assert run(["status", "--dir", str(imported.folder)]) == 0
            assert name in capsys.readouterr().out


def test_what_is_whole_again_is_taken_in(imported: Collection) -> None:
    with damaged(imported, 2):
        imported.rank()
        imported.index()
    assert imported.index().documents == 3
    assert "built without batch 2, which is whole again" in told(imported)
    assert imported.rank().pages == 3
    assert not operator_view(imported.database).failed_tasks
    assert not is_due(imported)


def test_the_last_batch_is_taken_in_without_building_anew(imported: Collection) -> None:
    with damaged(imported, 3):
        first = imported.index()
    second = imported.index()
    assert (first.documents, second.documents) == (2, 3)
    assert "from nothing" not in told(imported)
    assert {entry.name for entry in first.segments} <= {entry.name for entry in second.segments}


def test_what_the_doctor_gave_up_is_not_listed_any_more(imported: Collection) -> None:
    with damaged(imported, 2, content=b"no batch"):
        imported.index()
        said = [finding.detail for finding in repair(imported) if finding.state == "mended"]
        assert any("were imported and are lost" in line for line in said)
        assert not operator_view(imported.database).failed_tasks
        assert [path.read_bytes() for path in (imported.folder / "damaged" / "documents").iterdir()] == [b"no batch"]
        assert imported.index().documents == 2


def test_where_no_batch_is_whole_nothing_is_changed(imported: Collection) -> None:
    with damaged(imported, 1), damaged(imported, 2), damaged(imported, 3), pytest.raises((Corrupt, NotFound)):
        imported.index()
    assert not operator_view(imported.database).failed_tasks
    assert imported.index().documents == 3


@pytest.mark.postgres
def test_a_damaged_copy_of_a_whole_object_is_had_once_more(tmp_path: Path, postgres_address: str) -> None:  # noqa: F811
    flags = {"storage.files": f"file://{tmp_path}/store", "storage.database": postgres_address}
    with Collection(tmp_path / "c", flags=flags).create() as collection:
        url = "https://a.test/"
        log_of(collection).append([Document(url, addresses.key(url), 1.0, title="Harbour", text="calm sea " * 20)])
        copy = collection.folder / log_of(collection).names_of(1).documents
        before = copy.stat()
        content = bytearray(copy.read_bytes())
        content[len(content) // 2] ^= 0xFF
        copy.write_bytes(content)
        os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a disk does it: nobody wrote
        assert collection.index().documents == 1
        assert not collection.warnings
