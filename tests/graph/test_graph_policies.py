"""Ranks as the sources of the reference profiles computed them."""

from __future__ import annotations

import numpy as np
import pytest
from graph_samples import page

from periplus import addresses
from periplus.errors import UsageError
from periplus.graph import RankStore, from_edges
from periplus.graph.policies import POLICIES, policy, ranks_by, refresh_policy_ranks
from periplus.records import Link
from periplus.search.shards.ranks import Ranks

A, B, C = (f"https://{name}.example/" for name in "abc")
D = 0.85


def graph(*edges, count=3):
    return from_edges(np.array([a for a, _ in edges]), np.array([b for _, b in edges]), count)


def slow(chosen, edges, count):
    """One vertex after the other, as the formula is written."""
    if not chosen.self_links:
        edges = {(a, b) for a, b in edges if a != b}
    outgoing = {v: [b for a, b in edges if a == v] for v in range(count)}
    if chosen.dangling == "back-edges":
        back = {(b, a) for a, b in edges if not outgoing[b]}
        edges = set(edges) | back
        outgoing = {v: [b for a, b in edges if a == v] for v in range(count)}
    ranks = [1.0] * count
    for iteration in range(1, chosen.iterations + 1):
        lost = sum(ranks[v] for v in range(count) if not outgoing[v]) / count
        spread = lost if chosen.dangling in ("spread", "back-edges") else 0.0
        came = [sum(ranks[a] / len(outgoing[a]) for a, b in edges if b == v) for v in range(count)]
        new = [1 - D + D * (some + spread) for some in came]
        if chosen.dangling == "normalise":
            new = [value * count / sum(new) for value in new]
        difference = max(abs(one - other) for one, other in zip(new, ranks, strict=True))
        ranks = new
        if iteration % chosen.every == 0 and difference <= chosen.tolerance:
            break
    return ranks


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "edges", [{(0, 1), (1, 2), (2, 0)}, {(0, 1), (0, 2)}, {(0, 0), (0, 1), (1, 2)}, {(0, 1), (2, 1), (1, 1)}], ids=str
)
def test_ranks_are_those_of_the_formula(name, edges):
    chosen = policy(name)
    given = edges if chosen.self_links else {(a, b) for a, b in edges if a != b}
    assert ranks_by(chosen, graph(*sorted(given))).ranks == pytest.approx(slow(chosen, edges, 3))


def test_each_stops_as_its_source_says():
    ring = graph((0, 1), (1, 2), (2, 0), (0, 2))
    last = {name: ranks_by(chosen, ring).history[-1] for name, chosen in POLICIES.items()}
    assert last["grs2"].iteration == 18
    assert last["bm25-pagerank"].iteration == 40
    assert last["tfidf-pagerank"].iteration % 3 == 0
    for name in ("cosine-bonus", "tfidf-pagerank", "multiplicative"):
        assert last[name].difference <= POLICIES[name].tolerance


def test_an_unknown_policy_is_named():
    with pytest.raises(UsageError, match="unknown policy 'x'; choose one of ours, grs2"):
        policy("x")


def test_each_profile_reads_its_own_ranks(log, tmp_path):
    """Ours are read where a policy was not computed; links with a rel count for a policy."""
    log.append([page(A, Link(B, "b"), Link(A, "self")), page(B, Link(C, "c", rel=("ugc",))), page(C)])
    store = RankStore(tmp_path / "ranks")
    keys = np.array([addresses.page_key(url) for url in (A, B, C)])
    for name in ("grs2", "cosine-bonus"):
        refresh_policy_ranks(log, store, name)
    grs2 = RankStore(tmp_path / "ranks" / "grs2").current()
    assert grs2 is not None
    expected = slow(policy("grs2"), {(0, 0), (0, 1), (1, 2)}, 3)
    assert (grs2.page(keys) * grs2.pages).tolist() == pytest.approx(expected)
    hosts = RankStore(tmp_path / "ranks" / "cosine-bonus").current()
    assert hosts is not None
    assert (hosts.pages, hosts.hosts) == (0, 3)
    ranks = Ranks.open(store)
    assert not ranks.known
    assert ranks.of("bm25-pagerank") is ranks
    assert ranks.of("grs2").known
    assert ranks.of("grs2") is not ranks
