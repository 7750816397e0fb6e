"""Tables for other programs, and the picture of the ranks."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from graph_samples import page

from periplus.errors import StorageError, UsageError
from periplus.graph import NO_VERTICES, RankStore, VertexRanks, export, refresh_ranks
from periplus.graph.picture import rank_picture
from periplus.records import Link

A, B, C = (f"https://{name}.example/" for name in "abc")


@pytest.fixture
def store(log, tmp_path: Path) -> RankStore:
    log.append([page(A, Link(B, "old words")), page(B, A, title="B")])
    log.append([page(A, Link(B, "new words", rel=("nofollow", "ugc")), C, title="A"), page(C, refusal="gone")])
    store = RankStore(tmp_path / "ranks")
    refresh_ranks(log, store)
    return store


def test_links_of_the_newest_versions(log, store, tmp_path: Path) -> None:
    assert export.write_tables(export.link_tables(log), tmp_path / "links.parquet") == 3
    rows = pq.read_table(tmp_path / "links.parquet").to_pylist()
    assert rows == [
        {"source": B, "target": A, "text": "", "rel": "", "place": "content"},
        {"source": A, "target": B, "text": "new words", "rel": "nofollow ugc", "place": "content"},
        {"source": A, "target": C, "text": "", "rel": "", "place": "content"},
    ]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_ranks_of_pages(log, store, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"ranks.{form}"
    assert export.write_tables(export.rank_tables(log, store.current()), file) == 2
    read = pq.read_table if form == "parquet" else pa_csv.read_csv
    rows = {row["url"]: row for row in read(file).to_pylist()}
    assert set(rows) == {A, B}
    assert rows[A]["rank"] == pytest.approx(store.current().page_rank(rows[A]["page_key"]))
    assert rows[A]["sites"] == 1
    assert 0 <= rows[A]["prior"] < 1
    assert list(tmp_path.glob(".ranks*")) == []


def test_hosts_and_documents(log, store, tmp_path: Path) -> None:
    export.write_tables(export.host_tables(store.current()), tmp_path / "hosts.parquet")
    hosts = pq.read_table(tmp_path / "hosts.parquet").to_pylist()
    assert sorted(row["host"] for row in hosts) == ["a.example", "b.example", "c.example"]
    assert sum(row["rank"] for row in hosts) == pytest.approx(1)
    assert export.write_tables(export.document_tables(log), tmp_path / "out", "parquet") == 2
    titles = pq.read_table(tmp_path / "out").column("title").to_pylist()
    assert titles == ["B", "A"]


def test_nothing_to_write(log, tmp_path: Path) -> None:
    for form in ("parquet", "csv"):
        assert export.write_tables(export.link_tables(log), tmp_path / f"none.{form}") == 0
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    assert (tmp_path / "none.csv").read_bytes() == b""


def test_files_that_cannot_be_written(log, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format"):
        export.write_tables(export.link_tables(log), tmp_path / "links.txt")
    with pytest.raises(StorageError):
        export.write_tables(export.link_tables(log), tmp_path / "absent" / "links.csv")
    with pytest.raises(StorageError, match="cannot be written: .*; choose another file"):  # nor can it be removed
        export.write_tables(export.link_tables(log), tmp_path / f"{'long' * 62}.csv")


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("text")]


def test_the_picture(log, store) -> None:
    shown = texts(rank_picture(store.current()))
    assert shown[0] == "PageRank of 3 pages on 3 hosts, 2 links"
    assert any("b.example" in text for text in shown)
    assert {"pages", "hosts", "iteration", "Best hosts"} <= set(shown)


def test_pictures_of_odd_ranks(store) -> None:
    empty = store.publish(NO_VERTICES, NO_VERTICES, last_batch=0)
    assert "no ranks" in texts(rank_picture(empty))
    best = VertexRanks(np.array([1]), np.array([1.0]))
    one = store.publish(best, best, last_batch=0)
    assert "NaN" not in rank_picture(one)
    assert "inf" not in rank_picture(one)
