"""The way of a request: parameters, routes found by one look, bodies, crashes."""

from __future__ import annotations

import asyncio
import errno
from urllib.parse import parse_qsl

import pytest
from asgi_client import Client
from fake_backend import FakeBackend
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import Overloaded, StorageError
from periplus.settings import Settings
from periplus.web import create_app
from periplus.web.requests.parameters import pairs_of
from periplus.web.serving.envelope import MAX_BODY
from periplus.web.serving.shortcuts import Shortcuts


@given(st.text("abq&=+;%25fFeE0 \u00e9\u00ff\t", max_size=60))
def test_a_query_string_is_read_as_the_library_reads_it(text):
    query = text.encode("latin-1")
    assert pairs_of(query) == parse_qsl(text, keep_blank_values=True)


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=20)), max_size=5))
def test_what_a_browser_wrote_is_read_again(pairs):
    from urllib.parse import urlencode

    query = urlencode([(name, value) for name, value in pairs if name or value], errors="replace")
    assert pairs_of(query.encode()) == parse_qsl(query, keep_blank_values=True)


def test_a_shortcut_leads_where_the_router_leads():
    app = create_app(FakeBackend(), Settings())
    taken = []

    async def note(scope, _receive, _send):
        taken.append(scope["route"])

    quick = Shortcuts(app.router)
    assert len(quick._exact) > 40
    for (method, path), route in quick._exact.items():
        scope = {"type": "http", "method": method, "path": path, "headers": [], "root_path": "", "app": app}
        original, route.app = route.app, note
        try:
            asyncio.run(quick(dict(scope), None, None))
            asyncio.run(app.router(dict(scope), None, None))
        finally:
            route.app = original
        assert taken[-1] is taken[-2] is route, (method, path)


@pytest.mark.parametrize("path", ["/search?q=tide", "/api/v1/search?q=tide&size=unreadable"])
def test_a_search_that_is_too_many_is_refused_before_it_is_read(client, path, monkeypatch):
    def admit(_within):
        raise Overloaded("more is asked than can be answered in time", 1.5)

    monkeypatch.setattr(client.app.state.pool, "admit", admit)
    answer = client.get(path)
    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert client.get("/healthz").status == 200
    route = path.partition("?")[0]
    counted = f'periplus_http_requests_total{{method="GET",route="{route}",status="5xx"}} 1.0'
    assert counted in client.get("/metrics", host="127.0.0.1:8080").text


@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/search", 405), ("GET", "/nothing", 404)])
def test_what_has_no_shortcut_is_left_to_the_router(client, method, path, status):
    assert client.call(method, path).status == status


def test_a_body_without_a_length_is_bounded(client):
    answer = client.post("/theme", b"theme=" + b"n" * MAX_BODY, host="127.0.0.1:8080")
    assert answer.status == 413
    assert "content-security-policy" in answer.headers


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        StorageError("state.db: out of memory"),
        caused(StorageError("texts: cannot be mapped"), OSError(errno.ENOMEM, "Cannot allocate memory")),
        caused(RuntimeError("a search failed"), caused(ValueError(), MemoryError())),
    ],
)
def test_a_search_that_gets_no_memory_is_refused(error):
    class Poor(FakeBackend):
        def search(self, request, **_):
            raise error

    client = Client(create_app(Poor(), Settings()))
    for target in ("/api/v1/search?q=tide", "/search?q=tide"):
        answer = client.get(target)
        assert (answer.status, answer.raised, answer.headers["retry-after"]) == (503, None, "2")
    assert "no-memory" in client.get("/api/v1/search?q=tide").text


def test_a_crash_is_answered_once_with_all_headers_and_counted():
    class Broken(FakeBackend):
        def search(self, request, **_):
            raise RuntimeError("secret")

    client = Client(create_app(Broken(), Settings()))
    for target in ("/api/v1/search?q=tide", "/search?q=tide"):
        answer = client.get(target)
        assert answer.status == 500
        assert isinstance(answer.raised, RuntimeError)
        assert "secret" not in answer.text
        assert "content-security-policy" in answer.headers
        assert answer.headers["x-request-id"]
    told = client.get("/metrics").text
    assert 'periplus_http_requests_total{method="GET",route="/search",status="5xx"} 1.0' in told
    assert 'periplus_http_seconds_bucket{le="+Inf",route="/search"} 1.0' in told
    assert "periplus_http_running 1.0" in told


def test_errors_of_the_api_may_be_read_by_the_origins_that_are_allowed():
    settings = Settings()
    from msgspec import structs

    settings = structs.replace(settings, serve=structs.replace(settings.serve, cors=("https://friend.example",)))
    client = Client(create_app(FakeBackend(), settings))
    answer = client.get("/api/v1/search?q=tide&size=0", origin="https://friend.example")
    assert answer.status == 400
    assert answer.headers["access-control-allow-origin"] == "https://friend.example"
