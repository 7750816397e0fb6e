"""Import by several processes: the same log as by one."""

from __future__ import annotations

import gzip
import json
import random
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from periplus import Collection
from periplus.addresses import key
from periplus.app import importing
from periplus.app.importing import work
from periplus.app.importing.sizes import Sizes
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
    monkeypatch.setattr(work, "SIZES", Sizes(lines=5))
    monkeypatch.setattr(work, "BATCH", 5)
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


def test_a_bad_line_is_named_and_the_rest_is_taken_in_by_helpers_too(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(work, "SIZES", Sizes(lines=10))
    monkeypatch.setattr(work, "BATCH", 10)
    with lines.open("a", encoding="utf-8") as file:
        file.write('{broken\n\n{"id": "last", "text": "Slack water."}\n')
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        report = importing.import_paths(two, [lines])
        rows = logged(two)
    assert (len(rows), rows[-1]) == (48, ("last", "Slack water."))
    assert (report.records, report.documents, report.left_out) == (49, 48, {"bad-record": 1})
    (problem,) = report.problems
    assert (problem.file, problem.place, problem.reason) == (str(lines), "line 48", "bad-record")
    assert "malformed" in problem.what


@pytest.mark.parametrize("workers", [1, 2])
def test_a_strict_import_stops_at_the_first_bad_line_and_keeps_what_came_before(tmp_path, lines, monkeypatch, workers):
    monkeypatch.setattr(work, "SIZES", Sizes(lines=10))
    monkeypatch.setattr(work, "BATCH", 10)
    whole = lines.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.write_text("".join([*whole[:33], "{broken\n", *whole[33:]]), encoding="utf-8")
    with Collection(tmp_path / "c", flags={"index.workers": workers}) as collection:
        with pytest.raises(Corrupt, match=r"docs\.jsonl, line 34: .*kept"):
            importing.import_paths(collection, [lines], strict=True)
        assert logged(collection) == [(str(n % 20), f"Version {n} of the page.") for n in range(33)]
    assert [path for path in (tmp_path / "c").rglob("*") if path.name.startswith(".tmp")] == []


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
    "rows",
    [
        [{"url": "http://harbour.example/", "words": "x"}],
        [{"text": "x"}],
        [{"text": 1, "id": "a"}],
        [{"text": ["x"], "id": "a"}],
        [{"text": "x", "id": {"a": 1}}],
    ],
)
def test_other_tables_are_refused_by_name(tmp_path, rows):
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    with Collection(tmp_path / "c") as collection, pytest.raises(Incompatible, match=r"rows\.parquet"):
        importing.import_paths(collection, [tmp_path / "rows.parquet"])
    assert not (tmp_path / "c").exists()


def test_rows_that_are_no_records_are_named(tmp_path):
    rows = [
        {"id": 1, "url": None, "text": b"bytes in UTF-8"},
        {"id": None, "url": "no address", "text": b"lost"},
        {"id": None, "url": None, "text": b"lost"},
        {"id": 4, "url": "no address", "text": b"kept by its id"},
        {"id": 5, "url": None, "text": b"\xff\xfe"},
        {"id": 6, "url": None, "text": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet", row_group_size=2)
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "rows.parquet"])
        found = [(document.id, document.text, document.refusal) for document in documents_of(collection)]
    assert found == [("1", "bytes in UTF-8", ""), ("4", "kept by its id", ""), ("6", "", "no-content")]
    assert report.left_out == {"bad-record": 3, "no-content": 1}
    assert [problem.place for problem in report.problems] == ["row 2", "row 3", "row 5"]
    assert report.without_address == 1


def test_ids_that_a_table_holds_as_fractions_are_whole_again(tmp_path):
    table = pa.table(
        {"id": pa.array([1.0, None, 3.0]), "text": ["a", "b", "c"], "url": [None, "http://h.example/", ""]}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    with Collection(tmp_path / "c") as collection:
        importing.import_paths(collection, [tmp_path / "rows.parquet"])
        assert [document.id for document in documents_of(collection)] == ["1", "", "3"]


def test_behind_a_damaged_group_of_rows_the_next_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "SIZES", Sizes(rows=40))
    path = tmp_path / "rows.parquet"
    rows = [{"id": str(number), "text": f"Tide {number}. " + "x" * number} for number in range(300)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=100, compression="zstd")
    damaged = bytearray(path.read_bytes())
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(1)
    start = chunk.data_page_offset
    damaged[start : start + 40] = bytes(40)
    path.write_bytes(damaged)
    with Collection(tmp_path / "c", flags={"index.workers": 2}) as collection:
        report = importing.import_paths(collection, [path])
        found = [int(name) for name, _ in logged(collection)]
    assert found == [*range(100), *range(200, 300)]
    assert [(problem.place, problem.reason) for problem in report.problems] == [("rows 101 to 200", "damaged")]


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
    monkeypatch.setattr(work, "SIZES", Sizes(shortest=300, longest=1_500))


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
@pytest.mark.parametrize("hole", [b"rubbish", bytes(3_000), b"\x1f\x8b\x08\0\0\0\0\0\0\xff and then nothing of it"])
def test_what_stands_before_and_behind_damage_in_an_archive_is_kept(tmp_path, hole):
    path = tmp_path / "a.warc.gz"
    whole = archive_of(path, 60)
    kept = b"".join(page_record(number, f"<title>{number}</title><p>Tide {number}".encode()) for number in range(40))
    assert whole.startswith(kept)
    path.write_bytes(kept + hole + whole[len(kept) :])
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        report = importing.import_paths(two, [path, path])
        assert len(documents_of(two)) == 120
    assert (report.documents, report.left_out) == (120, {"damaged": 2})
    assert {problem.place for problem in report.problems} == {f"byte {len(kept)}, {len(hole)} bytes"}
    assert report.repeated == 120 - 25
    assert [path for path in (tmp_path / "two").rglob("*") if path.name.startswith(".tmp")] == []


@pytest.mark.usefixtures("short_stretches")
def test_a_strict_import_stops_at_damage_in_an_archive(tmp_path):
    path = tmp_path / "a.warc.gz"
    whole = archive_of(path, 60)
    kept = b"".join(page_record(number, f"<title>{number}</title><p>Tide {number}".encode()) for number in range(40))
    path.write_bytes(kept + b"rubbish" + whole[len(kept) :])
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        with pytest.raises(Corrupt, match=rf"a\.warc\.gz, byte {len(kept)}"):
            importing.import_paths(two, [path, path], strict=True)
        assert len(documents_of(two)) == 40


def response(url: str, kind: str, body: bytes) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def test_what_is_no_document_in_an_archive_is_left_out_and_counted(tmp_path):
    base = "http://harbour.example"
    (tmp_path / "a.warc").write_bytes(
        b"".join(
            [
                response(f"{base}/", "text/html", b"<title>Harbour</title><p>High water at noon."),
                response(f"{base}/robots.txt", "text/plain", b"User-agent: *\nDisallow: /tmp/"),
                response(f"{base}/style.css", "text/css", b"body { color: navy }"),
                response(f"{base}/old.css?v=2", "text/plain", b"body { color: navy }"),
                response(f"{base}/app.js", "text/javascript", b"let tide = 1;"),
                response(f"{base}/lib", "application/javascript", b"let tide = 1;"),
                response(f"{base}/old.js", "text/plain", b"var tide = 1;"),
                response(f"{base}/ship.png", "image/png", b"\x89PNG\r\n\x1a\n"),
                response(f"{base}/face.woff2", "font/woff2", b"wOF2"),
                response(f"{base}/tides.json", "application/json", b'{"high": 12}'),
                response(f"{base}/notes.txt", "text/plain", b"Notes on tides."),
                response("urn:pageinfo:x", "text/html", b"<p>x"),
            ]
        )
    )
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "a.warc"])
        assert [document.url for document in documents_of(collection)] == [f"{base}/", f"{base}/notes.txt"]
    assert report.left_out == {"unsupported-type": 8, "not-a-page": 2}
    assert report.types == {
        "text/css": 2,
        "text/javascript": 2,
        "application/javascript": 1,
        "application/json": 1,
        "font/woff2": 1,
        "image/png": 1,
    }
    assert report.problems == ()


@pytest.mark.parametrize("title", ['"title": "", ', '"title": null, ', '"title": "  ", ', ""])
def test_a_record_without_a_title_has_none(tmp_path, title):
    (tmp_path / "docs.jsonl").write_text(
        f'{{"id": "a", {title}"text": "High water\\nIt is at noon."}}', encoding="utf-8"
    )
    with Collection(tmp_path / "c") as collection:
        importing.import_paths(collection, [tmp_path / "docs.jsonl"])
        (document,) = documents_of(collection)
        collection.index()
        assert list(collection.search("intitle:high")) == []
        (hit,) = collection.search("high water")
    assert (document.title, document.text) == ("", "High water It is at noon.")
    assert (hit.title, hit.id) == ("High water It is at noon.", "a")  # shown only


def test_texts_are_taken_as_texts_whatever_they_begin_with(tmp_path):
    texts = [
        "%PDF-1.4 is a version",
        "GIF89a is a format",
        '{"@context": "x"}',
        "PK\x03\x04",
        "<html>",
        "wOF is no word",
    ]
    records = [{"id": number, "text": text} for number, text in enumerate(texts)]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "docs.jsonl"])
        assert {document.content_type for document in documents_of(collection)} == {"text/plain"}
    assert (report.documents, report.refused) == (len(texts), 0)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"id": 1, "body": "x"}', "neither text nor title; it has id, body"),
        (b'{"id": 1, "body": "\xff"}', "neither text nor title; it has fields that cannot be read"),
        (b'{"text": "x"}', "neither id nor url"),
        (b'{"url": "nowhere", "text": "x"}', "no http address"),
        (b'{"id": 1, "text": {"a": 1}}', "got `object` - at `$.text`"),
        (b'{"id": [1], "text": "x"}', "got `array` - at `$.id`"),
        (b'["a", "b"]', "got `array`"),
        (b'{"id": 1, "text": "\xff"}', "UTF-8"),
        (b'{"id": "%b", "text": "x"}' % (b"x" * 2_000), "an id of 2000 characters"),
        (b"id,title,text", "malformed"),
    ],
)
def test_a_line_that_is_no_record_says_what_is_wrong(tmp_path, line, what):
    (tmp_path / "docs.jsonl").write_bytes(line + b'\r\n\r\n{"id": 2.0, "text": "High water."}\r\n')
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "docs.jsonl"])
        assert logged(collection) == [("2", "High water.")]
    (problem,) = report.problems
    assert problem.place == "line 1"
    assert what.lower() in problem.what.lower()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_lines_in_any_encoding_of_unicode(tmp_path, encoding):
    text = "".join(
        json.dumps({"id": n, "text": f"Flut {n} in Büsum ☀"}, ensure_ascii=False) + "\r\n" for n in range(9_000)
    )
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (tmp_path / "docs.ndjson").write_bytes(mark + text.encode(encoding))
    with Collection(tmp_path / "c", flags={"index.workers": 2}) as collection:
        report = importing.import_paths(collection, [tmp_path / "docs.ndjson"])
        assert logged(collection) == [(str(n), f"Flut {n} in Büsum ☀") for n in range(9_000)]
    assert report.refused == 0


def test_a_line_over_the_limit_is_named_and_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "SIZES", Sizes(longest_line=100_000))
    whole = [json.dumps({"id": n, "text": "tide " * n}) for n in (1, 30_000, 2, 19_000)]
    (tmp_path / "docs.jsonl").write_text("\n".join(whole), encoding="utf-8")
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "docs.jsonl"])
        assert [name for name, _ in logged(collection)] == ["1", "2", "19000"]
    assert [(problem.place, problem.reason) for problem in report.problems] == [("line 2", "too-large")]


def test_a_torn_packed_file_gives_what_stands_before_and_the_next_file_is_read(tmp_path):
    text = "".join(json.dumps({"id": n, "text": f"Tide {n} {random.Random(n).random()}"}) + "\n" for n in range(3_000))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-9_000])
    (tmp_path / "b.jsonl").write_text('{"id": "b", "text": "Slack water."}', encoding="utf-8")
    with Collection(tmp_path / "c") as collection:
        report = importing.import_paths(collection, [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"])
        found = [name for name, _ in logged(collection)]
    assert found == [*map(str, range(len(found) - 1)), "b"]
    assert len(found) > 1_000
    (problem,) = report.problems
    assert (problem.file, problem.reason) == (str(tmp_path / "a.jsonl.gz"), "damaged")


def test_many_small_files_become_one_batch(tmp_path):
    paths = []
    for number in range(30):
        paths.append(tmp_path / f"{number:02}.jsonl")
        paths[-1].write_text(json.dumps({"id": number, "text": "Slack water."}), encoding="utf-8")
    with Collection(tmp_path / "c") as collection:
        importing.import_paths(collection, paths)
        assert BatchLog(collection.files, collection.database).numbers() == [1]
        assert len(logged(collection)) == 30


@pytest.mark.usefixtures("short_stretches")
def test_a_small_file_before_large_ones_leaves_no_core_idle(tmp_path, lines):
    archive_of(tmp_path / "a.warc.gz", 60)
    paths = [lines, tmp_path / "a.warc.gz"]
    assert work.Work(paths, "", 2).is_large
    assert not work.Work(paths[:1], "", 2).is_large
    assert imported(tmp_path / "two", paths, 2) == imported(tmp_path / "one", paths, 1)
