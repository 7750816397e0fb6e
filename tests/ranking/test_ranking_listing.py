"""Near-duplicates are collapsed and hosts kept apart as the obvious way does it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.core.score import arrange
from periplus.search.ordering.diversity import LEAST, MANY_SITES, host_shares

BITS = 3
SHARES = (1.0, 1.0, 0.75, 0.5)


def arranged(hosts, prints, fits, scores, shares, ranked, limit, wanted):
    """Places of the results, how many more their hosts have, near-duplicates of each."""
    memory = np.empty((3, len(hosts)), np.int64)
    given = [np.array(hosts, np.int64), np.array(prints, np.int64)]
    given += [np.array(some, float) for some in (fits or [0.5] * len(hosts), scores, shares)]
    kept = arrange(*given, ranked, limit, wanted, BITS, *memory)
    return tuple(row[:kept].tolist() for row in memory)


def collapsed(hosts, prints, fits, ranked, wanted):
    """Which hits are shown, and how many copies of each are not."""
    groups = []
    for place in range(len(hosts)):
        near = []
        if prints and prints[place] and (place < ranked or len(groups) < wanted):
            near = [
                group
                for group in groups
                if prints[group[0]] and ((prints[group[0]] ^ prints[place]) % 2**64).bit_count() <= BITS
            ]
        if near:
            near[0].append(place)
        else:
            groups.append([place])
    alike = [[place for place in group if (place < ranked) == (group[0] < ranked)] for group in groups]
    shown = [max(group, key=lambda place: (fits[place], -place)) for group in alike]
    return shown, {place: len(group) - 1 for place, group in zip(shown, groups, strict=True)}


def obvious(hosts, prints, fits, scores, shares, ranked, limit, wanted):
    listed, joined = collapsed(hosts, prints, fits, ranked, wanted)
    nth = [sum(hosts[other] == hosts[place] for other in listed[:at]) for at, place in enumerate(listed)]
    results = listed
    if limit:
        results = [place for place, before in zip(listed, nth, strict=True) if not hosts[place] or before < limit]
    elif shares:
        own = [shares[min(n, len(shares) - 1)] if hosts[p] else 1.0 for p, n in zip(listed, nth, strict=True)]
        worth = {p: scores[p] * share if scores[p] > 0 else scores[p] for p, share in zip(listed, own, strict=True)}
        results = sorted((p for p in listed if p < ranked), key=lambda p: -worth[p]) + [
            p for p in listed if p >= ranked
        ]
    more = [sum(hosts[other] == hosts[place] for other in listed) for place in results]
    before = [sum(hosts[other] == hosts[place] for other in results[: at + 1]) for at, place in enumerate(results)]
    counts = bool(limit or shares)
    following = [m - b if counts and hosts[p] else 0 for p, m, b in zip(results, more, before, strict=True)]
    return results, following, [joined[place] for place in results]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 6),
            st.one_of(st.just(0), st.integers(0, 15), st.integers(-(2**63), 2**63 - 1)),
            st.integers(-8, 40),
            st.sampled_from([0.0, 0.5, 1.0]),
        ),
        max_size=60,
    ),
    st.booleans(),
    st.sampled_from([(), SHARES]),
    *(st.integers(0, 70), st.integers(0, 4), st.integers(1, 70)),
)
def test_results_are_those_of_the_obvious_way(hits, collapses, shares, ranked, limit, wanted):
    hosts, prints = [hit[0] for hit in hits], [hit[1] for hit in hits] if collapses else []
    scores, fits = sorted((float(hit[2]) for hit in hits), reverse=True), [hit[3] for hit in hits]
    given = hosts, prints, fits, scores, shares, ranked, limit, wanted
    assert arranged(*given) == obvious(*given)


@pytest.mark.parametrize("host", [-(2**63), 2**63 - 1, 1 << 32])
def test_any_key_of_a_host_will_do(host):
    assert arranged([host] * 5, [], [], [1.0] * 5, (), 5, 2, 10) == ([0, 1], [4, 3], [0, 0])


@given(
    st.lists(st.tuples(st.integers(1, 4), st.floats(0.01, 100.0)), max_size=60), st.integers(1, 5), st.integers(1, 12)
)
def test_a_page_gives_way_only_to_pages_of_more_than_half_its_score(hits, per_host, sites):
    scores = sorted((score for _, score in hits), reverse=True)
    hosts = [host for host, _ in hits]
    shares = host_shares(per_host, sites)
    places = arranged(hosts, [], [], scores, shares, len(hosts), 0, 10)[0]
    assert sorted(places) == list(range(len(hosts)))  # nothing is left out
    for at, place in enumerate(places):
        assert all(scores[earlier] >= LEAST * scores[place] for earlier in places[:at])


def test_few_sites_need_less():
    assert len(host_shares(3, 1)) == len(host_shares(0, 9)) == 0
    few, many = host_shares(3, 2), host_shares(3, MANY_SITES)
    assert few[:3].tolist() == many[:3].tolist() == [1.0] * 3
    assert many[-1] == LEAST < few[-1] < 1.0
    assert np.all(np.diff(many) <= 0.0)
    assert host_shares(3, 5 * MANY_SITES).tolist() == many.tolist()
