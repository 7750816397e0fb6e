"""The fetcher against each fault of the mock web; resolver and guard; content encodings."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from typing import TYPE_CHECKING, Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawl.voyages import settings_for
from mockweb.dns_server import Addresses, Alias
from mockweb.faults import (
    BODY,
    HTML,
    BadChunks,
    BadEncoding,
    Bomb,
    Chunked,
    Drip,
    Drop,
    Endless,
    Garbage,
    Hang,
    HugeHeaders,
    Informed,
    Raw,
    WrongLength,
    with_cookie,
)
from periplus.crawl import Fetched, Fetcher, user_agent
from periplus.crawl.fetching import fetcher
from periplus.crawl.fetching.resolver import Dns, Mapping, Resolver
from periplus.crawl.fetching.unpack import unpack
from periplus.demo import Reply
from periplus.errors import FetchError, SettingError

if TYPE_CHECKING:
    from mockweb.certificates import Certificates
    from mockweb.dns_server import MockDns
    from mockweb.mock_web import MockWeb

URL = "http://a.test/page"


async def get(web: MockWeb, url: str = URL, tls: Any = None, wanted: Any = None, **options: Any) -> Fetched:
    async with Fetcher(settings_for(web.resolve, **options), tls=tls) as opened:
        return await opened.fetch(url, wanted=wanted)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Drop(), "connection-lost"),
        (Drop(reset=True), "connection-lost"),
        (Drop(after="headers"), "connection-lost"),
        (Drop(after="part"), "connection-lost"),
        (WrongLength(off=50), "connection-lost"),
        (BadChunks(kind="size"), "bad-response"),
        (BadChunks(kind="end"), "connection-lost"),
        (BadChunks(kind="long"), "connection-lost"),
        (Garbage(), "bad-response"),
        (Bomb(megabytes=3), "decompression-bomb"),
        (Bomb(megabytes=3, coding="deflate"), "decompression-bomb"),
        (BadEncoding(kind="plain"), "bad-encoding"),
        (BadEncoding(kind="flipped"), "bad-encoding"),
        (HugeHeaders(count=1, size=60_000), "bad-response"),
        (Hang(), "timeout"),
        (Hang(after="headers"), "timeout"),
        (Hang(after="part"), "timeout"),
        (Drip(pause=0.02, head=True), "timeout"),
        (Raw(data=b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nbody"), "bad-response"),
    ],
    ids=str,
)
async def test_each_fault_has_its_reason(mock_web: MockWeb, fault: Reply, reason: str) -> None:
    mock_web.at(URL, fault)
    fetched = await get(mock_web, timeout=0.5 if reason == "timeout" else 20, max_unpacked=1_000_000)
    assert (fetched.reason, fetched.exchange) == (reason, None), fetched.detail


async def test_a_slow_body_is_given_up(mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "SLOW_AFTER", 0.1)
    mock_web.at(URL, Drip(pause=0.02))
    assert (await get(mock_web)).reason == "too-slow"


async def test_a_good_page_is_taken_as_sent(mock_web: MockWeb) -> None:
    packed = gzip.compress(BODY, mtime=0)
    mock_web.at(URL, Reply(200, packed, (*HTML, ("Content-Encoding", "gzip"), ("X-Twice", "1"), ("X-Twice", "2"))))
    exchange = (await get(mock_web)).exchange
    assert exchange is not None
    assert (exchange.payload, exchange.body, exchange.status) == (packed, BODY, 200)
    assert [value for name, value in exchange.headers if name == "X-Twice"] == ["1", "2"]
    assert exchange.ip == "127.0.0.1"
    assert exchange.elapsed > 0
    (record,) = mock_web.requests()
    sent = dict(exchange.request_headers)
    assert record.header("user-agent") == sent["User-Agent"] == "Periplus/0.1 (+https://bot.test/)"
    assert record.header("host") == "a.test"
    assert record.header("accept-encoding") == "gzip, deflate, br, zstd"


async def test_surplus_bytes_do_no_harm(mock_web: MockWeb) -> None:
    """Whether they are seen depends on when they arrive: the page as declared, or a broken response."""
    mock_web.at(URL, WrongLength(off=-10))
    fetched = await get(mock_web)
    assert fetched.reason == "bad-response" or (fetched.exchange and fetched.exchange.body == BODY[:-10])


@pytest.mark.parametrize("reply", [Chunked(), Informed()], ids=["chunked", "early-hints"])
async def test_unusual_but_right(mock_web: MockWeb, reply: Reply) -> None:
    mock_web.at(URL, reply)
    exchange = (await get(mock_web)).exchange
    assert exchange is not None
    assert exchange.body == BODY
    assert exchange.truncated == ""


async def test_an_endless_body_is_cut_and_marked(mock_web: MockWeb) -> None:
    mock_web.at(URL, Endless())
    exchange = (await get(mock_web, max_body=100_000)).exchange
    assert exchange is not None
    assert (len(exchange.payload), exchange.truncated) == (100_000, "length")


async def test_a_request_that_a_lease_would_not_outlive_does_not_leave(mock_web: MockWeb) -> None:
    """The last look comes when the connection is there, just before the first byte."""
    mock_web.page(URL)
    looks = iter([True, False])
    async with Fetcher(settings_for(mock_web.resolve)) as opened:
        assert (await opened.fetch(URL, may_send=lambda: next(looks))).status == 200
        with pytest.raises(fetcher.NotSent):
            await opened.fetch(URL, may_send=lambda: next(looks))
    assert len(mock_web.requests()) == 1


async def test_unwanted_types_are_not_downloaded(mock_web: MockWeb) -> None:
    mock_web.at(URL, Endless())
    exchange = (await get(mock_web, wanted=lambda kind: not kind.startswith("text/html"))).exchange
    assert exchange is not None
    assert (exchange.payload, exchange.truncated) == (b"", "length")


async def test_redirects_are_not_followed_and_cookies_not_kept(mock_web: MockWeb) -> None:
    mock_web.redirect(URL, "/elsewhere")
    mock_web.at("http://a.test/cookie", with_cookie())
    async with Fetcher(settings_for(mock_web.resolve)) as opened:
        assert (await opened.fetch(URL)).status == 302
        await opened.fetch("http://a.test/cookie")
        await opened.fetch("http://a.test/cookie")
    assert mock_web.paths("a.test") == ["/page", "/cookie", "/cookie"]
    assert mock_web.cookies() == []
    assert mock_web.log.total_connections == 1  # kept alive


async def test_conditional_requests(mock_web: MockWeb) -> None:
    mock_web.at(URL, Reply(304))
    async with Fetcher(settings_for(mock_web.resolve)) as opened:
        fetched = await opened.fetch(URL, etag='"x"', last_modified="Fri, 15 Jan 2027 08:01:00 GMT")
    assert fetched.status == 304
    (record,) = mock_web.requests()
    assert record.header("if-none-match") == '"x"'
    assert record.header("if-modified-since") == "Fri, 15 Jan 2027 08:01:00 GMT"


@pytest.mark.parametrize("etag", ["a\r\nX-Smuggled: 1", "a\nX-Smuggled: 1", "a\r"])
async def test_nothing_is_smuggled_into_a_request(mock_web: MockWeb, etag: str) -> None:
    async with Fetcher(settings_for(mock_web.resolve)) as opened:
        assert (await opened.fetch(URL, etag=etag)).reason == "bad-response"
    assert mock_web.requests() == []


async def test_the_address_is_sent_as_it_is_spelled(mock_web: MockWeb) -> None:
    target = "/a%2Fb/~c'(d)?x=%20+y&z=%E2%9C%93&[]=|"
    mock_web.at("http://a.test" + target, Reply(200, b"ok"))
    await get(mock_web, "http://a.test" + target)
    assert mock_web.paths("a.test") == [target]


@pytest.mark.parametrize("host", ["expired.test", "wrong-name.test", "self-signed.test"])
async def test_bad_certificates_are_refused(secure_web: MockWeb, certificates: Certificates, host: str) -> None:
    fetched = await get(secure_web, f"https://{host}/", tls=certificates.client_context())
    assert fetched.reason == "tls-failure"


async def test_good_certificates_are_trusted(secure_web: MockWeb, certificates: Certificates) -> None:
    secure_web.page("https://good.test/")
    assert (await get(secure_web, "https://good.test/", tls=certificates.client_context())).status == 200
    assert (await get(secure_web, "https://good.test/")).reason == "tls-failure"  # our authority is nobody's


# The guard


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "deep.localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1"]
)
async def test_the_guard_stops_literals_and_names(mock_web: MockWeb, host: str) -> None:
    for port in (mock_web.port, 80):
        fetched = await get(mock_web, f"http://{host}:{port}/")
        assert fetched.reason == "private-address"
    assert mock_web.requests() == []


async def test_private_addresses_can_be_allowed(mock_web: MockWeb) -> None:
    mock_web.page("http://localhost/")
    assert (await get(mock_web, f"http://localhost:{mock_web.port}/", allow_private=True)).status == 200


async def test_dns_answers_are_guarded_cached_and_checked_again(mock_dns: MockDns) -> None:
    mock_dns.answer("rebind.example", [Addresses("93.184.216.34", ttl=0), Addresses("127.0.0.1")])
    mock_dns.a("inside.example", "192.168.1.1")
    resolver = Resolver(Mapping(()), allow_private=False, lookup=Dns(["127.0.0.1"], mock_dns.port).lookup)
    assert (await resolver.route("rebind.example", 80)).ip == "93.184.216.34"
    assert (await resolver.route("rebind.example", 80)).ip == "93.184.216.34"  # a short TTL does not rebind
    assert len([query for query in mock_dns.queries("rebind.example") if query.kind == "A"]) == 1
    resolver._known.clear()
    with pytest.raises(FetchError, match="private-address"):
        await resolver.route("rebind.example", 80)
    with pytest.raises(FetchError, match="private-address"):
        await resolver.route("inside.example", 80)
    with pytest.raises(FetchError, match="dns-failure"):
        await resolver.route("missing.example", 80)
    assert resolver.forbids("127.0.0.1", 80)


async def test_a_name_that_is_another_name_of_a_private_host(mock_dns: MockDns) -> None:
    mock_dns.a("inside.example", "10.0.0.1")
    mock_dns.answer("outside.example", Alias("inside.example"))
    mock_dns.answer("mixed.example", Addresses("93.184.216.34 fd00::1"))
    mock_dns.answer("translated.example", Addresses("64:ff9b::7f00:1"))
    resolver = Resolver(Mapping(()), allow_private=False, lookup=Dns(["127.0.0.1"], mock_dns.port).lookup)
    for name in ("outside.example", "translated.example"):
        with pytest.raises(FetchError, match="private-address"):
            await resolver.route(name, 80)
    assert (await resolver.route("mixed.example", 80)).ip == "93.184.216.34"
    resolver.failed("mixed.example")  # then the other one comes first
    with pytest.raises(FetchError, match="private-address"):
        await resolver.route("mixed.example", 80)


async def test_dns_answers_hold_as_long_as_they_say_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked = [1_000.0], []
    ttls = {"short.example": 1.0, "fair.example": 300.0, "long.example": 1e9}

    async def lookup(name: str) -> tuple[list[str], float]:
        asked.append(name)
        return ["93.184.216.34"], ttls[name]

    monkeypatch.setattr("periplus.crawl.fetching.resolver.time.monotonic", lambda: clock[0])
    resolver = Resolver(Mapping(()), allow_private=False, lookup=lookup)
    steps = (
        (0.0, ["short.example", "fair.example", "long.example"]),
        (59.0, []),
        (2.0, ["short.example"]),
        (240.0, ["short.example", "fair.example"]),
        (3_600.0, ["short.example", "fair.example", "long.example"]),
    )
    for passed, expected in steps:
        clock[0] += passed
        asked.clear()
        for name in ttls:
            await resolver.route(name, 80)
        assert asked == expected


async def test_the_next_address_is_tried_after_a_failure() -> None:
    async def lookup(_: str) -> tuple[list[str], float]:
        return ["93.184.216.34", "93.184.216.35"], 60.0

    resolver = Resolver(Mapping(()), allow_private=False, lookup=lookup)
    assert (await resolver.route("a.example", 80)).ip.endswith("34")
    resolver.failed("a.example")
    assert (await resolver.route("a.example", 80)).ip.endswith("35")


def test_resolve_entries() -> None:
    mapping = Mapping(("a.test=127.0.0.1:8081", "*.b.test=10.0.0.1", "*=127.0.0.9:1", "six.test=[::1]:81"))
    assert mapping.find("a.test") == ("127.0.0.1", 8081)
    assert mapping.find("x.b.test") == ("10.0.0.1", 0)
    assert mapping.find("anything.org") == ("127.0.0.9", 1)
    assert mapping.find("six.test") == ("::1", 81)
    assert not mapping.is_target("127.0.0.1", 6379)
    for wrong in ("a.test", "a.test=host", "=127.0.0.1", "a.test=127.0.0.1:x", "a.test=127.0.0.1:99999"):
        with pytest.raises(SettingError, match="HOST=IP"):
            Mapping((wrong,))


def test_user_agent_names_the_contact() -> None:
    assert user_agent(settings_for(())) == "Periplus/0.1 (+https://bot.test/)"


# Content encodings

PACKERS = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=4),
    "zstd": zstandard.ZstdCompressor().compress,
    "identity": lambda data: data,
}


@given(st.binary(max_size=2_000), st.lists(st.sampled_from(sorted(PACKERS)), max_size=3))
def test_encodings_come_off_in_reverse(data: bytes, names: list[str]) -> None:
    packed = data
    for name in names:
        packed = PACKERS[name](packed)
    assert unpack(packed, ", ".join(names), 10_000) == data


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_bombs_of_every_kind(name: str) -> None:
    with pytest.raises(FetchError, match="decompression-bomb"):
        unpack(PACKERS[name](b"\0" * 5_000_000), name, 1_000_000)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_cut_body_gives_what_there_is(name: str) -> None:
    body = b"".join(str(number).encode() for number in range(100_000))
    packed = PACKERS[name](body)
    part = unpack(packed[: len(packed) // 2], name, 10_000_000, cut=True)
    assert body.startswith(part)
    assert part or name == "zstd"


@given(st.binary(min_size=1, max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br", "x", ""]))
def test_rubbish_gives_a_reason_or_bytes(data: bytes, name: str) -> None:
    with contextlib.suppress(FetchError):
        unpack(data, name, 10_000)


def test_raw_deflate_and_many_members() -> None:
    packer = zlib.compressobj(wbits=-15)
    assert unpack(packer.compress(BODY) + packer.flush(), "deflate", 10_000) == BODY
    assert unpack(gzip.compress(b"one") + gzip.compress(b"two"), "gzip", 100) == b"onetwo"
