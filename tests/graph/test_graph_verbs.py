"""The verbs of this room: pagerank of any edge list, rank with its picture, export."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from graph_samples import page

from periplus.app import Collection
from periplus.cli.export_verb import export
from periplus.cli.pagerank_verb import pagerank
from periplus.cli.rank_verb import rank
from periplus.documents import BatchLog
from periplus.errors import NotFound, StorageError, UsageError

A, B = "https://a.example/", "https://b.example/"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n2 0\n2 1\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection(tmp_path / "collection") as collection:
        collection.create()
        BatchLog(collection.files, collection.database).append([page(A, B), page(B, A, "https://c.example/")])
        return collection.folder


def ranks_in(text: str) -> dict[str, float]:
    return {name: float(rank) for name, _, rank in (line.partition("\t") for line in text.splitlines())}


def test_ranks_go_to_standard_output(edges: Path, capsys) -> None:
    pagerank(edges)
    shown = capsys.readouterr()
    assert sum(ranks_in(shown.out).values()) == pytest.approx(1)
    assert "4 links" in shown.err
    assert "not converged" not in shown.err


def test_policies_and_the_warning(edges: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "ranks.tsv"
    pagerank(edges, max_iterations=2, form="classic", dangling="ignore", table=True, nodes=5, out=out)
    shown = capsys.readouterr()
    assert "not converged" in shown.err
    assert shown.out == ""
    assert list(ranks_in(out.read_text())) == ["0", "1", "2", "3", "4"]
    with pytest.raises(UsageError, match="dangling"):
        pagerank(edges, dangling="lost")
    with pytest.raises(StorageError):
        pagerank(edges, out=tmp_path / "absent" / "ranks.tsv")


def test_trusted_nodes_hold_the_teleport(edges: Path, capsys) -> None:
    pagerank(edges, trusted=["0"], nodes=4)
    ranks = ranks_in(capsys.readouterr().out)
    assert ranks["3"] == 0
    assert ranks["0"] > 0.25
    with pytest.raises(NotFound, match="no node 9"):
        pagerank(edges, trusted=["9"])


def test_rank_shows_tables_and_draws(folder: Path, tmp_path: Path, capsys) -> None:
    picture = tmp_path / "ranks.svg"
    rank(folder, plot=picture)
    shown = capsys.readouterr().err
    assert "pages: iteration, change, seconds" in shown
    assert "best hosts" in shown
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    rank(folder, graph="host")
    assert "best pages" not in capsys.readouterr().err
    with pytest.raises(UsageError, match="page, host, both"):
        rank(folder, graph="site")
    with pytest.raises(StorageError):
        rank(folder, plot=tmp_path / "absent" / "ranks.svg")


def test_export(folder: Path, tmp_path: Path, capsys) -> None:
    export("links", tmp_path / "links.parquet", directory=folder)
    assert pq.read_table(tmp_path / "links.parquet").num_rows == 3
    assert "3 rows" in capsys.readouterr().err
    with pytest.raises(NotFound, match="periplus rank"):
        export("ranks", tmp_path / "ranks.csv", directory=folder)
    rank(folder)
    export("ranks", tmp_path / "ranks.csv", directory=folder, json=True)
    assert '"rows": 2' in capsys.readouterr().out
    assert len((tmp_path / "ranks.csv").read_text().splitlines()) == 3
    export("hosts", tmp_path / "hosts.csv", directory=folder)
    export("documents", tmp_path / "documents.parquet", directory=folder)
    for wrong in ({"kind": "secrets"}, {"kind": "links", "format": "xml"}):
        with pytest.raises(UsageError):
            export(**wrong, out=tmp_path / "x.csv", directory=folder)
