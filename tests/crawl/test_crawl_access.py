"""Own sites: headers, logins, a proxy, a bandwidth cap, hours, certificates; and where their secrets must not be."""

from __future__ import annotations

import base64
import gzip
import struct
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from crawl.proxy import MockProxy
from crawl.voyages import settings_for
from periplus import settings as settings_module
from periplus.crawl import Fetcher, journal
from periplus.crawl.fetching import pacing
from periplus.crawl.fetching.access import HostHeaders, proxy_address
from periplus.crawl.fetching.pacing import DAY, Bandwidth, DiskMark, Hours
from periplus.demo import Reply, html
from periplus.errors import SettingError, UsageError
from periplus.settings import CrawlSettings

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.certificates import Certificates
    from mockweb.mock_web import MockWeb
    from periplus.demo import Request

SECRET = "swordfish-9261"


def _login(request: Request) -> Reply:
    expected = "Basic " + base64.b64encode(f"mate:{SECRET}".encode()).decode()
    if request.header("authorization") != expected:
        return html("<p>Who are you?", 401)
    return html(f"<title>Log book</title><p>Words for the crew at {request.path}. <a href='/next'>next</a>")


def _token(request: Request) -> Reply:
    return html("<p>Words behind a token.", 200 if request.header("x-token") == SECRET else 403)


def test_login_and_headers_reach_their_hosts_and_no_file(voyage: Voyage, mock_web: MockWeb, tmp_path: Path) -> None:
    mock_web.host("crew.test", _login)
    mock_web.at("http://token.test/", _token)
    mock_web.page("http://a.test/", links=["http://crew.test/log", "http://token.test/", "http://other.test/"])
    mock_web.redirect("http://crew.test/log", "http://other.test/thief")
    mock_web.page("http://other.test/", "<p>Nothing secret here.")
    password = tmp_path / "password"
    password.write_text(SECRET + "\n")
    voyage.run(
        mock_web, "http://a.test/", "http://crew.test/",
        auth=(f"crew.test=mate:{password}",), headers=(f"token.test=X-Token: {SECRET}",),
    )  # fmt: skip
    password.unlink()
    assert {"http://crew.test/", "http://crew.test/next", "http://token.test/"} <= voyage.fetched()
    for host in ("a.test", "other.test"):
        asked = mock_web.requests(host)
        assert asked
        assert not any(record.header("authorization") or record.header("x-token") for record in asked)
    packed = base64.b64encode(f"mate:{SECRET}".encode())
    for path in voyage.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data += gzip.decompress(data) if path.suffix == ".gz" else b""
            assert SECRET.encode() not in data, path
            assert packed not in data, path


def test_the_nearer_name_wins_and_case_does_not_matter() -> None:
    found = HostHeaders(
        CrawlSettings(headers=("*.a.test=X-One: far", "Deep.a.test=X-One: near", "*.a.test=X-Two: 2", "b.test:81=Y: z"))
    )
    assert found.of("deep.a.test") == {"X-One": "near", "X-Two": "2"}
    assert found.of("x.a.test") == {"X-One": "far", "X-Two": "2"}
    assert found.of("a.test") == found.of("evil-a.test") == found.of("b.test") == {}
    assert found.of("b.test:81") == {"Y": "z"}
    sent = [("X-ONE", "s"), ("Authorization", "s"), ("Cookie", "s"), ("Accept", "kept")]
    assert found.archived(sent) == (("Accept", "kept"),)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("headers", f"a.test={SECRET}"),
        ("headers", f"*=X-Token: {SECRET}"),
        ("headers", f"=X-Token: {SECRET}"),
        ("headers", f"a.test=X-Token: {SECRET}\r\nEvil: yes"),
        ("headers", f"a.test=User-Agent: {SECRET}"),
        ("headers", f"a.test=Bad Name: {SECRET}"),
        ("auth", "a.test=mate"),
        ("auth", "a.test=mate:/nowhere/password"),
    ],
)
def test_wrong_entries_are_refused_without_their_secret(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"crawl.{option}") as caught:
        HostHeaders(CrawlSettings(**{option: (value,)}))  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)


def test_settings_do_not_show_secrets() -> None:
    with pytest.raises(SettingError) as caught:
        settings_module.load(None, {"crawl.proxy": [f"http://me:{SECRET}@p.test/"]}, {})
    assert SECRET not in str(caught.value)
    with pytest.raises(SettingError) as caught:
        proxy_address(f"socks5://me:{SECRET}@p.test/")
    assert SECRET not in str(caught.value)


def test_a_crawl_through_a_proxy_asks_no_dns(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 3)
    with MockProxy(mock_web.port) as proxy:
        web = _Behind(mock_web)
        voyage.run(web, "http://a.test/", proxy=proxy.url)
        assert voyage.fetched() == set(pages)
        assert proxy.asked[0].startswith("GET http://a.test/robots.txt ")
        assert len(proxy.asked) == 5
        # hosts of --resolve are reached directly, and literal private addresses are refused as ever
        mock_web.page("http://b.test/", links=["http://127.0.0.1:8001/", "http://localhost:8001/"])
        voyage.run(mock_web, "http://b.test/", proxy=proxy.url)
    assert "http://b.test/" in voyage.fetched()
    assert len(proxy.asked) == 5
    for url in ("http://127.0.0.1:8001/", "http://localhost:8001/"):
        assert voyage.url(url)["reason"] == "private-address"
    assert {row.ip for row in journal(voyage.database)} == {"127.0.0.1"}
    voyage.web = None


async def test_https_and_logins_through_a_proxy(secure_web: MockWeb, certificates: Certificates) -> None:
    secure_web.page("https://a.test/", "<p>Words under a seal.")
    login = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
    context = certificates.client_context()
    with MockProxy(secure_web.port, login) as proxy:
        good = settings_for((), proxy=proxy.url.replace("//", f"//me:{SECRET}@"))
        async with Fetcher(good, tls=context) as fetcher:
            sealed = await fetcher.fetch("https://a.test/")
            plain = await fetcher.fetch("http://a.test/nothing")
        async with Fetcher(settings_for((), proxy=proxy.url), tls=context) as fetcher:
            refused = [(await fetcher.fetch(f"{scheme}://a.test/")).reason for scheme in ("http", "https")]
    async with Fetcher(settings_for((), proxy=proxy.url), tls=context) as fetcher:
        dead = await fetcher.fetch("http://a.test/")
    assert (sealed.status, plain.status) == (200, 404)
    assert plain.exchange is not None
    assert SECRET not in str(plain) + str(sealed)
    assert "proxy-authorization" not in {name.lower() for name, _ in plain.exchange.request_headers}
    assert plain.exchange.ip == ""  # of the server, which only the proxy knows
    assert refused == ["proxy-failure"] * 2
    assert dead.reason == "proxy-failure"


async def test_certificates_that_fail_are_refused_or_noted(secure_web: MockWeb) -> None:
    secure_web.page("https://a.test/", "<p>Signed by nobody we know.")
    async with Fetcher(settings_for(secure_web.resolve)) as fetcher:
        assert (await fetcher.fetch("https://a.test/")).reason == "tls-failure"
    async with Fetcher(settings_for(secure_web.resolve, tls="note")) as fetcher:
        for _ in range(2):
            fetched = await fetcher.fetch("https://a.test/")
            assert fetched.status == 200
            assert "certificate not verified" in fetched.note


def test_a_noted_certificate_stands_in_the_journal(voyage: Voyage, secure_web: MockWeb) -> None:
    secure_web.page("https://a.test/", "<p>Signed by nobody we know.")
    voyage.run(secure_web, "https://a.test/", tls="note")
    assert voyage.fetched() == {"https://a.test/"}
    assert all("certificate not verified" in row.rule for row in journal(voyage.database))


async def test_the_bandwidth_cap_holds_and_is_not_the_hosts_fault(mock_web: MockWeb) -> None:
    body = b"<p>" + b"sea and sky " * 30_000
    mock_web.text("http://a.test/", body, "text/html")
    async with Fetcher(settings_for(mock_web.resolve, max_bandwidth=200_000, timeout=1.0)) as fetcher:
        began = time.monotonic()
        fetched = await fetcher.fetch("http://a.test/")
        seconds = time.monotonic() - began
    assert fetched.exchange is not None, fetched
    assert len(fetched.exchange.body) == len(body)
    assert seconds >= len(body) / 200_000 - 0.25 - 0.05


def test_no_cap_never_waits() -> None:
    assert Bandwidth(0).claim(10**12) == 0.0
    assert Bandwidth(1000).claim(10_000) == pytest.approx(9.75)


def test_workers_on_many_machines_have_a_part_of_the_cap_each() -> None:
    workers = 4
    cap = Bandwidth(1000, among=lambda: workers)
    assert cap.claim(1_000) == pytest.approx(3.75, abs=0.1)
    workers = 1
    assert cap.claim(1_000) == pytest.approx(4.75, abs=0.1)


def test_workers_share_the_cap(tmp_path: Path) -> None:
    first, second = (Bandwidth(1000, tmp_path / "shared") for _ in range(2))
    assert first.claim(5_000) == pytest.approx(4.75, abs=0.1)
    assert second.claim(5_000) == pytest.approx(9.75, abs=0.1)
    (tmp_path / "shared").write_bytes(struct.pack("<d", time.monotonic() + 10_000))  # of an earlier start
    assert first.claim(1_000) == pytest.approx(0.75, abs=0.1)
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("text", "open_hours"),
    [("", range(24)), ("22-06", [22, 23, 0, 1, 2, 3, 4, 5]), ("9-17", range(9, 17)), ("0-24", range(24))],
)
def test_hours(text: str, open_hours: list[int]) -> None:
    hours = Hours.parse(text)
    midnight = time.mktime((2025, 6, 2, 0, 0, 0, 0, 0, -1))
    assert [hour for hour in range(24) if hours.is_open(midnight + hour * 3600)] == sorted(open_hours)


def test_hours_with_minutes() -> None:
    assert Hours.parse("22:30-6:15") == (22 * 60 + 30, 6 * 60 + 15)
    assert Hours.parse("") == (0, DAY)
    for wrong in ("22", "25-3", "3-3", "1:70-2", "night"):
        with pytest.raises(SettingError, match=r"crawl\.hours"):
            Hours.parse(wrong)


def test_nothing_is_asked_outside_the_hours(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 2)
    hour = time.localtime().tm_hour
    closed, opened = f"{(hour + 3) % 24}-{(hour + 5) % 24}", f"{(hour - 2) % 24}-{(hour + 2) % 24}"
    voyage.run(mock_web, "http://a.test/", hours=closed, seconds=0.5)
    assert mock_web.requests() == []
    voyage.run(mock_web, hours=opened)
    assert len(voyage.fetched()) == 3


def test_room_on_the_disk_is_looked_for_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, disk = [100.0], SimpleNamespace(total=20_000_000_000, free=499_000_000)
    monkeypatch.setattr(pacing.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(pacing.shutil, "disk_usage", lambda _: disk)
    mark = DiskMark(tmp_path)
    assert mark.lack == "499 MB of its disk is free, and a crawl leaves 500 MB"
    disk.free = 500_000_000
    assert mark.look()
    now[0] += pacing.DISK_SECONDS
    assert mark.look() == ""
    disk.total, disk.free = 9_000_000_000, 1_000
    assert DiskMark(tmp_path).lack == ""


class _Behind:
    """The mock web as it is known behind a proxy: by no address of ours."""

    resolve = ()

    def __init__(self, web: MockWeb) -> None:
        self.pauses, self.requests = web.pauses, web.requests
        self.most_at_once, self.gaps = web.most_at_once, web.gaps
