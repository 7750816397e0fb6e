"""Documents with links, and a PageRank that is slow and obvious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from periplus import addresses
from periplus.records import Document, Link


def page(url: str, *links: Link | str, **fields: Any) -> Document:
    found = tuple(Link(link) if isinstance(link, str) else link for link in links)
    return Document(url=url, key=addresses.key(url), fetched=1.0, links=found, **fields)


class TableBatches:
    """One batch made of addresses alone; quicker than documents for a million links."""

    def __init__(self, web: dict[str, list[str]]) -> None:
        rows = np.repeat(np.arange(len(web)), [len(links) for links in web.values()])
        targets = [target for links in web.values() for target in links]
        none = pa.array([""] * len(web))
        columns = {"key": pa.array([addresses.key(url) for url in web], pa.int64()), "url": pa.array(list(web))}
        self._documents = pa.table(columns | {"refusal": none, "canonical": none})
        rel = pa.ListArray.from_arrays(np.zeros(len(rows) + 1, np.int32), pa.array([], pa.string()))
        self._links = pa.table({"row": pa.array(rows), "target": pa.array(targets, pa.string()), "rel": rel})

    def numbers(self, after: int = 0) -> list[int]:
        return [1] if after < 1 else []

    def first(self, number: int) -> int:
        return 0

    def document_table(self, number: int, columns: Any = None) -> pa.Table:
        return self._documents.select(columns)

    def links(self, number: int, columns: Any = None) -> pa.Table:
        return self._links.select(columns)


def slow_pagerank(
    edges: list[tuple[int, int]],
    count: int,
    *,
    damping: float = 0.85,
    dangling: str = "spread",
    self_links: bool = True,
    form: str = "probability",
    teleport: list[float] | None = None,
    weights: dict[tuple[int, int], float] | None = None,
    leak: list[float] | None = None,
    iterations: int = 400,
) -> np.ndarray:
    """Straight from the definition, edge by edge, with the classic form iterated as it is."""
    links = {edge for edge in edges if self_links or edge[0] != edge[1]}
    weight = {edge: (weights or {}).get(edge, 1.0) for edge in links}
    if dangling == "back-edges":
        with_links = {source for source, _ in links}
        weight |= {(t, s): weight[s, t] for s, t in links if t not in with_links}
        links = set(weight)
    out = [sum(weight[edge] for edge in links if edge[0] == vertex) for vertex in range(count)]
    total = sum(teleport) if teleport else 0
    jump = [value / total for value in teleport] if teleport else [1 / count] * count
    whole = count if form == "classic" else 1.0
    rank = [whole * value for value in jump]
    for _ in range(iterations):
        new = [(1 - damping) * whole * value for value in jump]
        kept = [1 - leak[vertex] if leak else 1.0 for vertex in range(count)]
        for source, target in links:
            new[target] += damping * rank[source] * kept[source] * weight[source, target] / out[source]
        lost = damping * sum(rank[vertex] * (1 - kept[vertex] if out[vertex] else 1.0) for vertex in range(count))
        if dangling in ("spread", "back-edges"):
            new = [value + lost * share for value, share in zip(new, jump, strict=True)]
        if dangling == "normalise":
            new = [value * whole / sum(new) for value in new]
        rank = new
    return np.array(rank)
