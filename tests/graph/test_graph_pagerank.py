"""PageRank against a slow obvious implementation, reference vectors of others, and bad input."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from graph_samples import slow_pagerank
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import UsageError
from periplus.graph import from_edges, pagerank, read_edges, steps

POLICIES = ["spread", "normalise", "back-edges", "ignore"]


def graph_of(edges, count, weights=None, leak=None):
    array = np.array(edges, np.int64).reshape(-1, 2)
    return from_edges(array[:, 0], array[:, 1], count, weights, leak)


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 8))
    vertex = st.integers(0, count - 1)
    return draw(st.lists(st.tuples(vertex, vertex), max_size=20)), count


@pytest.fixture(params=["plain", "compiled"])
def make(request, monkeypatch):
    """Runs a test with both makes of an iteration."""
    if request.param == "compiled":
        monkeypatch.setattr(steps, "COMPILED_FROM", 0)
    return request.param


@pytest.mark.parametrize("dangling", POLICIES)
@given(
    graph=graphs(),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
    self_links=st.booleans(),
    form=st.sampled_from(["probability", "classic"]),
    personal=st.booleans(),
    threads=st.integers(1, 3),
    data=st.data(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_policy_equals_the_obvious_one(
    make, dangling, graph, damping, self_links, form, personal, threads, data
) -> None:
    edges, count = graph
    teleport = data.draw(st.lists(st.integers(1, 5), min_size=count, max_size=count)) if personal else None
    options = {"damping": damping, "dangling": dangling, "self_links": self_links, "form": form}
    expected = slow_pagerank(edges, count, teleport=teleport, **options)
    found = pagerank(
        graph_of(edges, count),
        teleport=None if teleport is None else np.array(teleport, np.float64),
        tolerance=1e-14,
        max_iterations=400,
        threads=threads,
        **options,
    )
    assert np.abs(found.ranks - expected).sum() < 1e-11 * max(1, expected.sum())


@pytest.mark.parametrize("dangling", POLICIES)
def test_both_makes_agree_with_and_without_weights(make, dangling) -> None:
    random = np.random.default_rng(5)
    edges = [tuple(edge) for edge in random.integers(0, 40, (150, 2)).tolist()]
    edges = list(dict.fromkeys(edge for edge in edges if edge[0] % 7))
    weights = random.random(len(edges)) + 0.1
    for given_weights in (None, weights):
        by_edge = None if given_weights is None else dict(zip(edges, given_weights, strict=True))
        expected = slow_pagerank(edges, 40, dangling=dangling, weights=by_edge)
        for threads in (1, 3):
            graph = graph_of(edges, 40, given_weights)
            found = pagerank(graph, dangling=dangling, tolerance=1e-14, threads=threads)
            assert np.abs(found.ranks - expected).sum() < 1e-12


@pytest.mark.parametrize("dangling", ["spread", "normalise", "ignore"])
def test_a_leak_is_treated_like_a_sink(make, dangling) -> None:
    edges = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 0)]
    leak = [0.5, 0.0, 0.25, 0.9, 0.0]
    found = pagerank(graph_of(edges, 5, leak=np.array(leak)), dangling=dangling, tolerance=1e-14)
    assert np.abs(found.ranks - slow_pagerank(edges, 5, dangling=dangling, leak=leak)).sum() < 1e-12
    assert found.ranks.sum() == pytest.approx(1) or dangling == "ignore"


def test_teleport_to_trusted_vertices_in_both_makes(make) -> None:
    edges = [(0, 1), (1, 2), (2, 0), (3, 0), (2, 4)]
    teleport = [1.0, 0, 0, 0, 0]
    found = pagerank(graph_of(edges, 5), teleport=np.array(teleport), tolerance=1e-14)
    assert np.abs(found.ranks - slow_pagerank(edges, 5, teleport=teleport)).sum() < 1e-12
    assert found.ranks[3] == 0


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "count"), [("hollins", 6012), ("polblogs", 1490)])
def test_reference_vectors(shared_data: Path, name: str, count: int, make) -> None:
    folder = shared_data / "graphs"
    with gzip.open(folder / f"{name}.pagerank.a085.txt.gz", "rt") as file:
        reference = np.array([float(line) for line in file])
    edges = read_edges(folder / f"{name}.edges.txt.gz", nodes=count)
    found = pagerank(edges.graph)
    assert list(edges.names) == list(range(count))
    assert found.converged
    assert np.abs(found.ranks - reference).sum() < 1e-9
    assert abs(found.ranks.sum() - 1) < 1e-12


def ring_with_chords(count: int = 60):
    return graph_of([(v, (v + 1) % count) for v in range(count)] + [(v, 0) for v in range(0, count, 3)], count)


def test_the_convergence_table() -> None:
    seen = []
    found = pagerank(ring_with_chords(), progress=lambda iteration, change: seen.append((iteration, change)))
    assert [(row.iteration, row.difference) for row in found.history] == seen
    assert [row.iteration for row in found.history] == list(range(1, found.iterations + 1))
    assert all(a.seconds <= b.seconds for a, b in zip(found.history, found.history[1:], strict=False))
    assert found.converged
    assert found.difference <= 1e-10 < found.history[-2].difference


def large_graph():
    random = np.random.default_rng(4)
    sources, targets = random.integers(0, 3000, 20_000), (random.pareto(1.0, 20_000) * 40).astype(np.int64) % 4000
    return from_edges(sources, targets, 4000)


def test_sweeps_need_few_iterations_and_keep_their_promise(monkeypatch) -> None:
    plain = pagerank(large_graph(), tolerance=1e-14)
    monkeypatch.setattr(steps, "COMPILED_FROM", 0)
    for tolerance in (1e-4, 1e-7, 1e-10):
        for threads in (1, 2, 5):
            found = pagerank(large_graph(), tolerance=tolerance, threads=threads)
            assert np.abs(found.ranks - plain.ranks).sum() <= 0.85 / 0.15 * found.difference + 1e-13
    quickly_mixed = pagerank(large_graph(), dangling="normalise").iterations
    assert found.iterations <= quickly_mixed
    slowly_mixed = pagerank(ring_with_chords(), dangling="normalise").iterations
    assert pagerank(ring_with_chords()).iterations < 0.5 * slowly_mixed


def test_threads_do_not_race(monkeypatch) -> None:
    monkeypatch.setattr(steps, "COMPILED_FROM", 0)
    first = pagerank(large_graph(), threads=3).ranks
    for _ in range(3):
        assert pagerank(large_graph(), threads=3).ranks.tolist() == first.tolist()


def test_a_warm_start_of_sweeps(monkeypatch) -> None:
    monkeypatch.setattr(steps, "COMPILED_FROM", 0)
    cold = pagerank(large_graph())
    warm = pagerank(large_graph(), start=cold.ranks)
    assert warm.iterations <= 2 < cold.iterations
    assert np.abs(warm.ranks - cold.ranks).sum() < 1e-9


@pytest.mark.parametrize("dangling", POLICIES)
def test_all_dangling(dangling, make) -> None:
    """A star: one vertex links to all others, which link to nothing."""
    edges = [(0, vertex) for vertex in range(1, 50)]
    expected = slow_pagerank(edges, 50, dangling=dangling)
    found = pagerank(graph_of(edges, 50), dangling=dangling, tolerance=1e-14)
    assert np.abs(found.ranks - expected).sum() < 1e-12


def test_testing_only_now_and_then() -> None:
    found = pagerank(ring_with_chords(), check_every=10)
    assert [row.iteration % 10 for row in found.history] == [0] * len(found.history)
    assert np.abs(found.ranks - pagerank(ring_with_chords()).ranks).sum() < 1e-9


def test_the_cap_on_iterations() -> None:
    found = pagerank(ring_with_chords(), max_iterations=3, check_every=2)
    assert (found.iterations, found.converged) == (3, False)


def test_a_warm_start_takes_fewer_iterations() -> None:
    cold = pagerank(ring_with_chords())
    warm = pagerank(ring_with_chords(), start=cold.ranks * 7)
    assert warm.iterations <= 3 < cold.iterations
    assert np.abs(warm.ranks - cold.ranks).sum() < 1e-9


@pytest.mark.parametrize("dangling", POLICIES)
def test_the_smallest_graphs(dangling, make) -> None:
    assert pagerank(graph_of([], 0), dangling=dangling).ranks.tolist() == []
    one = pagerank(graph_of([], 1), dangling=dangling).ranks.tolist()
    assert one == pytest.approx([0.15 if dangling == "ignore" else 1.0])
    assert pagerank(graph_of([(0, 0)], 1), dangling=dangling).ranks.tolist() == pytest.approx([1.0])
    no_links = pagerank(graph_of([], 4), dangling=dangling).ranks
    assert no_links.tolist() == pytest.approx([no_links[0]] * 4)


def test_repeated_edges_count_once() -> None:
    once, often = graph_of([(0, 1), (0, 2)], 3), graph_of([(0, 1)] * 5 + [(0, 2)], 3)
    assert often.edges == 2
    assert pagerank(once).ranks.tolist() == pagerank(often).ranks.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"damping": 1.0},
        {"damping": -0.1},
        {"tolerance": 0.0},
        {"max_iterations": 0},
        {"check_every": 0},
        {"dangling": "unknown"},
        {"form": "unknown"},
        {"teleport": np.zeros(60)},
        {"teleport": np.ones(3)},
        {"start": np.full(60, np.nan)},
        {"teleport": np.array([-1.0] + [1.0] * 59)},
    ],
)
def test_wrong_options(options) -> None:
    with pytest.raises(UsageError):
        pagerank(ring_with_chords(), **options)


def test_an_edge_beyond_the_last_vertex() -> None:
    with pytest.raises(UsageError):
        graph_of([(0, 5)], 3)
