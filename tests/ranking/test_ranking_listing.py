"""Near-duplicates are collapsed and hosts kept apart as the obvious way does it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.core.score import arrange

BITS = 3


def arranged(hosts, prints, longest, compared, limit, wanted):
    """Places of the results, how many more their hosts have, near-duplicates of each; results listed, hits admitted."""
    facts, memory = np.empty(2, np.int64), np.empty((3, len(hosts)), np.int64)
    given = (np.array(hosts, np.int64), np.array(prints, np.int64))
    kept = arrange(*given, longest, compared, BITS, limit, wanted, facts, *memory)
    return *(row[:kept].tolist() for row in memory), *facts.tolist()


def obvious(hosts, prints, longest, compared, limit, wanted):
    listed, joined = [], {}
    for place in range(min(len(hosts), longest)):
        into = None
        if prints and prints[place] and place < compared:
            near = [e for e in listed if prints[e] and ((prints[e] ^ prints[place]) % 2**64).bit_count() <= BITS]
            into = near[0] if near else None
        if into is None:
            listed.append(place)
        else:
            joined[into] = joined.get(into, 0) + 1
    admitted = sum(hosts.count(h) if h == 0 else min(hosts.count(h), limit) for h in set(hosts))
    shown, more = [], []
    for place in listed:
        before = sum(hosts[other] == hosts[place] for other in shown)
        if limit and (len(shown) == wanted or (hosts[place] != 0 and before >= limit)):
            continue
        shown.append(place)
        is_last = limit and hosts[place] != 0 and before + 1 == limit
        more.append(sum(hosts[other] == hosts[place] for other in listed) - limit if is_last else 0)
    admitted = admitted if limit else len(hosts)
    return shown, more, [joined.get(place, 0) for place in shown], len(listed), admitted


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.one_of(st.just(0), st.integers(0, 15), st.integers(-(2**63), 2**63 - 1))),
        max_size=60,
    ),
    st.booleans(),
    *(st.integers(1, 70), st.integers(0, 70), st.integers(0, 4), st.integers(1, 70)),
)
def test_results_are_those_of_the_obvious_way(hits, collapses, longest, compared, limit, wanted):
    hosts, prints = [host for host, _ in hits], [own for _, own in hits] if collapses else []
    assert arranged(hosts, prints, longest, compared, limit, wanted) == obvious(
        hosts, prints, longest, compared, limit, wanted
    )


@pytest.mark.parametrize("host", [-(2**63), 2**63 - 1, 1 << 32])
def test_any_key_of_a_host_will_do(host):
    assert arranged([host] * 5, [], 10, 0, 2, 10) == ([0, 1], [0, 3], [0, 0], 5, 2)
