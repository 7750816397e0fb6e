"""Asks one collection all requests of a file and writes the answers, a JSON line each; runs inside either version.

    CHECKOUT/.venv/bin/python ask.py COLLECTION REQUESTS ANSWERS [SHARDS [http] | cluster]

Only names that both versions have may be used here: ``Collection``, its backend, and ``SearchRequest``. With SHARDS,
the index is parted into so many, which earlier versions cannot: in this process, or by ``http`` in as many others. With
``cluster``, the shard servers that report themselves in the state database answer;
PERIPLUS_SHARD_TOKEN has their token.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_790_000_000.0  # scores know how old a page is: both versions are given the same day
time.time = lambda: NOW  # type: ignore[assignment]

import msgspec  # noqa: E402

from periplus import Collection  # noqa: E402
from periplus.errors import PeriplusError  # noqa: E402
from periplus.records import SearchRequest  # noqa: E402

try:
    from periplus.app.serving.backend import CollectionBackend
except ImportError:  # an earlier version, where it stood elsewhere
    from periplus.app.backend import CollectionBackend

FLAGS = {"search.budget_ms": 120_000}
PASSING = ("took_ms", "generation")  # differ from run to run


def answer_of(backend: CollectionBackend, request: dict[str, Any]) -> Any:
    given = {name: value for name, value in request.items() if name not in ("kind", "call", "tab")}
    match request["call"]:
        case "search":
            return backend.search(SearchRequest(**given))
        case "tab":
            return backend.search_tab(SearchRequest(**given), request["tab"])
        case "suggest":
            return backend.suggest(given["text"], 8)
        case "similar":
            return backend.similar(given["url"], 10)
        case "explain":
            return backend.explain(given["query"], given["url"], given["profile"])
    raise ValueError(request["call"])


def plain(answer: Any) -> Any:
    """As JSON knows it; what passes left out."""
    value = msgspec.json.decode(msgspec.json.encode(answer))
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            for name in PASSING:
                part.pop(name, None)
    return value


def make_ready(collection: Collection, backend: CollectionBackend) -> None:
    """Wait for all that is otherwise built beside the first searches."""
    collection.engine.warm()
    backend.tabs()  # begins to read the pages of the tabs, in versions that read them from the batches
    for thread in threading.enumerate():
        if thread.name == "verticals":
            thread.join()


def part(collection: Collection, shards: int) -> None:
    """Part the index, before anything is open."""
    from periplus.index import IndexStore

    IndexStore(collection.folder / "index").reshard(shards)


def ask_shards(collection: Collection, shards: int) -> None:
    """Let the shards of this process answer in place of the one."""
    from periplus.index import IndexStore

    try:
        from periplus.search import Broker, LocalShards, Shard
    except ImportError:
        from periplus.search.broker import Broker, LocalShards
        from periplus.search.shard import Shard

    store = IndexStore(collection.folder / "index")
    with collection.engine._generations.use() as generation:
        parts = [store.open(shard=number) for number in range(shards)]
        generation.shards = Broker(LocalShards(Shard(one, generation.ranks) for one in parts))


@contextmanager
def shards_over_http(collection: Collection, processes: int) -> Iterator[None]:
    """Let shard processes answer: so many of our own, or with 0 those of a cluster."""
    try:
        from periplus.app.serving.shards import FOUND, TOKEN_VARIABLE, ShardPlan, over_shards
    except ImportError:
        from periplus.app.shards import FOUND, TOKEN_VARIABLE, ShardPlan, over_shards

    plan = ShardPlan(processes=processes) if processes else ShardPlan((FOUND,), token=os.environ[TOKEN_VARIABLE])
    with over_shards(collection, plan, print):
        while not collection.engine.ready:
            collection.engine.reload()
            time.sleep(0.05)
        yield


def main() -> None:
    folder, requests, answers = map(Path, sys.argv[1:4])
    more = sys.argv[4:]
    is_cluster = more[:1] == ["cluster"]
    shards = 0 if is_cluster else int(more[0]) if more else 1
    over_http = is_cluster or more[1:2] == ["http"]
    with Collection(folder, flags=FLAGS) as collection, answers.open("w", encoding="utf-8") as sink:
        if shards > 1:
            part(collection, shards)
        with shards_over_http(collection, shards) if over_http else nullcontext():
            backend = CollectionBackend(collection)
            make_ready(collection, backend)
            if shards > 1 and not over_http:
                ask_shards(collection, shards)
            for line in requests.read_text(encoding="utf-8").splitlines():
                try:
                    value = plain(answer_of(backend, json.loads(line)))
                except PeriplusError as error:
                    value = {"error": f"{type(error).__name__}: {error}"}
                sink.write(json.dumps(value, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
