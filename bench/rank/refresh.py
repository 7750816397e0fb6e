"""``make bench-refresh``: from the links of 200,000 documents to published ranks, in a process of its own.

The documents have addresses, texts of links and a graph as ``graphs.py`` draws them, in batches as a crawl writes them
and an import does. Timed are a first run, one after a further batch of 1,000 documents, and one with nothing new.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench.rank import graphs

from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.records import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS, LINKS_EACH, BATCH, LATER = 200_000, 22, 2_000, 1_000
WORDS = ("harbour", "chart", "tide", "anchor", "pilot", "coast", "island", "reef", "sounding", "bay", "wind", "port")


def pages(documents: int) -> Iterator[Document]:
    """Documents of a drawn graph; every page has a link text of a few words for each link."""
    sources, targets = graphs.draw(documents, documents * LINKS_EACH)
    starts = graphs.host_starts(np.random.default_rng(graphs.SEED + documents), documents)
    host_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    random = np.random.default_rng(graphs.SEED)
    words = random.integers(0, len(WORDS), (len(sources), 2))
    offsets = np.searchsorted(sources, np.arange(documents + 1))

    def url(page: int) -> str:
        return f"https://host{host_of[page]}.site{host_of[page] // 2}.example/page/{page}"

    for page in range(documents):
        links = tuple(
            Link(url(int(targets[place])), f"{WORDS[words[place, 0]]} {WORDS[words[place, 1]]}")
            for place in range(offsets[page], offsets[page + 1])
        )
        address = url(page)
        yield Document(url=address, key=addresses.key(address), fetched=1.0, title=f"Page {page}", links=links)


def append(collection: Collection, documents: Iterator[Document], count: int) -> None:
    log = BatchLog(collection.files, collection.database)
    while count > 0:
        log.append([next(documents) for _ in range(min(BATCH, count))])
        count -= BATCH


def timed(collection: Collection) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    summary = collection.rank()
    return {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "iterations": summary.iterations,
        "pages": summary.pages,
        "links": summary.links,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-refresh", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/bench-refresh"))
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    with Collection(options.folder).create() as collection:
        documents = pages(options.documents)
        append(collection, documents, options.documents - LATER)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        figures = {"first": timed(collection)}
        figures["again"] = timed(collection)
        append(collection, documents, LATER)
        figures["after a batch"] = timed(collection)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("| run | seconds | CPU | iterations | pages | links |\n|---|---|---|---|---|---|")
    for name, run in figures.items():
        cells = (f"{run['seconds']:.1f}", f"{run['cpu']:.1f}", f"{run['iterations']}")
        print("|", " | ".join((name, *cells, f"{run['pages']:,}", f"{run['links']:,}")), "|")
    print(f"\npeak {peak:.0f} MB, of which {before:.0f} were held before by the benchmark")
    (options.folder / "figures.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
