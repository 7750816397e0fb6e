"""PageRank over blocks: the ranks of one process, whatever the blocks and whoever runs them; going on after a stop."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from graph_samples import page, slow_pagerank
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import StorageError
from periplus.graph import RankStore, block_pagerank, blocks, csr, pagerank, refresh_ranks
from periplus.graph.block_sweeps import STATE
from periplus.jobs.runners import ProcessRunner
from periplus.settings import RankSettings
from periplus.storage import LocalFiles, SerialRunner, TaskOutcome

CLOSE = 1e-9


def in_blocks(folder: Path, sources, targets, weights, count, leak=None) -> blocks.BlockGraph:
    """A graph in blocks, its edges given in several parts."""
    pairs = csr.pair(np.array(sources, np.int64), np.array(targets, np.int64))
    order = np.argsort(pairs)
    pairs, weights = pairs[order], np.array(weights, np.float64)[order]
    writer = blocks.BlockWriter(LocalFiles(folder), count)
    half = int(np.searchsorted(pairs, np.uint64(count // 2) << np.uint64(32)))
    writer.add(pairs[:half], weights[:half])
    writer.add(pairs[half:], weights[half:])
    return writer.finish(leak)


@st.composite
def weighted_graphs(draw):
    count = draw(st.integers(1, 9))
    vertex = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=25, unique=True))
    weights = draw(st.lists(st.sampled_from([0.1, 0.5, 1.0]), min_size=len(edges), max_size=len(edges)))
    leak = draw(st.lists(st.sampled_from([0.0, 0.0, 0.25, 0.9]), min_size=count, max_size=count))
    return edges, weights, leak, count


@given(
    graph=weighted_graphs(),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
    most=st.integers(1, 6),
    personal=st.booleans(),
    data=st.data(),
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_blocks_equal_one_process_and_the_obvious_one(
    tmp_path_factory, monkeypatch, graph, damping, most, personal, data
) -> None:
    edges, weights, leak, count = graph
    monkeypatch.setattr(blocks, "BLOCK_EDGES", most)
    monkeypatch.setattr(blocks, "BLOCK_VERTICES", most)
    teleport = data.draw(st.lists(st.integers(1, 5), min_size=count, max_size=count)) if personal else None
    sources, targets = [source for source, _ in edges], [target for _, target in edges]
    jumps = None if teleport is None else np.array(teleport, np.float64)
    options = {"damping": damping, "tolerance": 1e-12, "teleport": jumps}
    made = in_blocks(tmp_path_factory.mktemp("blocks"), sources, targets, weights, count, np.array(leak))
    found = block_pagerank(made, **options)
    one = csr.from_edges(
        np.array(sources, np.int64), np.array(targets, np.int64), count, np.array(weights), np.array(leak)
    )
    given_weights = dict(zip(edges, weights, strict=True))
    slow = slow_pagerank(edges, count, damping=damping, teleport=teleport, weights=given_weights, leak=leak)
    assert found.converged
    assert np.abs(found.ranks - pagerank(one, **options).ranks).sum() < CLOSE
    assert np.abs(found.ranks - slow).sum() < CLOSE
    assert found.ranks.sum() == pytest.approx(1)


def web(count: int, links: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Links of a web in which few pages have most of them, some none, and weights differ."""
    chance = np.random.default_rng(seed)
    targets = (count * chance.random(links) ** 3).astype(np.int64)
    pairs = csr.distinct(csr.pair(chance.integers(0, count // 2, links), targets))
    return (pairs & np.uint64(2**32 - 1)).astype(np.int64), (pairs >> np.uint64(32)).astype(np.int64), pairs


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_EDGES", 3_000)
    monkeypatch.setattr(blocks, "BLOCK_VERTICES", 700)


def test_a_larger_graph_equals_one_process(tmp_path, small_blocks) -> None:
    sources, targets, pairs = web(5_000, 40_000, 7)
    weights = np.random.default_rng(8).uniform(0.2, 1.0, len(pairs))
    made = in_blocks(tmp_path, sources, targets, weights, 5_000)
    assert len(made.blocks) > 10
    assert max(block.edges for block in made.blocks if block.vertices > 1) <= 3_000
    assert [block.start for block in made.blocks[1:]] == [block.stop for block in made.blocks[:-1]]
    leak = csr.lacking(np.bincount(sources, weights, 5_000), np.bincount(sources, minlength=5_000))
    one = pagerank(csr.from_edges(sources, targets, 5_000, weights, leak))
    found = block_pagerank(made)
    assert np.abs(found.ranks - one.ranks).sum() < CLOSE
    assert found.iterations <= one.iterations + 3


class StoppingRunner(SerialRunner):
    """Ends the whole run after so many tasks, as a kill would."""

    def __init__(self, tasks: int) -> None:
        self.left = tasks

    def run(self, function, inputs):
        for outcome in super().run(function, inputs):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            yield outcome


def test_a_run_that_was_stopped_goes_on_from_its_last_whole_sweep(tmp_path, small_blocks) -> None:
    sources, targets, pairs = web(3_000, 20_000, 3)
    weights = np.ones(len(pairs))
    made = in_blocks(tmp_path / "whole", sources, targets, weights, 3_000)
    whole = block_pagerank(made)
    chance = random.Random(5)
    for number in range(4):
        folder, stops = tmp_path / f"stopped-{number}", 0
        while True:
            again = in_blocks(folder, sources, targets, weights, 3_000)
            assert again.digest == made.digest
            seen: list[int] = []
            runner = StoppingRunner(chance.randrange(8, 90))
            try:
                found = block_pagerank(again, runner=runner, progress=lambda done, _, seen=seen: seen.append(done))
                break
            except KeyboardInterrupt:
                stops += 1
        assert stops
        assert seen[0] > 1  # what was done was not done again
        assert [row.iteration for row in found.history] == list(range(1, found.iterations + 1))
        assert np.abs(found.ranks - whole.ranks).sum() < CLOSE


def test_what_was_kept_of_another_graph_or_is_damaged_is_not_gone_on_with(tmp_path, small_blocks) -> None:
    sources, targets, pairs = web(2_000, 9_000, 3)
    files = LocalFiles(tmp_path)
    seen: list[int] = []

    def run(weights, damping=0.85):
        seen.clear()
        made = in_blocks(tmp_path, sources, targets, weights, 2_000)
        return block_pagerank(made, damping=damping, progress=lambda done, _: seen.append(done))

    plain = np.ones(len(pairs))
    whole = run(plain)
    run(plain)
    assert seen == []  # it was over already
    run(plain, damping=0.5)
    assert seen[0] == 1
    run(plain / 2)
    assert seen[0] == 1
    run(plain)
    kept = f"rank-{max(seen):05d}-00000"
    files.write(kept, bytes(len(files.read(kept))))
    assert np.abs(run(plain).ranks - whole.ranks).sum() < CLOSE
    assert seen[0] == 1
    files.write(STATE, b"{")
    assert np.abs(run(plain).ranks - whole.ranks).sum() < CLOSE
    assert seen[0] == 1


def test_processes_give_the_very_ranks_of_one(tmp_path, small_blocks) -> None:
    sources, targets, pairs = web(3_000, 20_000, 3)
    found = []
    for workers in (1, 2, 4):
        made = in_blocks(tmp_path / str(workers), sources, targets, np.ones(len(pairs)), 3_000)
        with ProcessRunner(workers) as runner:
            found.append(block_pagerank(made, runner=runner).ranks.tobytes())
    assert len(set(found)) == 1


def test_an_empty_graph_and_one_without_links(tmp_path) -> None:
    assert len(block_pagerank(in_blocks(tmp_path / "none", [], [], [], 0)).ranks) == 0
    alone = block_pagerank(in_blocks(tmp_path / "alone", [], [], [], 3))
    assert alone.ranks == pytest.approx([1 / 3] * 3)


def test_an_error_of_a_task_ends_the_run(tmp_path) -> None:
    class FailingRunner(SerialRunner):
        def run(self, function, inputs):
            return (TaskOutcome(place, None, StorageError("the disk is gone")) for place, _ in enumerate(inputs))

    made = in_blocks(tmp_path, [0, 1], [1, 0], [1.0, 1.0], 2)
    with pytest.raises(StorageError, match="the disk is gone"):
        block_pagerank(made, runner=FailingRunner())


def test_a_graph_that_outgrows_its_memory_is_ranked_in_blocks(log, tmp_path, small_blocks, monkeypatch) -> None:
    chance = random.Random(11)
    names = [f"https://h{number % 40}.example/{number}" for number in range(400)]
    for part in range(4):
        log.append([page(name, *chance.sample(names, 6)) for name in names[100 * part : 100 * part + 80]])
    one = refresh_ranks(log, RankStore(tmp_path / "one"))
    laid_out = []
    finish = blocks.BlockWriter.finish
    monkeypatch.setattr(blocks.BlockWriter, "finish", lambda self: laid_out.append(1) or finish(self))
    monkeypatch.setattr(blocks, "BLOCK_EDGES", 100)
    other = refresh_ranks(log, RankStore(tmp_path / "blocks"), RankSettings(memory=1_000))
    assert laid_out == [1]
    assert np.abs(one.page_ranks - other.page_ranks).sum() < CLOSE
    assert (one.meta.links, one.page_keys.tolist()) == (other.meta.links, other.page_keys.tolist())
    assert one.measures.page_sites.tolist() == other.measures.page_sites.tolist()
    assert not (tmp_path / "blocks" / "blocks").exists()  # nobody goes on from them
