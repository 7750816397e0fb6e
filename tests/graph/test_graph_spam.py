"""Links that can be had by the dozen: farms, rings, exchanges, crowds; and what trust and distance say of hosts."""

from __future__ import annotations

import numpy as np
import pytest
from graph_samples import TableBatches, page

from periplus import addresses
from periplus.graph import LinkGraph, RankStore, csr, hosts, pagerank, reach, refresh_ranks

FARM = 1000
HONEST, TARGET = "https://honest.example/", "https://target.example/"
SITES, PAGES = 100, 6
ADDRESSES = 5  # of the farm


def ring(number: int) -> list[int]:
    return [(number + 1) % FARM]


def both_ways(number: int) -> list[int]:
    return [(number + 1) % FARM, (number - 1) % FARM]


def everyone(number: int) -> list[int]:
    return [other for other in range(FARM) if other != number]


def nobody(number: int) -> list[int]:
    return []


def honest_web(entries: int = 0) -> dict[str, list[str]]:
    """Sites whose front pages link to one another; 20 link to the honest page, ``entries`` into the farm."""
    random = np.random.default_rng(3)

    def at(site: int, number: int) -> str:
        return f"https://site{site}.example/{number or ''}"

    web = {}
    for site in range(SITES):
        for number in range(PAGES):
            web[at(site, number)] = [at(site, other) for other in range(PAGES) if other != number]
        web[at(site, 0)] += [at(int(other), 0) for other in random.choice(SITES, 6, replace=False) if other != site]
        if site < 20:
            web[at(site, 1)].append(HONEST)
        if 50 <= site < 50 + entries:
            web[at(site, 1)].append("https://farm0.example/0")
    return web


def farm(count: int, neighbours) -> dict[str, list[str]]:
    def at(number: int) -> str:
        return f"https://farm{number % count}.example/{number}"

    return {at(number): [*map(at, neighbours(number)), TARGET] for number in range(FARM)}


def ranks_of(graph: LinkGraph) -> tuple[dict[int, float], dict[str, float]]:
    pages = dict(zip(graph.page_keys.tolist(), pagerank(graph.pages).ranks.tolist(), strict=True))
    return pages, dict(zip(graph.host_names, pagerank(graph.hosts).ranks.tolist(), strict=True))


@pytest.mark.parametrize("known", ["addresses", "nothing"])
@pytest.mark.parametrize("entries", [0, 3])
@pytest.mark.parametrize("count", [1, 50, 1000])
@pytest.mark.parametrize("neighbours", [ring, both_ways])
def test_no_thin_farm_lifts_its_target_above_an_honest_page(neighbours, count, entries, known) -> None:
    check_farm(neighbours, count, entries, known)


@pytest.mark.parametrize("entries", [0, 1])
@pytest.mark.parametrize("count", [1, 50, 1000])
def test_no_crowd_lifts_its_target_above_an_honest_page(count, entries) -> None:
    check_farm(nobody, count, entries, "nothing")


@pytest.mark.parametrize(("count", "entries", "known"), [(1, 3, "nothing"), (50, 0, "addresses"), (1000, 1, "nothing")])
def test_no_dense_farm_lifts_its_target_above_an_honest_page(count, entries, known) -> None:
    check_farm(everyone, count, entries, known)


def check_farm(neighbours, count: int, entries: int, known: str) -> None:
    ips = {f"farm{number}.example": f"203.0.113.{number % ADDRESSES}" for number in range(count)}
    web = honest_web(entries) | farm(count, neighbours) | {HONEST: [], TARGET: []}
    graph = LinkGraph.build(TableBatches(web), ips=ips if known == "addresses" else None)
    pages, by_host = ranks_of(graph)
    assert pages[addresses.page_key(HONEST)] > pages[addresses.page_key(TARGET)]
    assert by_host["honest.example"] > by_host["target.example"]


def test_a_dense_unreturned_farm_needs_addresses_or_trusted_hosts() -> None:
    """What structure alone cannot tell from an honest web."""

    def half(number: int) -> list[int]:
        return [(number + step) % FARM for step in range(1, 9)]

    web = honest_web(1) | farm(FARM, half) | {HONEST: [], TARGET: []}
    trusted = [f"site{site}.example" for site in range(0, SITES, 5)]
    graph = LinkGraph.build(TableBatches(web), trusted=trusted)
    pages, _ = ranks_of(graph)
    assert pages[addresses.page_key(HONEST)] > pages[addresses.page_key(TARGET)]
    names = list(graph.host_names)
    assert graph.signs.distance[names.index("site5.example")] == 0
    assert graph.signs.distance[names.index("honest.example")] >= 1


def judged(links: list[tuple[int, int]], count: int, voices=None, trusted=None) -> hosts.HostSigns:
    array = np.array(links, np.int64).reshape(-1, 2)
    numbers = np.arange(count) if voices is None else np.array(voices)
    return hosts.judge(csr.distinct(csr.pair(array[:, 0], array[:, 1])), numbers, trusted)


def reasons(signs: hosts.HostSigns) -> list[str]:
    return [hosts.REASONS[place] for place in signs.reason]


def test_no_hosts_and_no_links() -> None:
    assert judged([], 0).spam.tolist() == []
    assert judged([], 3).spam.tolist() == [0, 0, 0]
    assert judged([(0, 1)], 2).trust.tolist() == [1, 1]


def test_an_exchange_is_seen_and_a_one_sided_link_is_not() -> None:
    exchange = [(a, b) for a in range(12) for b in range(12) if a != b]
    admired = [(a, 20) for a in range(12)]
    signs = judged(exchange + admired, 21)
    assert reasons(signs)[:12] == ["link-exchange"] * 12
    assert signs.spam[:12] == pytest.approx(np.full(12, hosts.MOST * 11 / (11 + hosts.EVIDENCE)))
    assert (signs.spam[20], reasons(signs)[20]) == (0, "")
    assert signs.sites_in[20] == 12


def test_a_crowd_of_one_address_is_seen() -> None:
    links = [(a, 40) for a in range(40)]
    crowd, distinct = judged(links, 41, [0] * 40 + [1]), judged(links, 41)
    assert crowd.sites_in[40] == 1
    assert reasons(crowd)[40] == "links-from-few-addresses"
    assert crowd.spam[40] > 0.5
    assert distinct.spam[40] == 0


def test_the_core_vouches_for_what_it_links_to() -> None:
    random = np.random.default_rng(1)
    web = [(a, int(b)) for a in range(30) for b in random.choice(30, 6, replace=False) if a != b]
    lines = [(3, 30), (30, 31), (31, 32), (32, 33), (40, 41), (41, 42)]
    signs = judged(web + lines, 43)
    assert signs.distance[[30, 31, 32, 33, 40]].tolist() == [1, 2, 3, 4, -1]
    assert signs.trust[30] > signs.trust[31] > signs.trust[32] > signs.trust[41] == 0
    assert reasons(signs)[41] == "not-vouched-for"
    assert signs.spam[41] == pytest.approx(hosts.UNVOUCHED)
    assert signs.spam[30] < signs.spam[41]
    assert np.median(signs.trust[:30]) == pytest.approx(1, rel=0.1)


def test_distances_and_harmonic_centrality_against_the_definition() -> None:
    random = np.random.default_rng(9)
    edges = random.integers(0, 40, (90, 2))
    graph = csr.from_edges(edges[:, 0], edges[:, 1], 40)
    away = np.array([reach.distances(graph, np.array([source])) for source in range(40)])
    for _ in range(40):  # Bellman and Ford
        for source, target in edges:
            there = away[:, source] >= 0
            assert (away[there, target] >= 0).all()
            assert (away[there, target] <= away[there, source] + 1).all()
    exact = np.divide(1.0, away, out=np.zeros(away.shape), where=away > 0).mean(axis=0)
    assert reach.harmonic(graph) == pytest.approx(exact)
    assert reach.harmonic(csr.from_edges(edges[:0, 0], edges[:0, 1], 0)).tolist() == []


def test_notes_on_hosts_are_published(log, tmp_path) -> None:
    log.append([page("https://a.example/", "https://b.example/"), page("https://c.example/", "https://b.example/")])
    store = RankStore(tmp_path / "ranks")
    refresh_ranks(log, store, ips={"a.example": "203.0.113.1", "c.example": "203.0.113.1"})
    table = store.current()
    assert table is not None
    note = table.host_note(addresses.host_key("b.example"))
    assert note is not None
    assert (note.sites, note.spam, note.reason, note.distance) == (1, 0, "", -1)
    assert note.centrality == pytest.approx(2 / 3)
    assert table.host_note(17) is None
    assert table.page_sites(addresses.page_key("https://b.example/")) == 2
    assert table.page_sites(17) == 0
    assert sorted(map(table.measures.name, range(3))) == ["a.example", "b.example", "c.example"]
    store.verify()
