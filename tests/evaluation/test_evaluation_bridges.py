"""Tools of researchers read our judged collections, and measure our rankings as we do.

With ir_datasets 0.6.3 and PyTerrier 1.1.2, where these are installed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from periplus import Collection
from periplus.app.importing import import_paths
from periplus.errors import UsageError
from periplus.evaluation import JudgedDataset, evaluate, read_collection, transformer

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.evaluation import JudgedCollection

DOCUMENTS = [
    ("d1", "Tides", "The tide rises and falls twice a day in most harbours of this coast."),
    ("d2", "Neaps", "A neap tide is weak, since moon and sun pull across each other."),
    ("d3", "Lights", "The lighthouse keeper lit the lamp, whatever the tide."),
    ("d4", "Bread", "Bakers begin at three in the morning and sell out before nine."),
]


@pytest.fixture
def judged(tmp_path: Path) -> JudgedCollection:
    folder = tmp_path / "coast"
    folder.mkdir()
    lines = [f'{{"id": "{name}", "title": "{title}", "text": "{text}"}}' for name, title, text in DOCUMENTS]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    (folder / "queries.tsv").write_text("q1\tneap tide\nq2\tlighthouse keeper\nq3\ttide in harbours\n")
    (folder / "qrels.tsv").write_text("q1\td2\t1\nq1\td3\t0\nq2\td3\t1\nq3\td1\t1\nq3\td3\t1\n")
    return read_collection(folder)


def test_a_judged_collection_has_the_shape_of_a_dataset(judged: JudgedCollection) -> None:
    dataset = JudgedDataset(judged)
    assert (dataset.docs_count(), dataset.queries_count(), dataset.qrels_count()) == (4, 3, 5)
    first = next(dataset.docs_iter())
    assert (first.doc_id, first.default_text()) == ("d1", " ".join(DOCUMENTS[0][1:]))
    assert next(dataset.queries_iter()) == ("q1", "neap tide")
    assert list(dataset.qrels_iter())[1] == ("q1", "d3", 0, "0")


def test_without_pyterrier_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyterrier", None)
    with pytest.raises(UsageError, match="research"):
        transformer(lambda _query, _most: [])


def test_our_dataset_has_what_theirs_has(judged: JudgedCollection) -> None:
    formats = pytest.importorskip("ir_datasets.formats")
    ours = next(iter(JudgedDataset(judged).qrels_iter()))
    assert set(formats.TrecQrel._fields) == set(ours._fields)
    assert set(formats.GenericDoc._fields) <= set(JudgedDataset(judged).docs_cls()._fields)
    assert set(formats.GenericQuery._fields) == set(JudgedDataset(judged).queries_cls()._fields)


@pytest.mark.filterwarnings("ignore")  # theirs, of pandas
def test_pyterrier_measures_what_we_measure(judged: JudgedCollection, tmp_path: Path) -> None:
    pt = pytest.importorskip("pyterrier")
    registry = pytest.importorskip("ir_datasets").registry
    dataset = JudgedDataset(judged)
    registry.register(dataset.dataset_id(), dataset)
    theirs = pt.get_dataset(f"irds:{dataset.dataset_id()}")
    with Collection(tmp_path / "c") as collection:
        import_paths(collection, [judged.folder / "docs.jsonl"])
        collection.index()
        rank = collection.engine.ranking
        table = pt.Experiment(
            [transformer(rank)], theirs.get_topics(), theirs.get_qrels(), ["ndcg_cut_10", "map"], names=["periplus"]
        )
        ours = evaluate(lambda query, k: [name for name, _ in rank(query, k)], judged.queries, judged.qrels, "periplus")
    assert table["ndcg_cut_10"][0] == pytest.approx(ours.mean("ndcg@10"))
    assert table["map"][0] == pytest.approx(ours.mean("map"))
    assert 0 < ours.mean("ndcg@10") <= 1
