"""Exports that need a crawled collection: its addresses, and results as a TREC run."""

from __future__ import annotations

import csv

import pyarrow.parquet as pq
import pytest

from periplus import Collection
from periplus.cli.main import run
from periplus.demo import DemoWeb


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
