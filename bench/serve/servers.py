"""The servers that are measured, each a process of its own, on one core: ours, and Starlette around tantivy.

    python -m bench.serve.servers periplus FOLDER CORE [--no-cache]
    python -m bench.serve.servers tantivy FOLDER CORE

Prints its address once it answers. The peer does what a first version of such a server does: parse the query, the best
ten by BM25, a snippet with marks of each, JSON by the fastest encoder there is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

FIELDS = ["title", "text"]
SNIPPET = 200  # characters


@contextmanager
def periplus(folder: Path, cached: bool) -> Iterator[Starlette]:
    """As ``periplus serve`` runs it: warmed up, settled, and watching for newer generations."""
    from periplus.app import Collection
    from periplus.app.serving.backend import CollectionBackend
    from periplus.app.serving.server import Reloader
    from periplus.web import create_app

    with Collection.existing(folder, flags={"serve.rate": 0.0}) as collection, Reloader(collection, settles=True):
        backend = CollectionBackend(collection)
        while not backend.ready():
            time.sleep(0.05)
        if not cached:
            collection.engine._answers._entries = 0
        yield create_app(backend, collection.settings)


def build_tantivy(documents: Iterable[dict[str, Any]], folder: Path) -> None:
    import tantivy

    folder.mkdir(parents=True)
    builder = tantivy.SchemaBuilder()
    for name in FIELDS:
        builder.add_text_field(name, stored=True, tokenizer_name="en_stem")
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(builder.build(), str(folder))
    writer = index.writer(heap_size=400_000_000, num_threads=1)
    for document in documents:
        row = {name: str(document.get(name) or "") for name in (*FIELDS, "url")}
        writer.add_document(tantivy.Document(**row))
    writer.commit()
    writer.wait_merging_threads()


def tantivy_app(folder: Path) -> Starlette:
    import msgspec
    import tantivy
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    index = tantivy.Index.open(str(folder))
    searcher, schema = index.searcher(), index.schema

    def search(request: Request) -> Response:
        started = time.perf_counter()
        text = request.query_params.get("q", "")
        query, _ = index.parse_query_lenient(text, FIELDS)
        found = searcher.search(query, 10)
        snippets = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
        snippets.set_max_num_chars(SNIPPET)
        results = []
        for rank, (score, place) in enumerate(found.hits, 1):
            document = searcher.doc(place)
            snippet = snippets.snippet_from_doc(document)
            marks = [(part.start, part.end) for part in snippet.highlighted()]
            results.append(
                {
                    "rank": rank,
                    "url": document["url"][0],
                    "title": document["title"][0],
                    "snippet": snippet.fragment(),
                    "highlights": marks,
                    "score": score,
                }
            )
        took = (time.perf_counter() - started) * 1000
        answer = {"query": text, "results": results, "total": found.count, "took_ms": took}
        return Response(msgspec.json.encode(answer), media_type="application/json")

    return Starlette(routes=[Route("/api/v1/search", search)])


def main() -> None:
    kind, folder, core = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    from periplus.app.warming import warm_kernels
    from periplus.web import WebServer

    if kind == "periplus":
        warm_kernels(lambda *_: None)  # as `periplus serve` does before it starts
    os.sched_setaffinity(0, {core})
    cached = "--no-cache" not in sys.argv
    with periplus(folder, cached) if kind == "periplus" else nullcontext(tantivy_app(folder)) as app:
        WebServer(app).run(lambda address: print(json.dumps({"address": address}), flush=True))


if __name__ == "__main__":
    main()
