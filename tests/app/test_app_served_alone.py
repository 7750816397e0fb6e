"""A server needs the index and the ranks: without ``documents/`` and ``links/`` it answers the same."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from periplus import Collection, addresses
from periplus.app.serving.backend import CollectionBackend
from periplus.documents import BatchLog, simhash
from periplus.records import Document, Link, SearchRequest
from periplus.web import create_app
from web.asgi_client import Client

FLAGS = {"search.budget_ms": 60_000, "index.workers": 1}
TARGET = "http://harbour.test/tides"
ARTICLE = {"@type": "NewsArticle", "datePublished": "2025-03-01", "author": "A. Pilot"}
INN = {"@type": "Restaurant", "name": "The Anchor", "address": "1 Quay", "telephone": "12"}
REQUESTS = {
    "plain": SearchRequest("tide", size=30),
    "second page": SearchRequest("tide", page=2, size=5),
    "duplicates": SearchRequest("tide", size=30, duplicates=True),
    "safe": SearchRequest("tide", size=30, safe=True),
    "links": SearchRequest(f"link:{TARGET}", size=30, duplicates=True),
    "links and words": SearchRequest(f"tide link:{TARGET}"),
    "date": SearchRequest("tide", sort="date"),
    "phrase": SearchRequest('"tide tables"'),
    "mistyped": SearchRequest("harbuor"),
    "counted": SearchRequest("tide", counts=True),
    "explained": SearchRequest("tide harbour", explain=True, lens="raise:harbour.test"),
}
PAGES = ("/", "/search?q=tide", "/search?q=tide&tab=news", "/api/v1/search?q=tide", "/api/v1/suggest?q=ti",
         "/api/v1/status", "/site/harbour.test", "/cached?url=http://harbour.test/tides")  # fmt: skip


def page(url: str, text: str, *links: str, **more: Any) -> Document:
    given = tuple(Link(link, "tables of the tide") for link in links)
    return Document(
        url,
        addresses.key(url),
        1.7e9,
        title=f"About {url[7:]}",
        text=text,
        language="en",
        links=given,
        fingerprint=simhash(text),
        **more,
    )


COPIED = "The tide tables of the harbour were copied by every paper along the coast, word by word and year by year. "
BATCHES = [
    [
        page(TARGET, "The tide tables of the harbour, with high and low water of every day."),
        page("http://harbour.test/old", "tide " * 8, TARGET),
        *(page(f"http://copy{n}.test/", COPIED * 3, TARGET, structured=(ARTICLE,)) for n in range(4)),
        *(page(f"http://port{n}.test/", f"tide at port {n} " * (n + 2), TARGET, "http://far.test/") for n in range(9)),
    ],
    [
        page("http://harbour.test/old", "The old tide log."),  # no longer links
        page("http://dark.test/", "tide", signals={"adult_words": 0.5}),
        page("http://inn.test/", "An inn by the tide.", "http://harbour.test/", structured=(INN,)),
        page("http://port0.test/", refusal="gone", text=""),
    ],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone") / "c"
    with Collection(folder, flags=FLAGS) as made:
        made.create()
        for batch in BATCHES:
            BatchLog(made.files, made.database).append(batch)
            made.index()
        made.rank()
    return folder


def asked(folder) -> dict[str, Any]:
    """Everything that readers and programs ask of a server."""
    with Collection(folder, flags=FLAGS) as collection:
        backend = CollectionBackend(collection)
        collection.engine.warm()
        answers: dict[str, Any] = {name: backend.search(request) for name, request in REQUESTS.items()}
        answers |= {tab: backend.search_tab(SearchRequest("tide"), tab) for tab in backend.tabs()}
        answers["suggested"] = backend.suggest("tab")
        answers["site"] = backend.site("harbour.test")
        answers["similar"] = backend.similar(TARGET)
        answers["cached"] = backend.cached(TARGET)
        answers["explain"] = backend.explain("tide", TARGET)
        client = Client(create_app(backend, collection.settings, operator_key=""))
        answers["pages"] = {target: client.get(target).status for target in PAGES}
        answers["damage"] = collection.status().damage + collection.engine.damage
        return without_times(msgspec.to_builtins(answers))


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if name not in ("took_ms", "seconds")}
    return [without_times(one) for one in value] if isinstance(value, list | tuple) else value


def urls(answer: dict[str, Any]) -> set[str]:
    return {result["url"] for result in answer["results"]}


def test_answers_are_the_same_without_batches(folder):
    before = asked(folder)
    # That there is something to lose:
    assert len(urls(before["duplicates"]) & {f"http://copy{n}.test/" for n in range(4)}) == 4
    assert len(urls(before["plain"]) & {f"http://copy{n}.test/" for n in range(4)}) == 1
    assert "http://dark.test/" in urls(before["plain"])
    assert "http://dark.test/" not in urls(before["safe"])
    assert before["safe"]["total"]["value"] == before["plain"]["total"]["value"] - 1
    assert before["links"]["total"]["value"] == 12
    assert "http://harbour.test/old" not in urls(before["links"])
    assert before["news"][0]["total"]["value"] == 4
    assert list(before["places"][1].values()) == [{"address": "1 Quay", "telephone": "12", "name": "The Anchor"}]
    assert before["site"]["links_in"][0] == {"host": "copy0.test", "links": 1, "known": False}
    assert (before["site"]["hosts_in"], before["site"]["hosts_out"]) == (13, 0)
    assert "tables of the tide" in [one["text"] for one in before["suggested"]]
    assert all(not one["degraded"] for one in before.values() if isinstance(one, dict) and "degraded" in one)
    assert set(before["pages"].values()) == {200}

    for name in ("documents", "links"):
        (folder / name).rename(folder.parent / name)
    try:
        assert asked(folder) == before
    finally:
        for name in ("documents", "links"):
            (folder.parent / name).rename(folder / name)


def test_a_server_loads_no_arrow(folder):
    program = """
import json, sys
from periplus import Collection
from periplus.app.serving.server import Reloader, web_server
from periplus.records import SearchRequest

with Collection(sys.argv[1]) as collection:
    server = web_server(collection)
    with Reloader(collection):
        backend = collection.engine
        for request in (SearchRequest("tide", safe=True), SearchRequest("link:http://harbour.test/tides")):
            assert backend.search(request).results
        assert backend.search_tab(SearchRequest("tide"), backend.tabs[0])[0].results
        collection.engine.warm()
        collection.suggest("ti"), collection.status()
    server.socket.close()
print(json.dumps([name for name in ("pyarrow", "periplus.documents.batches") if name in sys.modules]))
"""
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
