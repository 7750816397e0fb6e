"""From batches to a graph: newest versions, folding, aliases, nofollow, weights."""

from __future__ import annotations

import numpy as np
import pytest
from graph_samples import page

from periplus import addresses
from periplus.graph import LinkGraph, pagerank
from periplus.graph.link_graph import DISCOUNTED
from periplus.records import Link

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


def links_of(graph: LinkGraph, urls: list[str]) -> set[tuple[str, str]]:
    name = {addresses.page_key(url): url for url in urls}
    keys = graph.page_keys
    return {
        (name[int(keys[s])], name[int(keys[t])]) for s, t in zip(graph.pages.sources, graph.pages.targets, strict=True)
    }


def host_links(graph: LinkGraph) -> dict[tuple[str, str], float]:
    hosts = graph.hosts
    return {
        (graph.host_names[s], graph.host_names[t]): float(w)
        for s, t, w in zip(hosts.sources, hosts.targets, hosts.weights, strict=True)
    }


def weight(graph: LinkGraph, source: str, target: str) -> float:
    keys = graph.page_keys.tolist()
    s, t = keys.index(addresses.page_key(source)), keys.index(addresses.page_key(target))
    row = slice(graph.pages.offsets[t], graph.pages.offsets[t + 1])
    return float(graph.pages.weights[row][graph.pages.sources[row] == s][0])


def test_an_empty_log(log) -> None:
    graph = LinkGraph.build(log)
    assert (graph.pages.vertices, graph.hosts.vertices, graph.last_batch) == (0, 0, 0)
    assert len(pagerank(graph.pages).ranks) == 0


def test_a_page_alone(log) -> None:
    log.append([page(A)])
    graph = LinkGraph.build(log)
    assert (graph.pages.vertices, graph.pages.edges, graph.host_names) == (1, 0, ["a.example"])
    assert pagerank(graph.pages).ranks.tolist() == [1.0]


def test_documents_without_an_address_are_not_in_the_graph(log) -> None:
    log.append([page("", B), page("report-17", B), page(A, B)])
    assert links_of(LinkGraph.build(log), [A, B]) == {(A, B)}
    assert LinkGraph.build(log).pages.vertices == 2


def test_the_newest_version_of_a_page_counts(log) -> None:
    log.append([page(A, B), page(B, C)])
    log.append([page(A, B)])
    log.append([page(A, C)])
    assert links_of(LinkGraph.build(log), [A, B, C]) == {(A, C), (B, C)}
    log.append([page(A, B), page(A)])
    graph = LinkGraph.build(log)
    assert links_of(graph, [A, B, C]) == {(B, C)}
    assert graph.last_batch == 4


@pytest.mark.parametrize("refusal", ["gone", "removed"])
def test_a_page_that_is_gone_links_no_more(log, refusal: str) -> None:
    log.append([page(A, B), page(B, A)])
    log.append([page(A, refusal=refusal)])
    graph = LinkGraph.build(log)
    assert links_of(graph, [A, B]) == {(B, A)}
    assert graph.pages.vertices == 2
    assert LinkGraph.build(log, uncrawled=False).pages.vertices == 1


def test_a_page_that_must_not_be_found_links_all_the_same(log) -> None:
    log.append([page(A, B, refusal="noindex")])
    assert links_of(LinkGraph.build(log), [A, B]) == {(A, B)}


def test_http_and_https_are_one_page(log) -> None:
    log.append([page("http://a.example/", "http://b.example/"), page(A, B), page(B)])
    graph = LinkGraph.build(log)
    assert links_of(graph, [A, B]) == {(A, B)}
    assert graph.pages.vertices == 2


def test_links_to_oneself_and_repeated_links_do_not_count(log) -> None:
    log.append([page(A, A, "http://a.example/", B, B, B)])
    assert links_of(LinkGraph.build(log), [A, B]) == {(A, B)}


def test_aliases_collapse(log) -> None:
    one, two, real = (f"https://a.example/{name}" for name in ("one", "two", "real"))
    log.append(
        [
            page(one, B, refusal="canonical-elsewhere", canonical=two),
            page(two, refusal="redirected", canonical=real),
            page(real),
            page(B, one, two),
        ]
    )
    graph = LinkGraph.build(log)
    assert links_of(graph, [real, B]) == {(real, B), (B, real)}
    assert graph.pages.vertices == 2


def test_aliases_in_a_circle_are_left_alone(log) -> None:
    log.append(
        [
            page(A, refusal="canonical-elsewhere", canonical=B),
            page(B, refusal="canonical-elsewhere", canonical=A),
            page(C, A, B),
        ]
    )
    assert links_of(LinkGraph.build(log), [A, B, C]) == {(C, A), (C, B)}


def test_links_that_are_not_followed(log) -> None:
    log.append([page(A, Link(B, rel=("nofollow",)), Link(C, rel=("ugc", "sponsored")))])
    assert LinkGraph.build(log).pages.edges == 0
    assert links_of(LinkGraph.build(log, nofollow="keep"), [A, B, C]) == {(A, B), (A, C)}


def test_links_with_a_rel_may_count_for_a_tenth(log) -> None:
    log.append([page(A, Link(B, rel=("nofollow",)), C, Link(C, rel=("ugc",))), page(B, A)])
    graph = LinkGraph.build(log, nofollow="discount")
    assert weight(graph, A, B) == pytest.approx(DISCOUNTED)
    assert weight(graph, A, C) == pytest.approx(1.0)
    assert set(host_links(graph)) == {("a.example", "c.example"), ("b.example", "a.example")}
    # What the discount takes away goes to all pages, not to the other links of the page.
    place = graph.page_keys.tolist().index(addresses.page_key(A))
    assert graph.pages.leak[place] == pytest.approx((1 - DISCOUNTED) / 2)
    ranks = {policy: _rank_of(LinkGraph.build(log, nofollow=policy), B) for policy in ("exclude", "discount", "keep")}
    assert ranks["exclude"] < ranks["discount"] < ranks["keep"]


def _rank_of(graph: LinkGraph, url: str) -> float:
    return float(pagerank(graph.pages).ranks[graph.page_keys.tolist().index(addresses.page_key(url))])


def test_uncrawled_targets_are_kept_or_dropped(log) -> None:
    log.append([page(A, B, C), page(B, A)])
    assert LinkGraph.build(log).pages.vertices == 3
    graph = LinkGraph.build(log, uncrawled=False)
    assert links_of(graph, [A, B]) == {(A, B), (B, A)}
    assert graph.host_names == ["a.example", "b.example"]


def test_many_links_of_one_site_weigh_less_each_and_a_little_more_together(log) -> None:
    many = [page(f"https://a.example/{number}", C) for number in range(10)]
    log.append([*many, page(B, C)])
    graph = LinkGraph.build(log)
    each = weight(graph, "https://a.example/3", C)
    assert weight(graph, B, C) == 1.0
    assert each == pytest.approx((1 + np.log(10)) / 10)
    assert host_links(graph) == {
        ("a.example", "c.example"): pytest.approx(1 + np.log(10)),
        ("b.example", "c.example"): pytest.approx(1.0),
    }


def ring(number: int) -> list[int]:
    return [(number + 1) % 300]


def everyone(number: int) -> list[int]:
    return [other for other in range(300) if other != number]


@pytest.mark.parametrize("neighbours", [ring, everyone])
@pytest.mark.parametrize("hosts", [1, 50, 300])
def test_a_farm_of_one_voice_does_not_lift_its_target_above_an_honest_page(log, hosts: int, neighbours) -> None:
    """300 pages on few machines that link to one another and to their target, against 20 linked-to sites."""
    target, honest = "https://target.example/", "https://honest.example/"

    def farm(number: int) -> str:
        return f"https://farm{number % hosts}.example/{number}"

    def voice(host: str) -> str:
        return f"machine {int(host[4:-8]) % 3}" if host.startswith("farm") else host

    log.append([page(farm(number), *map(farm, neighbours(number)), target) for number in range(300)])
    supporters = [f"https://s{number}.example/" for number in range(20)]
    log.append([page(url, honest, supporters[number - 1]) for number, url in enumerate(supporters)])
    log.append([page(target), page(honest)])
    graph = LinkGraph.build(log, voice=voice)
    ranks = dict(zip(graph.page_keys.tolist(), pagerank(graph.pages).ranks.tolist(), strict=True))
    assert ranks[addresses.page_key(honest)] > ranks[addresses.page_key(target)]


def test_hosts_of_one_site_are_one_voice(log) -> None:
    log.append([page("https://x.a.example/", C), page("https://y.a.example/", C), page(B, C)])
    graph = LinkGraph.build(log)
    assert weight(graph, "https://x.a.example/", C) == pytest.approx((1 + np.log(2)) / 2)
    assert weight(graph, B, C) == 1.0


def test_links_within_a_host_are_not_in_the_host_graph(log) -> None:
    log.append([page("https://a.example:8080/", "https://a.example:8080/x", A)])
    graph = LinkGraph.build(log)
    assert host_links(graph) == {("a.example:8080", "a.example"): 1.0}
    assert graph.pages.edges == 2


def test_vertices_know_their_hosts(log) -> None:
    log.append([page(A, B), page("https://a.example/x", C)])
    graph = LinkGraph.build(log)
    assert sorted(graph.page_keys.tolist()) == graph.page_keys.tolist()
    for url in (A, B, C, "https://a.example/x"):
        vertex = graph.page_keys.tolist().index(addresses.page_key(url))
        assert graph.host_names[graph.page_hosts[vertex]] == addresses.host(url)
    assert graph.host_keys.tolist() == [addresses.host_key(name) for name in graph.host_names]
