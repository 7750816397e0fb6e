"""The API for people, the list of sites, what a wrong address offers, and searches as feeds."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
from contextlib import redirect_stdout
from html import unescape
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from asgi_client import Client
from fake_backend import FakeBackend

from periplus.errors import NotReady
from periplus.settings import ServeSettings, Settings
from periplus.web import WebServer, create_app
from periplus.web.api.api_page import EXAMPLES, KEY, snippets
from periplus.web.api.operations import OPERATIONS
from support.components import missing

READS = [operation for operation in OPERATIONS if operation.method == "GET"]


def test_the_page_tells_of_every_operation_and_parameter(client, backend):
    text = unescape(client.get("/api").text)
    known = EXAMPLES | {"url": backend.site(backend.sites("", 1)["hosts"][0])["best"][0]["url"]}
    for operation in OPERATIONS:
        assert f"{operation.method} {operation.path}" in text
        assert all(parameter.help in text for parameter in operation.parameters)
        assert snippets(operation, "http://127.0.0.1:8080", known).curl in text


def test_snippets_about_a_page_are_of_one_that_is_there(client, backend):
    shown = re.findall(r"curl '?(http[^\s']+?url=[^\s'<]+)", unescape(client.get("/api").text))
    assert len(shown) == len([operation for operation in READS if "url" in {p.name for p in operation.parameters}])
    for address in shown:
        assert client.get(address.partition("8080")[2]).status == 200, address


def test_without_an_index_the_snippets_name_a_page_of_nobody(client, backend):
    def not_ready(*_):
        raise NotReady("no index is published yet")

    backend.sites = not_ready
    assert quote(EXAMPLES["url"], safe="") in client.get("/api").text


def test_snippets_name_the_address_that_readers_use(backend):
    app = create_app(backend, Settings(serve=ServeSettings(public_url="https://example.org/find")))
    assert "https://example.org/find/api/v1/search?q=spring+tide" in Client(app).get("/find/api").text


@pytest.fixture(scope="module")
def server():
    backend = FakeBackend()
    with WebServer(create_app(backend, Settings()), port=0) as running:
        yield running


@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.name)
def test_python_snippets_run(server, operation, monkeypatch):
    monkeypatch.setitem(EXAMPLES, "url", "http://tides.test/springs")  # one that these tests know
    told = io.StringIO()
    with redirect_stdout(told):
        exec(snippets(operation, server.address.rstrip("/")).python, {})
    assert told.getvalue().startswith(("{", "["))


def test_snippets_of_orders_show_a_key_and_a_body(server):
    order = next(operation for operation in OPERATIONS if operation.name == "add_page")
    made = snippets(order, "http://127.0.0.1:8080")
    words = shlex.split(made.curl)

    assert words[:3] == ["curl", "-X", "POST"]
    assert json.loads(words[words.index("-d") + 1]) == {"url": "https://example.org/new"}
    assert f"Authorization: Bearer {KEY}" in words
    compile(made.python, "snippet", "exec")
    assert "JSON.stringify" in made.javascript


def test_curl_snippets_run(server):
    if shutil.which("curl") is None:
        missing("curl")
    search = next(operation for operation in OPERATIONS if operation.name == "search")
    command = shlex.split(snippets(search, server.address.rstrip("/")).curl)
    answer = subprocess.run([*command, "-s"], capture_output=True, check=True, timeout=30)
    assert json.loads(answer.stdout)["query"]["text"] == "spring tide"


def test_sites_are_listed_in_pages_and_narrowed(client):
    first, narrowed = client.get("/sites").text, client.get("/sites?host=tides").text

    assert "/site/astral.test" in first
    assert 'rel="next" href="/sites?page=2"' in first
    assert "/site/tides.test" in narrowed
    assert "/site/astral.test" not in narrowed
    assert "No site here has such a name." in client.get("/sites?host=zzz").text


@pytest.mark.parametrize(
    ("path", "guess"),
    [
        ("/ports/spring-tides.html", "ports spring tides"),
        ("/site/no.test", "no"),
        ('/a"><script>alert(1)', "script alert"),
        ("/" + "tide-" * 100, " ".join(["tide"] * 20)),
    ],
)
def test_a_wrong_address_offers_a_search(client, path, guess):
    answer = client.get(path)
    assert answer.status == 404
    assert f'name="q" type="search" value="{guess}"' in answer.text
    assert "<script>alert" not in answer.text


def test_other_errors_offer_no_search(client, backend):
    backend.is_ready = False
    assert "missing-q" not in client.get("/search?q=tide").text


@pytest.mark.parametrize("kind", ["rss", "atom", "jsonfeed"])
def test_feeds_are_newest_first_unless_asked_otherwise(client, backend, kind):
    client.get(f"/search?q=tide&format={kind}")
    assert backend.requests[-1].sort == "date"
    client.get(f"/search?q=tide&format={kind}&sort=relevance")
    assert backend.requests[-1].sort == "relevance"
    client.get("/search?q=tide&format=json")
    assert backend.requests[-1].sort == "relevance"


def test_json_feed(client):
    answer = client.get("/search?q=tide&format=jsonfeed&site=tides.test")
    feed = answer.json

    assert answer.media_type == "application/feed+json"
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["home_page_url"] == "http://127.0.0.1:8080/search?q=tide&site=tides.test&sort=date"
    assert feed["feed_url"] == "http://127.0.0.1:8080/search?q=tide&format=jsonfeed&site=tides.test"
    assert {"id", "url", "title", "content_text", "date_published"} <= set(feed["items"][0])
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])


def test_the_result_page_leads_to_its_feed(client):
    text = unescape(client.get("/search?q=tide&site=tides.test").text)
    address = "/search?q=tide&site=tides.test&format=rss"
    assert f'<p class="follow"><a href="{address}"' in text
    assert ElementTree.fromstring(client.get(address).text).find("channel").findtext("title") == "tide · Periplus"
