"""Exports that need a crawled collection: its addresses, and results as a TREC run."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zipfile

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from periplus import Collection
from periplus.archive import contents, write_package
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.records import Page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=12, scope="host", delay=0.01, resolve=web.resolve)
        made.index()
        assert made.politeness().clean
    return folder


def test_every_known_address_is_exported(folder, tmp_path):
    out = tmp_path / "pages.parquet"
    assert run(["export", "pages", "--out", str(out), "--dir", str(folder)]) == 0
    rows = pq.read_table(out).to_pylist()
    with Collection.existing(folder) as collection:
        urls = {document.url for document in collection.documents() if document.indexable}
        status = collection.status().crawl

    fetched = [row for row in rows if row["state"] == "fetched"]
    assert urls <= {row["url"] for row in fetched}
    assert len(rows) == len({row["url"] for row in rows}) > len(fetched)
    assert sum(row["state"] == "queued" for row in rows) == status.queued
    assert all(row["fetched_at"] and row["file"] and row["length"] for row in fetched if row["status"] == 200)
    assert all(row["reason"] for row in rows if row["state"] == "refused")


def test_addresses_as_csv(folder, tmp_path):
    out = tmp_path / "pages.csv"
    assert run(["export", "pages", "--out", str(out), "--dir", str(folder)]) == 0
    with out.open(encoding="utf-8") as file:
        assert {"url", "state", "status"} < set(next(csv.DictReader(file)))


def test_a_run_of_queries(folder, tmp_path, capsys):
    queries, out = tmp_path / "q.tsv", tmp_path / "run.txt"
    queries.write_text("1\ttide tables\n2\tlighthouse\n", encoding="utf-8")
    arguments = ["export", "run", "--queries", str(queries), "--out", str(out), "--profile", "bm25"]
    assert run([*arguments, "--dir", str(folder)]) == 0
    lines = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    assert {line[0] for line in lines} == {"1", "2"}
    assert all(len(line) == 6 and line[1] == "Q0" and line[5] == "bm25" for line in lines)
    assert [int(line[3]) for line in lines if line[0] == "1"] == list(range(1, sum(x[0] == "1" for x in lines) + 1))
    assert run(["export", "run", "--dir", str(folder)]) == 2
    assert "--queries" in capsys.readouterr().err


def test_the_archive_as_a_package_that_other_tools_open(folder, tmp_path, capsys):
    out = tmp_path / "site.wacz"
    assert run(["export", "wacz", "--out", str(out), "--dir", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    with Collection.existing(folder) as collection:
        known = {document.url for document in collection.documents() if document.indexable}
    with zipfile.ZipFile(out) as package:
        assert package.testzip() is None
        assert all(part.compress_type == zipfile.ZIP_STORED for part in package.infolist())
        described = json.loads(package.read("datapackage.json"))
        for part in described["resources"]:
            content = package.read(part["path"])
            assert part["bytes"] == len(content)
            assert part["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        digest = json.loads(package.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(package.read('datapackage.json')).hexdigest()}"
        lines = package.read("indexes/index.cdx").decode().splitlines()
        listed = [json.loads(line)["url"] for line in package.read("pages/pages.jsonl").decode().splitlines()[1:]]
        assert sorted(listed) == sorted(known)
        assert lines == sorted(lines)
        assert len(lines) == told["rows"] > len(known)
        for line in lines:
            check_place(package, json.loads(line.split(" ", 2)[2]))
    assert known <= {found.url for found in contents(out) if isinstance(found, Page)}


def check_place(package, entry):
    """Another's reader finds the response where the index says."""
    with package.open(f"archive/{entry['filename']}") as archive:
        archive.seek(int(entry["offset"]))
        found = next(iter(ArchiveIterator(io.BytesIO(archive.read(int(entry["length"]))))))
        assert found.rec_headers.get_header("WARC-Target-URI") == entry["url"]
        assert found.http_headers.get_statuscode() == entry["status"]
        assert found.rec_headers.get_header("WARC-Payload-Digest") == entry["digest"]


def test_a_package_of_an_archive_that_is_being_written_holds_its_whole_records(folder, tmp_path):
    archive = tmp_path / "archive"
    shutil.copytree(folder / "archive", archive)
    (file,) = archive.glob("*.warc.gz")
    whole = file.stat().st_size
    with file.open("ab") as tail:
        tail.write(file.read_bytes()[:100])
    write_package(archive, tmp_path / "torn.wacz", (), "test", 0.0)
    write_package(folder / "archive", tmp_path / "whole.wacz", (), "test", 0.0)
    with zipfile.ZipFile(tmp_path / "torn.wacz") as torn, zipfile.ZipFile(tmp_path / "whole.wacz") as sound:
        assert torn.getinfo(f"archive/{file.name}").file_size == whole
        assert torn.read("indexes/index.cdx") == sound.read("indexes/index.cdx")


def test_lines_of_the_index_are_in_order_however_many_runs_they_make(folder, tmp_path, monkeypatch):
    write_package(folder / "archive", tmp_path / "one.wacz", (), "test", 0.0)
    monkeypatch.setattr("periplus.archive.package._RUN", 3)
    write_package(folder / "archive", tmp_path / "many.wacz", (), "test", 0.0)
    with zipfile.ZipFile(tmp_path / "one.wacz") as one, zipfile.ZipFile(tmp_path / "many.wacz") as many:
        assert one.read("indexes/index.cdx") == many.read("indexes/index.cdx")


def test_a_collection_without_an_archive_is_told(tmp_path, capsys):
    with Collection(tmp_path / "c") as made:
        made.create()
    assert run(["export", "wacz", "--out", str(tmp_path / "x.wacz"), "--dir", str(tmp_path / "c")]) != 0
    assert "no WARC files" in capsys.readouterr().err
    assert not (tmp_path / "x.wacz").exists()
