"""Behind a proxy: who is asking, by which address readers know us, and what of the server strangers may see."""

from __future__ import annotations

import re

import pytest
from asgi_client import Client
from fake_backend import FakeBackend

from periplus.errors import SettingError
from periplus.settings import ServeSettings, Settings
from periplus.storage import Database
from periplus.web import create_app
from periplus.web.requests.access import TRIES
from periplus.web.requests.keys import KeyRing
from periplus.web.requests.public import read_address

KEY = "s3same"
PROXY, READER = "10.0.0.1", "192.0.2.7"
PATHS = (
    "/", "/search?q=tide", "/search?q=nothing-at-all", "/site/harbours.test",
    "/similar?url=http://harbours.test/ports/dunsey", "/inspect?url=http://harbours.test/ports/dunsey",
    "/explain?q=tide&url=http://harbours.test/ports/dunsey",
    "/cached?url=http://harbours.test/ports/dunsey", "/about-bot?host=harbours.test",
    "/preferences?lens=raise:a.test", "/embed", "/nowhere", "/console", "/console/hosts",
    "/console/errors", "/console/inspect?url=http://harbours.test/ports/dunsey",
    "/console/queries?text=tide&beside=bm25", "/console/index", "/console/ranks", "/console/settings",
    "/console/events",
)  # fmt: skip
LINK = re.compile(r'(?:href|action|src)="(/[^"]*)"')


def served(*, address=PROXY, key=KEY, keys=None, **serve):
    return Client(create_app(FakeBackend(), Settings(serve=ServeSettings(**serve)), key, keys), address=address)


@pytest.fixture
def below():
    return served(public_url="https://example.test/find/", trusted_proxies=(PROXY,))


def signed_in(client, path="/console", **headers):
    answer = client.get(f"{path}?key={KEY}", **headers)
    assert answer.status == 303
    return answer, answer.headers["set-cookie"].split(";")[0]


# Where readers find us


@pytest.mark.parametrize("path", PATHS)
def test_every_link_of_every_page_leads_below_the_public_path(below, path):
    _, cookie = signed_in(below)
    answer = below.get(path, cookie=cookie)
    links = LINK.findall(answer.text)

    assert len(links) > 5
    assert [link for link in links if not link.startswith("/find/")] == []


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_the_same_whether_the_proxy_takes_the_path_off_or_not(below, path):
    _, cookie = signed_in(below)
    one, other = below.get(path, cookie=cookie), below.get(f"/find{path}", cookie=cookie)

    assert one.status == other.status
    assert _timeless(one.text) == _timeless(other.text)


def _timeless(text):
    return re.sub(r"[\d.]+ ms|\d\d:\d\d", "", text)


def test_whole_addresses_are_the_public_ones(below):
    base = "https://example.test/find"
    opensearch, feed = below.get("/opensearch.xml").text, below.get("/search?q=tide&format=atom").text

    assert f'template="{base}/search?q={{searchTerms}}' in opensearch
    assert f'template="{base}/api/v1/suggest?q=' in opensearch
    assert f"{base}/static/mark.svg" in opensearch
    assert f'src="{base}/embed.js"' in below.get("/embed").text.replace("&#34;", '"')
    assert f'rel="self" type="application/atom+xml" href="{base}/search?q=tide&amp;format=atom"' in feed
    assert f"{base}/?lens=raise%3Aa.test" in below.get("/preferences?lens=raise:a.test").text
    assert below.get("/openapi.json").json["servers"] == [{"url": "/find"}]
    assert "Disallow: /find/search\n" in below.get("/robots.txt").text


def test_links_of_the_api_can_be_followed(below):
    following = below.get("/api/v1/search?q=tide&size=5").json["next"]

    assert following.startswith("/find/api/v1/search?")
    assert below.get(following).json["page"] == 2


def test_redirects_and_cookies_stay_below_the_public_path(below):
    entered, _ = signed_in(below, "/console/hosts")
    themed = below.post("/theme", b"theme=dark&back=/search?q=tide")
    forgotten = below.post("/lens", b"choice=forget-all&back=/preferences", origin="https://example.test")

    assert entered.headers["location"] == "/find/console/hosts"
    assert themed.headers["location"] == "/find/search?q=tide"
    assert below.get("/search").headers["location"] == "/find/"
    assert forgotten.status == 303
    for answer in (entered, themed, forgotten):
        assert "Path=/find/" in answer.headers["set-cookie"]
        assert "Secure" in answer.headers["set-cookie"]


def test_without_a_public_address_the_request_says_it(client):
    assert "Secure" not in client.post("/theme", b"theme=dark").headers["set-cookie"]
    assert "http://127.0.0.1:8080/search?q=" in client.get("/opensearch.xml").text
    assert 'href="/about-bot"' in client.get("/").text


def test_buttons_work_only_from_the_public_page(below):
    _, cookie = signed_in(below)

    assert below.post("/console/crawl/pause", cookie=cookie, origin="https://example.test").status == 303
    assert below.post("/console/crawl/pause", cookie=cookie, origin="https://other.test").status == 403
    assert below.post("/console/crawl/pause", cookie=cookie, origin="http://example.test").status == 403


@pytest.mark.parametrize(
    "wrong",
    [
        "example.test",
        "ftp://a/",
        "https://",
        "https://a/?q",
        "https://a/#b",
        "https://u@a/",
        "https://a/<b>",
        "https://a:b/",
    ],
)
def test_a_public_address_that_is_none_is_said(wrong):
    with pytest.raises(SettingError, match=r"serve\.public_url = "):
        read_address(wrong)


# Who is asking


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        (PROXY, READER, READER),
        (PROXY, f"127.0.0.1, {READER}", READER),
        (PROXY, f"{READER}, 10.0.0.2", READER),
        (PROXY, f"198.51.100.1, {READER}, 10.9.9.9", READER),
        (PROXY, "2001:db8::5", "2001:db8::5"),
        (PROXY, "[2001:db8::5]:1234", "2001:db8::5"),
        (PROXY, f"{READER}:1234", READER),
        (PROXY, "unknown", PROXY),
        (PROXY, f"{READER}, nonsense", PROXY),
        (PROXY, "", PROXY),
        (READER, "127.0.0.1", READER),
    ],
)
def test_the_client_is_the_rightmost_that_is_not_trusted(peer, forwarded, client):
    found = served(address=peer, trusted_proxies=("10.0.0.0/8",), rate=1.0, burst=1)
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    found.get("/search?q=tide", **headers)

    held = found.app.envelope.limits.buckets._held
    assert list(held) == [client if ":" not in client else "2001:db8::/64"]


def test_a_proxy_that_is_not_trusted_is_the_client():
    found = served(address="192.0.2.99", trusted_proxies=(PROXY,), rate=1.0, burst=2)
    answers = [found.get("/search?q=tide", **{"x-forwarded-for": f"198.51.100.{n}"}).status for n in range(4)]

    assert answers == [200, 200, 429, 429]


def test_a_proxy_that_is_no_address_is_said():
    with pytest.raises(SettingError, match="'nginx' is no address or network"):
        served(trusted_proxies=("nginx",))


def test_the_scheme_comes_from_a_trusted_proxy_only():
    secure = {"x-forwarded-proto": "https"}

    trusted = served(trusted_proxies=(PROXY,)).post("/theme", b"theme=dark", **secure)
    stranger = served().post("/theme", b"theme=dark", **secure)
    assert "Secure" in trusted.headers["set-cookie"]
    assert "Secure" not in stranger.headers["set-cookie"]


# What strangers may see


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/status"])
def test_figures_can_be_kept_from_strangers(path, tmp_path):
    state = Database.open(tmp_path / "state.db")
    keys = KeyRing(lambda: state)
    watching, searching = keys.create("watching", ["inspect"]), keys.create("searching", ["search"])
    closed = served(keys=keys, public_status=False)
    _, cookie = signed_in(closed)

    assert served().get(path).status == 200
    assert closed.get(path).status == 401
    assert closed.get(path, authorization=f"Bearer {searching}").status == 403
    for headers in ({"authorization": f"Bearer {watching}"}, {"authorization": f"Bearer {KEY}"}, {"cookie": cookie}):
        assert closed.get(path, **headers).status == 200
    assert closed.get("/api/v1/search?q=tide").status == 200
    state.close()


# Wrong keys


def test_wrong_keys_are_slowed_down():
    client = served(address=READER)
    answers = [client.get(f"/console?key=wrong{n}") for n in range(TRIES + 3)]

    assert [answer.status for answer in answers] == [401] * TRIES + [429] * 3
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert client.get(f"/console?key={KEY}").status == 429  # a right one is not told apart either
    assert client.get("/metrics", authorization="Bearer wrong").status == 200  # shows no key where none is asked for


def test_keys_of_programs_are_slowed_down_alike():
    client = served(address=READER)
    answers = [client.get("/api/v1/search?q=a", authorization=f"Bearer periplus_{n}").status for n in range(TRIES + 1)]

    assert answers == [401] * TRIES + [429]
    assert client.get("/api/v1/search?q=a").status == 200


def test_nobody_is_locked_out_from_another_address():
    client = served(trusted_proxies=(PROXY,))
    _, cookie = signed_in(client, **{"x-forwarded-for": READER})
    for n in range(TRIES + 1):
        client.get(f"/console?key=wrong{n}", **{"x-forwarded-for": "198.51.100.1"})

    assert client.get("/console?key=wrong", **{"x-forwarded-for": "198.51.100.1"}).status == 429
    assert client.get(f"/console?key={KEY}", **{"x-forwarded-for": "203.0.113.4"}).status == 303
    assert client.get("/console", cookie=cookie, **{"x-forwarded-for": "198.51.100.1"}).status == 200  # has the cookie


def test_clients_of_a_proxy_that_nobody_declared_are_told_apart():
    client = served(address="127.0.0.1")
    for n in range(TRIES + 1):
        client.get(f"/console?key=wrong{n}", **{"x-forwarded-for": "198.51.100.1"})

    assert client.get("/console?key=wrong", **{"x-forwarded-for": "198.51.100.1"}).status == 429
    assert client.get(f"/console?key={KEY}", **{"x-forwarded-for": "203.0.113.4"}).status == 303
    assert client.get(f"/console?key={KEY}").status == 303
