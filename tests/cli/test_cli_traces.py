"""Traces: spans of searches and fetches reach a collector, tell no secret, and harm nothing when it is away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import tracing


class Collector:
    """Takes traces as the OTLP/HTTP protocol sends them in JSON."""

    def __init__(self) -> None:
        bodies = self.bodies = list[bytes]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                if self.path == "/v1/traces":
                    bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[dict]:
        return [
            span
            for body in self.bodies
            for resource in json.loads(body)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


@pytest.fixture
def collector():
    made = Collector()
    yield made
    made.close()


def periplus(*words: object, endpoint: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    if endpoint:
        environment[tracing.ENDPOINT] = endpoint
    command = [sys.executable, "-m", "periplus", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)


def attributes(span: dict) -> dict[str, object]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


@pytest.fixture
def records(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "1", "title": "Tide tables", "text": "high water and low water"}\n')
    periplus("import", tmp_path / "r.jsonl", "--dir", tmp_path / "c")
    periplus("index", "--dir", tmp_path / "c")
    return tmp_path / "c"


def test_a_search_is_a_span_with_its_steps(records, collector):
    periplus("search", "tide secretword", "--dir", records, endpoint=collector.address)

    spans = {span["name"]: span for span in collector.spans}
    whole = spans["search"]
    assert attributes(whole)["results"] == "1"
    for step in ("search.understand", "search.rank", "search.show"):
        assert spans[step]["traceId"] == whole["traceId"]
        assert spans[step]["parentSpanId"] == whole["spanId"]
    assert b"secretword" not in b"".join(collector.bodies)


def test_a_fetch_is_a_span_without_its_page(tmp_path, collector, mock_web):  # noqa: F811
    seeds = mock_web.site("a.test", 3)
    resolve = [word for one in mock_web.resolve for word in ("--resolve", one)]
    crawl = ("crawl", seeds[0], "--delay", "0", "--workers", "1", "--dir", tmp_path / "c", *resolve)
    periplus(*crawl, endpoint=collector.address)

    fetches = [attributes(span) for span in collector.spans if span["name"] == "fetch"]
    assert len(fetches) == len(mock_web.requests())
    assert {fetch["host"] for fetch in fetches} == {"a.test"}
    assert {"200"} <= {fetch["status"] for fetch in fetches}
    assert seeds[-1].encode() not in b"".join(collector.bodies)


def test_a_collector_that_is_away_costs_nobody_an_answer(records, collector):
    collector.close()
    began = time.monotonic()
    done = periplus("search", "tide", "--dir", records, "--json", endpoint=collector.address)

    assert json.loads(done.stdout)["results"]
    assert time.monotonic() - began < 30  # the exporter alone would try for a minute


def test_without_a_collector_a_function_is_itself(monkeypatch):
    def function() -> int:
        return 1

    monkeypatch.delenv(tracing.ENDPOINT, raising=False)
    assert tracing.traced("name")(function) is function


def test_packages_that_are_missing_are_named(records, tmp_path):
    """A folder before all others hides them."""
    (tmp_path / "hidden" / "opentelemetry").mkdir(parents=True)
    (tmp_path / "hidden" / "opentelemetry" / "__init__.py").write_text("")
    path = f"{tmp_path / 'hidden'}:{os.environ.get('PYTHONPATH', '')}"
    environment = os.environ | {tracing.ENDPOINT: "http://127.0.0.1:9", "PYTHONPATH": path}
    command = [sys.executable, "-m", "periplus", "search", "tide", "--dir", str(records), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)

    assert json.loads(done.stdout)["results"]
    assert done.stderr.count("periplus[telemetry]") == 1
