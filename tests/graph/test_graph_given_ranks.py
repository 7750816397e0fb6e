"""Ranks that were computed elsewhere: taken in whole, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from graph_samples import page
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.app import Collection
from periplus.app.console.panels import CollectionPanels
from periplus.cli.export_verb import export
from periplus.cli.rank_verb import rank
from periplus.cli.status_verb import status
from periplus.documents import BatchLog
from periplus.errors import NotFound, PeriplusError, UnfitFile, UsageError
from periplus.graph import RankFile, RankStore, refresh_ranks

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


@pytest.fixture
def store(tmp_path: Path) -> RankStore:
    return RankStore(tmp_path / "ranks")


def ranks_of(store: RankStore, *urls: str) -> list[float]:
    table = store.current()
    assert table is not None
    return table.page(np.array([addresses.page_key(url) for url in urls], np.int64)).tolist()


def written(path: Path, **columns: list) -> Path:
    table = pa.table(columns)
    pq.write_table(table, path) if path.suffix == ".parquet" else pa_csv.write_csv(table, path)
    return path


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_ranks_are_taken_in_and_sum_to_one(log, store: RankStore, tmp_path: Path, form: str) -> None:
    log.append([page(A, B), page(B, A), page(C, A)])
    file = written(tmp_path / f"spark.{form}", url=[B, A, C], rank=[6.0, 3.0, 1.0])
    table = refresh_ranks(log, store, given=RankFile(file))
    assert ranks_of(store, A, B, C) == pytest.approx([0.3, 0.6, 0.1])
    origin = table.meta.origin
    assert origin is not None
    assert (origin.file, origin.rows, origin.unknown, origin.missing) == (file.name, 3, 0, 0)
    assert (table.meta.page_history, table.meta.links, len(table.host_keys)) == ((), 3, 3)
    assert [top.name for top in table.meta.top_pages] == [B, A, C]
    assert refresh_ranks(log, store).meta.origin is None


def test_unknown_pages_are_named_and_missing_ones_have_the_least_rank(log, store: RankStore, tmp_path: Path) -> None:
    log.append([page(A, B), page(B, A), page(C, A)])
    strangers = [f"https://stranger.example/{number}" for number in range(9)]
    file = written(tmp_path / "ranks.csv", url=[A, B, *strangers, "no address"], rank=[3.0, 1.0, *[5.0] * 10])
    origin = refresh_ranks(log, store, given=RankFile(file)).meta.origin
    assert origin is not None
    assert (origin.unknown, origin.missing, origin.samples) == (10, 1, tuple(strangers[:5]))
    assert ranks_of(store, A, B, C) == pytest.approx([0.6, 0.2, 0.2])


def test_rows_of_one_page_are_added_up(log, store: RankStore, tmp_path: Path) -> None:
    """By http and by https, and under an address that names another as canonical."""
    log.append([page(A, B), page(B, A), page(C, canonical=B, refusal="canonical-elsewhere")])
    file = written(tmp_path / "ranks.csv", url=["HTTP://a.example", A, B, C], rank=[1.0, 2.0, 3.0, 4.0])
    refresh_ranks(log, store, given=RankFile(file))
    assert ranks_of(store, A, B) == pytest.approx([0.3, 0.7])


def test_pages_are_also_told_by_keys(log, store: RankStore, tmp_path: Path) -> None:
    log.append([page(A, B), page(B, A)])
    for name, key in (("page_key", addresses.page_key), ("key", addresses.key)):
        file = written(tmp_path / f"{name}.parquet", rank=[1, 3, 9], **{name: [key(A), key(B), key(C)]})
        origin = refresh_ranks(log, store, given=RankFile(file)).meta.origin
        assert origin is not None
        assert (origin.unknown, origin.samples) == (1, (str(key(C)),))
        assert ranks_of(store, A, B) == pytest.approx([0.25, 0.75])


def test_a_folder_of_parts_is_one_file(log, store: RankStore, tmp_path: Path) -> None:
    log.append([page(A, B), page(B, A)])
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "_SUCCESS").touch()
    (tmp_path / "spark" / ".part-0.crc.parquet").write_bytes(b"x")
    written(tmp_path / "spark" / "part-0.parquet", url=[A], rank=[1.0])
    written(tmp_path / "spark" / "part-1.parquet", url=[B], rank=[3.0])
    refresh_ranks(log, store, given=RankFile(tmp_path / "spark"))
    assert ranks_of(store, A, B) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("url,rank\nhttps://a.example/,0.5\nhttps://b.example/,-1\n", "row 2 is -1"),
        ("url,rank\nhttps://a.example/,nan\n", "row 1 is missing or not a number"),
        ("url,rank\nhttps://a.example/,\n", "row 1 is missing or not a number"),
        ("url,rank\nhttps://a.example/,inf\n", "row 1 is inf"),
        ("url,rank\nhttps://a.example/,much\n", "cannot be read as ranks"),
        ("url,rank\nhttps://a.example/,0\n", "gives no page a rank above 0"),
        ("url,rank\nhttps://z.example/,1\n", "names no page of this collection"),
        ("url,rank\n", "names no page of this collection"),
        ("page,score\nhttps://a.example/,1\n", "has the columns page, score; it needs rank, and url, page_key or key"),
        ("", "cannot be read as ranks"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_in_one_line(
    log, store: RankStore, tmp_path: Path, text: str, said: str
) -> None:
    log.append([page(A, B), page(B, A)])
    path = tmp_path / "ranks.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnfitFile, match=said) as caught:
        refresh_ranks(log, store, given=RankFile(path))
    assert "\n" not in str(caught.value)
    assert store.current() is None


def test_files_that_are_none(tmp_path: Path, log, store: RankStore) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 but no more")
    (tmp_path / "empty").mkdir()
    for name, kind in (("absent.csv", NotFound), ("broken.parquet", UnfitFile), ("ranks.txt", UsageError)):
        with pytest.raises(kind):
            RankFile(tmp_path / name)
    with pytest.raises(NotFound, match="holds no"):
        RankFile(tmp_path / "empty")
    whole = written(tmp_path / "ranks.csv", url=[A], rank=[1.0])
    with pytest.raises(UsageError, match="no pages yet"):
        refresh_ranks(log, store, given=RankFile(whole))


rows = st.lists(st.tuples(st.sampled_from([A, B, C, "https://z.example/"]), st.floats(0, 1e9)), max_size=12)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows)
def test_ranks_are_what_a_dictionary_gives(log, store: RankStore, tmp_path: Path, listed: list) -> None:
    if not log.numbers():
        log.append([page(A, B), page(B, A), page(C, A)])
    sums = dict.fromkeys((A, B, C), 0.0)
    for url, value in listed:
        if url in sums:
            sums[url] += value
    file = written(
        tmp_path / "ranks.parquet",
        url=pa.array([u for u, _ in listed], pa.string()),
        rank=pa.array([r for _, r in listed], pa.float64()),
    )
    if not any(sums.values()):
        with pytest.raises(PeriplusError):
            refresh_ranks(log, store, given=RankFile(file))
        return
    refresh_ranks(log, store, given=RankFile(file))
    least = min(value for value in sums.values() if value)
    filled = {url: value or least for url, value in sums.items()}
    expected = [filled[url] / sum(filled.values()) for url in (A, B, C)]
    assert ranks_of(store, A, B, C) == pytest.approx(expected, rel=1e-12)


def test_the_verb_says_what_it_took_and_the_status_where_from(tmp_path: Path, capsys) -> None:
    with Collection(tmp_path / "collection") as collection:
        collection.create()
        folder = collection.folder
        BatchLog(collection.files, collection.database).append([page(A, B), page(B, A, C)])
        collection.index()
        before = collection.index().generation
    file = written(tmp_path / "spark.parquet", url=[A, B, "https://z.example/"], rank=[3.0, 1.0, 2.0])
    rank(folder, given=file)
    shown = " ".join(capsys.readouterr().err.split())
    assert "from spark.parquet, 3 rows" in shown
    assert "1 rows passed over: https://z.example/" in shown
    assert "1 pages have the least rank" in shown
    status(folder)
    assert "from spark.parquet" in " ".join(capsys.readouterr().out.split())
    with Collection(folder) as collection:
        assert collection.index().generation > before  # the index took them over
        assert CollectionPanels(collection).ranks()["origin"]["file"] == "spark.parquet"
    export("ranks", tmp_path / "again.csv", directory=folder)
    rank(folder, given=tmp_path / "again.csv", json=True)
    assert '"unknown": 0' in capsys.readouterr().out
