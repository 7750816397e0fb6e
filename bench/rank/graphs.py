"""Web-like graphs of any size, the same on every machine.

Pages lie host by host, and hosts have sizes by a power law. A page is never read (and so has no links) with
probability ``UNREAD``; else it has a number of links by a power law. Most links stay within the host: to the pages
near by, to the front page, to anywhere. The others choose a host by its popularity (Zipf) and there a page near the
front. Repeated and self-links are dropped, so a few more are drawn than asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20_261_115
UNREAD = 0.3
WITHIN_HOST, NEAR, FRONT = 0.75, 0.6, 0.2  # shares; of the links within a host: near by, to the front page
MEAN_HOST = 60
HOST_TAIL, LINK_TAIL, POPULAR_TAIL = 1.4, 1.7, 1.1
CHUNK = 4_000_000  # links drawn at once
SURPLUS, DENSE_SURPLUS = 1.38, 1.6  # links drawn for one that is kept, with up to ten a page and more


class Edges(NamedTuple):
    """Distinct edges, sorted by source."""

    sources: np.ndarray
    targets: np.ndarray
    vertices: int

    @classmethod
    def load(cls, folder: Path) -> Edges:
        sources = np.load(folder / "sources.npy", mmap_mode="r")
        return cls(sources, np.load(folder / "targets.npy", mmap_mode="r"), int(np.load(folder / "vertices.npy")))


def make(folder: Path, vertices: int, edges: int) -> None:
    """Writes the graph into ``folder`` unless it is there."""
    if (folder / "vertices.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    sources, targets = draw(vertices, edges)
    np.save(folder / "sources.npy", sources)
    np.save(folder / "targets.npy", targets)
    np.save(folder / "vertices.npy", np.int64(vertices))


def draw(vertices: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(SEED + vertices)
    starts = host_starts(random, vertices)
    host_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    popular = popularity(random, len(starts) - 1)
    surplus = SURPLUS if edges <= 10 * vertices else DENSE_SURPLUS
    counts = link_counts(random, vertices, int(edges * surplus))
    ends = np.cumsum(counts)
    parts, first = [], 0
    while first < vertices:
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + CHUNK)))
        sources = np.repeat(np.arange(first, last, dtype=np.int64), counts[first:last])
        targets = choose(random, sources, starts, host_of, popular)
        pairs = (sources << 32 | targets)[sources != targets]
        parts.append(np.unique(pairs))
        first = last
    pairs = np.concatenate(parts)
    if len(pairs) > edges:
        pairs = pairs[random.random(len(pairs)) < edges / len(pairs)]
    return (pairs >> 32).astype(np.uint32), (pairs & 0xFFFFFFFF).astype(np.uint32)


def host_starts(random: np.random.Generator, vertices: int) -> np.ndarray:
    sizes = np.minimum(random.pareto(HOST_TAIL, vertices // MEAN_HOST * 2) * 25 + 1, vertices // 50 + 1).astype(
        np.int64
    )
    ends = np.cumsum(sizes)
    ends = ends[: int(np.searchsorted(ends, vertices))]
    return np.concatenate(([0], ends, [vertices]))


def popularity(random: np.random.Generator, hosts: int) -> np.ndarray:
    """Running sums of the popularity of hosts, which has nothing to do with their order."""
    weights = 1.0 / (np.arange(hosts) + 10.0) ** POPULAR_TAIL
    random.shuffle(weights)
    return np.cumsum(weights) / weights.sum()


def link_counts(random: np.random.Generator, vertices: int, edges: int) -> np.ndarray:
    raw = np.minimum(random.pareto(LINK_TAIL, vertices) + 0.3, 300.0)
    raw[random.random(vertices) < UNREAD] = 0
    return np.floor(raw * (edges / raw.sum()) + random.random(vertices) * (raw > 0)).astype(np.int64)


def choose(random, sources, starts, host_of, popular) -> np.ndarray:
    count = len(sources)
    hosts = host_of[sources].astype(np.int64)
    outside = random.random(count) >= WITHIN_HOST
    hosts[outside] = np.minimum(np.searchsorted(popular, random.random(int(outside.sum()))), len(popular) - 1)
    first, size = starts[hosts], starts[hosts + 1] - starts[hosts]
    place = (random.random(count) * size).astype(np.int64)  # anywhere in the host
    kind = random.random(count)
    near = ~outside & (kind < NEAR)
    step = random.geometric(0.08, int(near.sum())) * random.choice((-1, 1), int(near.sum()))
    place[near] = (sources[near] - first[near] + step) % size[near]
    place[~outside & (kind >= NEAR) & (kind < NEAR + FRONT)] = 0
    place[outside] = (size[outside] * random.random(int(outside.sum())) ** 4).astype(np.int64)
    return first + place
