"""Several collections in one server: each with its own pages, answers, keys and cookies, below its own address."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from periplus import Collection
from periplus.app.importing import import_paths
from periplus.app.serving.several import server_of
from periplus.cli.main import run
from periplus.errors import UsageError


@pytest.fixture
def collections(tmp_path):
    made = []
    for name, word in (("tides", "ebbing"), ("winds", "zephyrical")):
        lines = tmp_path / f"{name}.jsonl"
        lines.write_text(
            json.dumps({"id": "1", "url": f"http://{name}.test/", "title": name, "text": f"It is {word}."})
        )
        collection = Collection(tmp_path / name, flags={"serve.port": 0})
        import_paths(collection, [lines])
        collection.index()
        made.append(collection)
    yield made
    for collection in made:
        collection.close()


class Visitor:
    def __init__(self, address: str) -> None:
        self._place = urlsplit(address).netloc

    def get(self, path: str, **headers: str):
        connection = http.client.HTTPConnection(self._place, timeout=60)
        try:
            connection.request("GET", path, None, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def found(self, name: str, query: str) -> list[str]:
        status, _, text = self.get(f"/c/{name}/api/v1/search?q={query}")
        assert status == 200
        return [result["url"] for result in json.loads(text)["results"]]


@pytest.fixture
def visitor(collections):
    with server_of(collections) as server:
        yield Visitor(server.address)


def test_each_collection_answers_below_its_name(visitor):
    assert visitor.found("tides", "ebbing") == ["http://tides.test/"]
    assert visitor.found("winds", "zephyrical") == ["http://winds.test/"]
    assert visitor.found("tides", "zephyrical") == visitor.found("winds", "ebbing") == []


def test_the_pages_of_a_collection_lead_to_its_own(visitor):
    status, _, page = visitor.get("/c/tides/search?q=ebbing")

    assert status == 200
    assert 'action="/c/tides/search"' in page
    assert '"/c/winds/' not in page
    assert 'href="/search' not in page
    style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert style.startswith("/c/tides/static/")
    assert visitor.get(style)[0] == 200


def test_the_first_page_lists_them_and_all_else_is_not_there(visitor):
    status, headers, page = visitor.get("/")

    assert status == 200
    assert 'href="/c/tides/"' in page
    assert 'href="/c/winds/"' in page
    assert "default-src" in headers["content-security-policy"]
    assert visitor.get("/c/tides")[1]["location"] == "/c/tides/"
    assert {visitor.get(path)[0] for path in ("/search?q=a", "/c/", "/c/nobody/", "/c/tides/../winds/nothing")} == {404}
    assert visitor.get("/healthz")[2] == "ok\n"
    assert visitor.get("/readyz")[0] == 200


@pytest.mark.parametrize("path", ["/api/v1/search?q=a", "/metrics", "/openapi.json", "/c/nobody/api/v1/status"])
def test_a_program_that_asks_beside_the_collections_is_told_where_they_are(visitor, path):
    status, headers, body = visitor.get(path)
    problem = json.loads(body)

    assert (status, headers["content-type"]) == (404, "application/problem+json")
    assert set(problem) == {"type", "title", "status", "detail", "code"}
    assert (problem["status"], problem["code"]) == (404, "not-found")
    assert problem["detail"].endswith("below its own: /c/tides/, /c/winds/")


@pytest.mark.parametrize("path", ["/search?q=a", "/c/nobody/", "/nothing"])
def test_people_who_ask_beside_the_collections_can_choose_one(visitor, path):
    status, headers, page = visitor.get(path)

    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at this address." in page
    assert 'href="/c/winds/"' in page


def test_a_key_of_one_collection_opens_no_other(collections, visitor):
    key = collections[0].keys.operator.shown or collections[0].keys.operator.renew()
    for collection in collections:
        collection.keys.operator.begin()

    status, headers, _ = visitor.get(f"/c/tides/console?key={key}")
    assert status in (200, 303)
    assert "path=/c/tides/" in headers["set-cookie"].lower()
    assert visitor.get("/c/tides/console/events.json", authorization=f"Bearer {key}")[0] == 200
    assert visitor.get("/c/winds/console/events.json", authorization=f"Bearer {key}")[0] == 401


def test_behind_a_proxy_with_a_path_of_its_own(collections):
    collections[0]._flags["serve.public_url"] = "https://example.org/find/"
    first = Collection(collections[0].folder, flags=collections[0].flags)
    with server_of([first, collections[1]]) as server:
        visitor = Visitor(server.address)
        for path in ("/find/c/winds/", "/c/winds/"):  # passed on whole, or without the path
            assert 'action="/find/c/winds/search"' in visitor.get(path)[2]
        assert 'href="/find/c/winds/"' in visitor.get("/find/")[2]
    first.close()


def test_what_cannot_be_served_together(collections, tmp_path, capsys):
    with pytest.raises(UsageError, match="two folders are named tides"):
        server_of([collections[0], collections[0]])
    odd = Collection(tmp_path / "a b", flags={"serve.port": 0}).create()
    with pytest.raises(UsageError, match="has no address"):
        server_of([collections[0], odd])
    odd.close()
    several = Collection(collections[0].folder, flags={"serve.port": 0, "serve.workers": 2})
    with pytest.raises(UsageError, match="one process"):
        server_of([several, collections[1]])
    several.close()
    folders = [word for one in collections for word in ("--dir", str(one.folder))]
    assert run(["serve", *folders, "--shard-processes", "2"]) == 2
    assert "start a server for each" in capsys.readouterr().err
