"""The sites that link to a host and those that it links to, with how many links, from the batches.

Reads a few columns of the newest batches until ``MAX_ROWS`` links were seen, the newest version of a page winning;
answers are kept for the last ``KEPT`` hosts of a generation.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ROWS = 3_000_000
KEPT = 256
SHOWN = 12


class Linked(Struct, frozen=True):
    host: str
    links: int


class SiteLinks(Struct, frozen=True):
    """Other hosts, those with most links first; ``whole`` when every link of the collection was looked at."""

    inwards: tuple[Linked, ...] = ()
    outwards: tuple[Linked, ...] = ()
    hosts_in: int = 0
    hosts_out: int = 0
    whole: bool = True


@lru_cache(KEPT)
def site_links(folder: Path, host: str, last_batch: int) -> SiteLinks:
    inwards: Counter[str] = Counter()
    outwards: Counter[str] = Counter()
    rows, whole = 0, True
    for documents, links in _newest_first(folder, last_batch):
        if rows >= MAX_ROWS or documents is None:
            whole = False
            if documents is None:
                continue
            break
        rows += links.num_rows
        _count(host, documents, links, inwards, outwards)
    return SiteLinks(_most(inwards), _most(outwards), len(inwards), len(outwards), whole)


def _newest_first(folder: Path, last_batch: int) -> Iterator[tuple[Any, Any]]:
    """The pages of each batch that no later one replaces, with their hosts, and their links; None for a damaged one."""
    import pyarrow as pa

    from periplus.search.links import batch_names
    from periplus.storage.parquet import read_columns

    seen = np.zeros(0, np.int64)
    for name in reversed(batch_names(folder, last_batch)):
        try:
            documents = read_columns(folder / "documents" / name, ["key", "url"])
            links = read_columns(folder / "links" / name, ["source_key", "target"])
        except PeriplusError:
            yield None, None  # what cannot be read is not counted
            continue
        keys = np.asarray(documents.column("key").to_numpy(), np.int64)
        fresh = ~np.isin(keys, seen)
        kept = np.isin(np.asarray(links.column("source_key").to_numpy(), np.int64), keys[fresh])
        yield documents.filter(pa.array(fresh)), links.filter(pa.array(kept))
        seen = np.union1d(seen, keys)


def _count(host: str, documents: Any, links: Any, inwards: Counter[str], outwards: Counter[str]) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    targets, sources = links.column("target"), links.column("source_key")
    keys = np.asarray(documents.column("key").to_numpy(), np.int64)
    own = keys[_on(documents.column("url"), host).to_numpy(zero_copy_only=False)]
    from_here = np.isin(np.asarray(sources.to_numpy(), np.int64), own)
    to_here = _on(targets, host).to_numpy(zero_copy_only=False)
    leaving = pc.filter(targets, pa.array(from_here & ~to_here))
    _add(outwards, _hosts(leaving))
    arriving = np.asarray(sources.to_numpy(), np.int64)[to_here & ~from_here]
    if len(arriving):
        places = pc.index_in(pa.array(arriving), value_set=pa.array(keys))
        _add(inwards, _hosts(pc.take(documents.column("url"), places)))


def _on(urls: Any, host: str) -> Any:
    """Which addresses are on a host."""
    import pyarrow.compute as pc

    by_scheme = [pc.starts_with(urls, f"{scheme}://{host}/") for scheme in ("http", "https")]
    return pc.or_(*by_scheme).combine_chunks()


def _hosts(urls: Any) -> Any:
    import pyarrow.compute as pc

    return pc.list_element(pc.split_pattern(urls, "/", max_splits=3), 2)


def _add(counter: Counter[str], hosts: Any) -> None:
    found = hosts.value_counts() if len(hosts) else None
    if found is not None:
        names, numbers = found.field("values").to_pylist(), found.field("counts").to_pylist()
        counter.update({name: number for name, number in zip(names, numbers, strict=True) if name})


def _most(counter: Counter[str]) -> tuple[Linked, ...]:
    best = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Linked(name, number) for name, number in best[:SHOWN])
