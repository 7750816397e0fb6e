"""What must not happen: script from the index, other sites pressing buttons, strangers in the console."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from asgi_client import Client
from fake_backend import FakeBackend, Note
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import Corrupt
from periplus.settings import BotSettings, ServeSettings, Settings
from periplus.web import create_app

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></textarea><svg/onload=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
    "]]><script>alert(1)</script>",
    "a\x00b\u2028<b>",
)
ROUTES = (
    "/search?q={}",
    "/search?q=tide&site={}&lang={}&type={}&profile=",
    "/inspect?url=http://x.test/{}",
    "/explain?q={}&url=http://tides.test/springs",
    "/cached?url=http://tides.test/springs&q={}",
    "/about-bot?host={}",
    "/site/{}",
    "/nothing/{}",
)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_asked_comes_back_escaped(client, route, payload):
    answer = client.get(route.replace("{}", quote(payload, safe="")))

    assert answer.status in (200, 404)
    assert "<script>" not in answer.text
    assert "<img src" not in answer.text  # our own pictures begin otherwise
    assert "<svg/onload" not in answer.text
    assert " onmouseover='" not in answer.text


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_is_indexed_comes_out_escaped(backend, payload):
    url = f"http://x.test/{quote(payload)}"
    backend.notes = [Note(url, payload, f"tide {payload}", language=payload, type=payload)]
    client = Client(create_app(backend, Settings(bot=BotSettings(contact=payload))))

    for path in ("/search?q=tide", "/site/x.test", f"/cached?url={quote(url)}", "/about-bot"):
        text = client.get(path).text
        assert "<script>" not in text
        assert "<img src" not in text
        assert "<svg/onload" not in text
        assert " onmouseover='" not in text
        assert 'href="javascript:' not in text


def test_hostile_page_of_the_collection(client):
    text = client.get("/search?q=hostile").text

    assert "&lt;script&gt;document.title=" in text
    assert "<script>document" not in text
    assert "javascript:" not in "".join(part.split('"')[0] for part in text.split('href="')[1:])


@given(st.text(max_size=60))
@settings(max_examples=40, deadline=None)
def test_no_query_breaks_the_page(query):
    client = Client(create_app(FakeBackend(), Settings()))
    answer = client.get(f"/search?q={quote(query, errors='replace')}")

    assert answer.status in (200, 303)
    assert "<script>" not in answer.text


def test_a_query_is_never_read_as_a_template(client):
    assert 'value="{{ 7*7 }}"' in client.get("/search?q=%7B%7B%207*7%20%7D%7D").text


@pytest.mark.parametrize(
    "path", ["/", "/search?q=tide", "/api/v1/search?q=tide", "/nothing", "/static/style.css", "/metrics"]
)
def test_security_headers_are_everywhere(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert len(headers["x-request-id"]) == 16


# Other sites' pages


def test_other_origins_read_the_api_only_when_allowed(client, backend):
    assert "access-control-allow-origin" not in client.get("/api/v1/search?q=tide", origin="http://a.test").headers

    opened = Client(create_app(backend, Settings(serve=ServeSettings(cors=("http://a.test",)))))
    allowed = opened.get("/api/v1/search?q=tide", origin="http://a.test").headers
    assert allowed["access-control-allow-origin"] == "http://a.test"
    assert "access-control-allow-credentials" not in allowed
    assert "access-control-allow-origin" not in opened.get("/api/v1/search?q=tide", origin="http://b.test").headers
    assert "access-control-allow-origin" not in opened.get("/console.json", origin="http://a.test").headers


def test_other_origins_can_never_command(backend):
    client = Client(create_app(backend, Settings(serve=ServeSettings(cors=("*",)))))
    asked = {"origin": "http://a.test", "access-control-request-method": "DELETE"}

    assert client.call("OPTIONS", "/api/v1/crawl", asked).status == 400
    assert client.call("DELETE", "/api/v1/crawl", {"origin": "http://a.test"}).status == 403
    assert backend.commands == []


# The operator


def test_without_a_key_the_console_is_for_this_machine_only(backend):
    app = create_app(backend, Settings())

    assert Client(app).get("/console").status == 200
    assert Client(app, address="::1").get("/console", host="localhost:8080").status == 200
    assert Client(app, address="192.0.2.7").get("/console").status == 403
    assert Client(app).get("/console", x_forwarded_for="192.0.2.7").status == 403
    assert Client(app).get("/console", host="evil.test").status == 403
    assert Client(app).get("/console", host="[").status == 403
    assert Client(app).get("/console?key=anything").status == 401


def test_with_a_key_being_local_is_not_enough(backend):
    client = Client(create_app(backend, Settings(), operator_key="s3same"))

    answer = client.get("/console")
    assert answer.status == 401
    assert "for the operator" in answer.text
    assert client.get("/console.json").status == 401
    assert client.get("/console?key=wrong").status == 401


def test_the_key_becomes_a_cookie(guarded):
    answer = guarded.get("/console?key=s3same")

    assert (answer.status, answer.headers["location"]) == (303, "/console")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "s3same" not in cookie
    pair = cookie.split(";")[0]
    assert guarded.get("/console", cookie=pair).status == 200
    assert guarded.get("/console", cookie="operator=s3same").status == 401
    assert guarded.get("/console.json", cookie=pair).json["hosts"] == 1_207


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("DELETE", "/api/v1/crawl", "stop"),
        ("POST", "/api/v1/crawl/pause", "pause"),
        ("POST", "/api/v1/crawl/resume", "resume"),
    ],
)
def test_commands_need_the_key(guarded, backend, method, path, name):
    refused = guarded.call(method, path)
    assert (refused.status, refused.json["code"]) == (401, "unauthorized")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert guarded.call(method, path, {"authorization": "Bearer wrong"}).status == 401
    assert backend.commands == []

    done = guarded.call(method, path, {"authorization": "Bearer s3same"})
    assert (done.status, done.json) == (202, {"command": name, "accepted": True})
    assert backend.commands == [name]


def test_buttons_of_the_console(client, backend):
    answer = client.post("/console/crawl/pause", origin="http://127.0.0.1:8080", sec_fetch_site="same-origin")

    assert (answer.status, answer.headers["location"]) == (303, "/console")
    assert backend.commands == ["pause"]
    assert client.post("/console/crawl/explode").status == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_another_site_cannot_press_the_buttons(client, backend, headers):
    assert client.post("/console/crawl/stop", **headers).status == 403
    assert client.call("DELETE", "/api/v1/crawl", headers).status == 403
    assert backend.commands == []


def test_large_bodies_are_refused(client):
    answer = client.call("POST", "/theme", {"content-length": "99999999"}, b"x" * 100)

    assert answer.status == 413


def test_only_the_operator_is_told_where_the_broken_file_is(backend):
    """What a stranger reads of a damaged collection names the file, and no folder."""
    told = "/srv/collection/index/segments/7/segment.json is damaged; run periplus doctor"
    backend.error = Corrupt(told)
    app = create_app(backend, Settings(), operator_key="s3same")
    for path in ("/search?q=tide", "/api/v1/search?q=tide"):
        strange, own = Client(app).get(path), Client(app).get(path, authorization="Bearer s3same")
        assert strange.status == own.status == 503
        assert "segment.json is damaged" in strange.text.lower()
        assert "/srv/" not in strange.text
        assert "/srv/collection" in own.text
