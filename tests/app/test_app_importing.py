"""Import by several processes: the same log as by one."""

from __future__ import annotations

import gzip
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from periplus import Collection
from periplus.addresses import key
from periplus.app import importing, intake
from periplus.documents import BatchLog
from periplus.errors import Corrupt, Incompatible
from periplus.records import Document


def logged(collection: Collection) -> list[tuple[str, str]]:
    log = BatchLog(collection.files, collection.database)
    return [(document.id, document.text) for number in log.numbers() for document in log.documents(number)]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    records = [
        {"id": str(number % 20), "title": "Tides", "text": f"Version {number} of the page."} for number in range(47)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_helpers_append_in_the_order_of_the_file(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(intake, "BATCH", 5)
    told: list[int] = []
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        report = importing.import_paths(two, [lines], progress=told.append)
        rows = logged(two)
    with Collection(tmp_path / "one", flags={"index.workers": 1}) as one:
        importing.import_paths(one, [lines])
        assert rows == logged(one)
    assert (report.documents, report.refused) == (47, 0)
    assert [number for number, _ in rows] == [str(number % 20) for number in range(47)]
    assert told == sorted(told)


def test_what_came_before_a_damaged_line_is_kept_by_helpers_too(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(intake, "BATCH", 10)
    with lines.open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        with pytest.raises(Corrupt, match="line 48"):
            importing.import_paths(two, [lines])
        assert len(logged(two)) == 47


def documents_of(collection: Collection) -> list[Document]:
    log = BatchLog(collection.files, collection.database)
    return [document for number in log.numbers() for document in log.documents(number)]


def test_rows_of_a_parquet_file_are_documents_by_id_or_by_address(tmp_path):
    rows = [
        {"id": "a", "url": None, "title": "Tides", "text": "High water at noon."},
        {"id": None, "url": "http://harbour.example/b", "title": None, "text": "Low water\nSix hours later."},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "rows.parquet"])
        first, second = documents_of(collection)
    assert (report.documents, report.refused) == (2, 0)
    assert (first.id, first.title, first.text) == ("a", "Tides", "High water at noon.")
    assert (second.id, second.url, second.key) == ("", "http://harbour.example/b", key("http://harbour.example/b"))
    assert second.text == "Low water Six hours later."


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([{"url": "http://harbour.example/", "words": "x"}], Incompatible),
        ([{"text": "x"}], Incompatible),
        ([{"text": 1, "id": "a"}], Corrupt),
        ([{"text": "x", "url": "no address"}], Corrupt),
    ],
)
def test_other_tables_are_refused_by_name(tmp_path, rows, error):
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    with Collection(tmp_path / "c") as collection, pytest.raises(error, match=r"rows\.parquet"):
        importing.import_paths(collection, [tmp_path / "rows.parquet"])


def test_a_file_that_only_calls_itself_parquet_is_refused(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 it is not")
    with Collection(tmp_path / "c") as collection, pytest.raises(Corrupt, match=r"rows\.parquet"):
        importing.import_paths(collection, [tmp_path / "rows.parquet"])


def test_lines_packed_by_zstd_and_a_package_of_archives_come_in(tmp_path):
    (tmp_path / "docs.jsonl.zst").write_bytes(zstandard.compress(b'{"id": 1, "text": "High water at noon."}\n'))
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Tides</title><p>Low water."
    record = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://harbour.example/\r\nContent-Length: %d\r\n\r\n"
    )
    with zipfile.ZipFile(tmp_path / "site.wacz", "w") as package:
        package.writestr("archive/data.warc.gz", gzip.compress(record % len(block) + block + b"\r\n\r\n"))
    with Collection(tmp_path / "c") as collection:
        importing.import_paths(collection, [tmp_path / "docs.jsonl.zst", tmp_path / "site.wacz"])
        found = [(document.id, document.url, document.text) for document in documents_of(collection)]
    assert found == [("1", "id:1", "High water at noon."), ("", "http://harbour.example/", "Low water.")]


def page_record(number: int, body: bytes, *, level: int = 6) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://harbour.example/{number % 25}\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n", compresslevel=level, mtime=0)


def archive_of(path, count: int) -> bytes:
    members = [page_record(number, f"<title>{number}</title><p>Tide {number}".encode()) for number in range(count)]
    path.write_bytes(b"".join(members))
    return path.read_bytes()


def imported(folder, paths, workers: int) -> list[tuple[str, str]]:
    with Collection(folder, flags={"index.workers": workers}) as collection:
        importing.import_paths(collection, paths)
        left = [path for path in folder.rglob("*") if path.name.startswith(".tmp")]
        assert left == []
        return [(document.url, document.text) for document in documents_of(collection)]


@pytest.fixture
def short_stretches(monkeypatch):
    monkeypatch.setattr(importing, "SHORTEST", 300)
    monkeypatch.setattr(importing, "LONGEST", 1_500)


@pytest.mark.usefixtures("short_stretches")
def test_stretches_of_archives_come_in_by_helpers_as_by_one_process(tmp_path, lines):
    archive_of(tmp_path / "a.warc.gz", 60)
    archive_of(tmp_path / "b.warc.gz", 7)
    paths = [tmp_path / "a.warc.gz", lines, tmp_path / "b.warc.gz", tmp_path / "a.warc.gz"]
    assert imported(tmp_path / "two", paths, 2) == imported(tmp_path / "one", paths, 1)


@pytest.mark.usefixtures("short_stretches")
def test_an_archive_inside_an_archive_is_not_taken_apart(tmp_path):
    inner = archive_of(tmp_path / "inner.warc.gz", 30)
    outer = [page_record(number, b"<p>Low water") for number in range(5)]
    outer.insert(2, page_record(99, b"<p>Not a page: " + inner, level=0))
    path = tmp_path / "outer.warc.gz"
    path.write_bytes(b"".join(outer))
    rows = imported(tmp_path / "two", [path, tmp_path / "inner.warc.gz"], 2)
    assert rows == imported(tmp_path / "one", [path, tmp_path / "inner.warc.gz"], 1)
    assert len(rows) == 6 + 30


@pytest.mark.usefixtures("short_stretches")
def test_what_stands_before_damage_in_an_archive_is_kept_and_nothing_behind_it(tmp_path):
    path = tmp_path / "a.warc.gz"
    whole = archive_of(path, 60)
    kept = b"".join(page_record(number, f"<title>{number}</title><p>Tide {number}".encode()) for number in range(40))
    assert whole.startswith(kept)
    path.write_bytes(kept + b"rubbish" + whole[len(kept) :])
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        with pytest.raises(Corrupt, match=r"a\.warc\.gz"):
            importing.import_paths(two, [path, path])
        assert len(documents_of(two)) == 40
    assert [path for path in (tmp_path / "two").rglob("*") if path.name.startswith(".tmp")] == []
