"""Runs of batches: made once, merged, made again when damaged; sorting that spills; addresses from the journal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_samples import page
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.errors import Corrupt
from periplus.graph import LinkGraph, RankStore, csr, host_addresses, refresh_ranks, runs, sorting
from periplus.jobs.runners import ProcessRunner
from periplus.records import Link
from periplus.storage import Database, LocalFiles

A, B, C, D = (f"https://{name}.example/" for name in "abcd")


class Counting:
    """A log that counts which batches are read."""

    def __init__(self, log) -> None:
        self._log = log
        self.read: list[int] = []

    def numbers(self, after: int = 0) -> list[int]:
        return self._log.numbers(after)

    def first(self, number: int) -> int:
        return self._log.first(number)

    def document_table(self, number: int, columns=None):
        if columns and "refusal" in columns:
            self.read.append(number)
        return self._log.document_table(number, columns)

    def links(self, number: int, columns=None):
        return self._log.links(number, columns)


def test_a_refresh_reads_new_batches_only(log, tmp_path: Path) -> None:
    counting, store = Counting(log), RankStore(tmp_path / "ranks")
    log.append([page(A, B), page(B, A)])
    log.append([page(C, A)])
    refresh_ranks(counting, store)
    assert counting.read == [1, 2]
    log.append([page(D, A), page(A, C)])
    merged = refresh_ranks(counting, store)
    assert counting.read == [1, 2, 3]
    fresh = refresh_ranks(log, RankStore(tmp_path / "other"))
    assert merged.page_keys.tolist() == fresh.page_keys.tolist()
    assert np.abs(merged.page_ranks - fresh.page_ranks).sum() < 1e-8
    assert (merged.meta.links, merged.pages) == (fresh.meta.links, 4)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing", b"short"])
def test_a_damaged_run_is_made_again(log, tmp_path: Path, damage: bytes) -> None:
    store = RankStore(tmp_path / "ranks")
    log.append([page(A, B)])
    first = refresh_ranks(log, store)
    (file,) = (tmp_path / "ranks" / runs.FOLDER).iterdir()
    file.write_bytes(damage)
    counting = Counting(log)
    assert refresh_ranks(counting, store).page_keys.tolist() == first.page_keys.tolist()
    assert counting.read == [1]
    assert len(file.read_bytes()) > 100


@pytest.mark.parametrize("documents", [True, False])
def test_the_run_of_a_batch_that_was_emptied_is_made_again(log, tmp_path: Path, documents: bool) -> None:
    store = RankStore(tmp_path / "ranks")
    log.append([page(A, B, C), page(B, A)])
    log.append([page(C, A)])
    refresh_ranks(log, store)
    log.empty(1, documents=documents)  # as damage has it emptied
    emptied = refresh_ranks(log, store)
    assert emptied.meta.links == 1
    log.append([page(A, B, C), page(B, A)])
    again = refresh_ranks(log, store)
    fresh = refresh_ranks(log, RankStore(tmp_path / "other"))
    assert (again.meta.links, again.page_keys.tolist()) == (4, fresh.page_keys.tolist())
    assert np.abs(again.page_ranks - fresh.page_ranks).sum() < 1e-8


def test_ranks_that_cannot_be_read_are_made_anew(log, tmp_path: Path) -> None:
    store = RankStore(tmp_path / "ranks")
    log.append([page(A, B)])
    refresh_ranks(log, store)
    (tmp_path / "ranks" / "1" / "meta.json").write_text("{")
    assert refresh_ranks(log, store).generation == 2


def test_a_run_holds_what_the_batch_says(log) -> None:
    log.append(
        [
            page(A, Link(B, rel=("nofollow",)), "http://a.example/", C),
            page(B, refusal="redirected", canonical="https://c.example"),
            page("no address"),
        ]
    )
    run = runs.make_run(log, 1)
    pages = run.pages.tolist()
    assert pages == sorted(map(addresses.page_key, [A, B, C, "no address"]))
    assert [pages[place] for place in run.link_targets] == [addresses.page_key(url) for url in (B, A, C)]
    assert run.link_followed.tolist() == [False, True, True]
    assert run.doc_states.tolist() == [runs.ADDRESS + runs.READ + runs.LINKS, runs.ADDRESS, 0]
    assert pages[run.doc_named[1] - 1] == addresses.page_key(C)
    assert run.doc_named[[0, 2]].tolist() == [0, 0]
    assert run.names()[run.page_hosts[pages.index(addresses.page_key(B))]] == "b.example"


def test_a_page_that_moved_to_https_keeps_its_aliases(log) -> None:
    log.append(
        [
            page("http://a.example/", refusal="redirected", canonical=A),
            page(A),
            page(B, refusal="canonical-elsewhere", canonical=A),
            page(C, B),
        ]
    )
    graph = LinkGraph.build(log)
    assert (graph.pages.vertices, graph.pages.edges) == (2, 1)


@given(
    parts=st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=30), max_size=6),
    budget=st.sampled_from([0, 100, 10**9]),
)
@settings(deadline=None, max_examples=60)
def test_sorting_in_ranges_on_disk(parts, budget: int) -> None:
    before = sorting.BUDGET
    sorting.BUDGET = budget
    try:
        sorter = sorting.PairSorter(100)
        for part in parts:
            edges = np.array(part, np.int64).reshape(-1, 2)
            sorter.add(csr.distinct(csr.pair(edges[:, 0], edges[:, 1])))
        found = list(sorter.sorted())
    finally:
        sorting.BUDGET = before
    flat = np.concatenate([np.empty(0, np.uint64), *found])
    assert flat.tolist() == sorted({target << 32 | source for part in parts for source, target in part})
    ends = [set((part >> np.uint64(32)).tolist()) for part in found]
    assert all(not one & other for place, one in enumerate(ends) for other in ends[:place])


def test_a_graph_that_was_sorted_on_disk_is_the_same(log, monkeypatch) -> None:
    random = np.random.default_rng(2)
    for _ in range(3):
        log.append([page(f"https://h{n % 5}.example/{n}", *_some(random)) for n in random.integers(0, 60, 20)])
    whole = LinkGraph.build(log)
    monkeypatch.setattr(sorting, "BUDGET", 50)
    parted = LinkGraph.build(log)
    for name in ("offsets", "sources", "weights", "out_weight", "leak"):
        assert getattr(parted.pages, name) == pytest.approx(getattr(whole.pages, name))
    assert parted.page_sites.tolist() == whole.page_sites.tolist()


def _some(random) -> list[str]:
    return [f"https://h{n % 5}.example/{n}" for n in random.integers(0, 60, 8)]


def test_addresses_of_hosts_from_the_journal(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "journal.db")
    names = "at, host, ip, exempt, url, rule, gap, delay, ip_delay, outcome, status, bytes, ms, not_before"
    row = f"INSERT INTO journal ({names})"
    values = [(1.0, "a.example", "203.0.113.7", 0), (2.0, "local.example", "127.0.0.1", 1), (3.0, "x.example", "", 0)]
    with database.write() as transaction:
        for at, host, ip, exempt in values:
            fields = (at, host, ip, exempt, "https://a.example/", "", 0.0, 0.0, 0.0, "", 200, 0, 0.0, 0.0)
            transaction.execute(f"{row} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", fields)
    assert host_addresses(database) == {"a.example": "203.0.113.7"}
    database.close()


def test_many_runs_are_made_by_several_processes(log, tmp_path: Path) -> None:
    for number in range(runs.MANY):
        log.append([page(f"https://h{number}.example/", A, B)])
    (tmp_path / "apart").mkdir()
    apart = runs.Runs(log, LocalFiles(tmp_path / "apart"))
    with ProcessRunner(3) as runner:
        apart.make_missing(runner)
    assert len(list((tmp_path / "apart" / runs.FOLDER).iterdir())) == runs.MANY
    counting = Counting(log)
    kept = list(runs.Runs(counting, LocalFiles(tmp_path / "apart")))
    assert counting.read == []
    for (number, one), (same, other) in zip(kept, runs.Runs(log), strict=True):
        assert number == same
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_few_runs_are_made_when_they_are_asked_for(log, tmp_path: Path) -> None:
    log.append([page(A, B)])
    (tmp_path / "few").mkdir()
    with ProcessRunner(2) as runner:
        runs.Runs(log, LocalFiles(tmp_path / "few")).make_missing(runner)
    assert list((tmp_path / "few").iterdir()) == []


def test_what_fails_in_another_process_is_raised(log, tmp_path: Path) -> None:
    for _ in range(runs.MANY):
        log.append([page(A, B)])
    damaged = log.reader._files.path("links/00000002.parquet")
    damaged.write_bytes(b"no links")
    (tmp_path / "bad").mkdir()
    with ProcessRunner(2) as runner, pytest.raises(Corrupt, match="links/00000002"):
        runs.Runs(log, LocalFiles(tmp_path / "bad")).make_missing(runner)


def test_runs_without_a_place_to_keep_them(log) -> None:
    log.append([page(A, B)])
    assert [number for number, _ in runs.Runs(log)] == [1]
