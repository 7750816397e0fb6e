"""Times of searches over a collection, in a process of their own: ``python -m bench.scale.searching FOLDER COUNT``."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from bench.scale.meter import anonymous

from periplus.app import Collection
from periplus.app.thrift import settle
from periplus.records import SearchRequest

QUERIES = Path(__file__).resolve().parents[1] / "index" / "queries.txt"
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def measured(folder: Path, count: int) -> dict[str, float]:
    """Milliseconds that the thread computed from the string to ten results, after as many other queries."""
    queries = list(dict.fromkeys(QUERIES.read_text(encoding="utf-8").splitlines()))
    with Collection.existing(folder) as collection:
        collection.engine.warm()
        settle()  # as the server does
        for query in queries[count : 2 * count]:
            collection.engine.search(SearchRequest(query))
        times = sorted(_asked(collection, query) for query in queries[:count])
        figures = {name: times[min(len(times) - 1, int(share * len(times)))] for name, share in SHARES.items()}
        return figures | {"memory": anonymous(os.getpid()) / 1e6}


def _asked(collection: Collection, query: str) -> float:
    began = time.thread_time()
    collection.engine.search(SearchRequest(query))
    return (time.thread_time() - began) * 1000


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]), int(sys.argv[2]))))
