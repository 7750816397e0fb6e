"""Tools of others over a real server: the engine for SearXNG, and what Open WebUI asks a SearXNG server."""

from __future__ import annotations

import importlib.util
import json
import urllib.request
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import yaml
from fake_backend import FakeBackend

from periplus.settings import Settings
from periplus.web import WebServer, create_app

ENGINE = Path(__file__).parents[2] / "integrations" / "searxng" / "periplus.py"


@pytest.fixture(scope="module")
def server():
    backend = FakeBackend()
    backend.corrections = ("tide",)
    with WebServer(create_app(backend, Settings()), port=0) as running:
        yield running


@pytest.fixture
def engine(server):
    spec = importlib.util.spec_from_file_location("searxng_periplus", ENGINE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.base_url = server.address
    return module


class Fetched:
    """The response as SearXNG's client gives it to an engine."""

    def __init__(self, params):
        asked = urllib.request.Request(params["url"], headers=params.get("headers", {}))
        with urllib.request.urlopen(asked, timeout=30) as answer:
            self.body = answer.read()

    def json(self):
        return json.loads(self.body)


def asked(engine, query, **params):
    """As SearXNG calls an engine: first ``request``, which fills in the parameters, then ``response``."""
    given = {"pageno": 1, "language": "all", "time_range": None, "safesearch": 0, "headers": {}, **params}
    engine.request(query, given)
    return engine.response(Fetched(given))


def test_the_engine_for_searxng_gives_results_corrections_and_answers(engine):
    found = asked(engine, "tide")
    results = [item for item in found if "url" in item]

    assert len(results) == 10
    assert all(item["title"] and item["content"] for item in results)
    assert any(isinstance(item.get("publishedDate"), datetime) for item in results)
    assert {"correction": "tide"} in found
    assert {"suggestion": "tide tables"} in found
    assert {"number_of_results": 33} in found
    assert {"answer": "1 / 3 ≈ 0.333333333333"} in asked(engine, "1/3")
    assert [item["url"] for item in asked(engine, "tide", pageno=2) if "url" in item] != [
        item["url"] for item in results
    ]


def test_the_engine_passes_on_what_a_reader_chose(engine):
    given = {"pageno": 3, "language": "de-CH", "time_range": "month", "safesearch": 2, "headers": {}}
    engine.api_key = "pk_1"
    engine.request("tide", given)
    values = parse_qs(urlsplit(given["url"]).query)

    assert (values["page"], values["lang"], values["safe"]) == (["3"], ["de"], ["1"])
    assert datetime.fromisoformat(values["after"][0])
    assert given["headers"]["Authorization"] == "Bearer pk_1"


def test_what_open_webui_asks_of_searxng_is_answered(server):
    """The parameters and headers of ``search_searxng`` in open-webui 0.12.4."""
    params = {
        "q": "tide", "format": "json", "pageno": 1, "safesearch": "1", "language": "all", "time_range": "",
        "categories": "", "theme": "simple", "image_proxy": 0,
    }  # fmt: skip
    request = urllib.request.Request(f"{server.address}search?{urlencode(params)}", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.headers["content-type"] == "application/json"
        payload = json.load(answer)

    assert all(item["url"] and item["title"] and item["content"] and item["score"] > 0 for item in payload["results"])


def test_the_settings_that_are_shown_let_searxng_ask_over_http():
    page = (ENGINE.parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    told = yaml.safe_load(ENGINE.read_text(encoding="utf-8").split('"""')[1].split("\n\n")[1])

    assert shown == told
    assert shown["engines"][0]["enable_http"] is True  # searx refuses an engine whose address is no https without it
