"""The mock web itself: what it serves, each of its faults as a raw client sees it, and its log."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import zlib
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockweb import faults
from mockweb.dns_server import NXDOMAIN, REFUSED, SERVFAIL, TIMEOUT, Addresses, Alias, MockDns
from mockweb.fixtures import certificates, mock_dns, mock_web, secure_web
from mockweb.mock_web import MockWeb
from mockweb.raw_client import RawClient, fetch, split
from periplus.demo import DemoServer, Reply
from periplus.errors import PortInUse

__all__ = ["certificates", "mock_dns", "mock_web", "secure_web"]


# what is served


def test_pages_of_many_hosts_on_one_port(mock_web):
    mock_web.page("http://a.test/", "<p>first", links=["/x", ("http://b.test/", "the other")])
    mock_web.page("http://b.test/", "<p>second")
    first = fetch(mock_web.port, "a.test")
    assert first.status == 200
    assert b'<a href="/x">/x</a>' in first.body
    assert b'<a href="http://b.test/">the other</a>' in first.body
    assert b"second" in fetch(mock_web.port, "B.TEST:80").body
    assert fetch(mock_web.port, "c.test").status == 404
    assert mock_web.resolve == (f"*.test=127.0.0.1:{mock_web.port}",)


def test_the_query_is_part_of_an_address(mock_web):
    mock_web.page("http://a.test/x?page=2", "<p>two")
    assert fetch(mock_web.port, "a.test", "/x?page=2").status == 200
    assert fetch(mock_web.port, "a.test", "/x").status == 404


def test_redirects_robots_and_text(mock_web):
    mock_web.redirect("http://a.test/old", "/new", 301)
    mock_web.robots("a.test", "User-agent: *\nDisallow: /")
    mock_web.text("http://a.test/notes.txt", "calm")
    moved = fetch(mock_web.port, "a.test", "/old")
    assert (moved.status, moved.headers["location"]) == (301, "/new")
    assert b"Disallow" in fetch(mock_web.port, "a.test", "/robots.txt").body
    assert fetch(mock_web.port, "a.test", "/notes.txt").headers["content-type"].startswith("text/plain")


def test_chains_and_loops_of_redirects(mock_web):
    assert mock_web.redirect_chain("a.test", 2) == "http://a.test/hop/0"
    places = [fetch(mock_web.port, "a.test", f"/hop/{number}").headers.get("location") for number in range(3)]
    assert places == ["/hop/1", "/hop/2", None]
    mock_web.redirect_loop("http://a.test/", "http://b.test/")
    assert fetch(mock_web.port, "a.test").headers["location"] == "http://b.test/"
    assert fetch(mock_web.port, "b.test").headers["location"] == "http://a.test/"


def test_a_conditional_page_is_sent_once(mock_web):
    mock_web.conditional("http://a.test/", "<p>unchanged")
    tag = fetch(mock_web.port, "a.test").headers["etag"]
    assert fetch(mock_web.port, "a.test", "/", f"If-None-Match: {tag}").status == 304
    mock_web.conditional("http://a.test/", "<p>changed")
    assert fetch(mock_web.port, "a.test", "/", f"If-None-Match: {tag}").status == 200


def test_answers_in_turn_and_the_last_repeats(mock_web):
    mock_web.at("http://a.test/", [Reply(500), Reply(503), Reply(200, b"up again")])
    assert [fetch(mock_web.port, "a.test").status for _ in range(4)] == [500, 503, 200, 200]


def test_an_answer_may_be_computed(mock_web):
    mock_web.host("a.test", lambda request: Reply(200, request.target.encode()))
    assert fetch(mock_web.port, "a.test", "/what/ever?x=1").body == b"/what/ever?x=1"


def test_a_removed_page_is_gone(mock_web):
    mock_web.page("http://a.test/", "x")
    mock_web.remove("http://a.test/")
    assert fetch(mock_web.port, "a.test").status == 404


def test_a_site_is_linked_in_a_ring(mock_web):
    urls = mock_web.site("a.test", 3)
    assert urls == ["http://a.test/", "http://a.test/0", "http://a.test/1", "http://a.test/2"]
    assert b'href="http://a.test/0"' in fetch(mock_web.port, "a.test", "/2").body


def test_head_has_the_length_and_no_body(mock_web):
    mock_web.text("http://a.test/", "12345")
    answer = fetch(mock_web.port, "a.test", method="HEAD")
    assert (answer.status, answer.headers["content-length"], answer.body) == (200, "5", b"")


def test_expect_continue_is_answered_before_the_body_is_read(mock_web):
    mock_web.host("a.test", lambda request: Reply(200, request.body.upper()))
    with RawClient(mock_web.port) as client:
        client.send("a.test", "/", "POST", "Content-Length: 4", "Expect: 100-continue", "Connection: close")
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        client.socket.sendall(b"ahoy")
        assert split(client.rest()[0])[2] == b"AHOY"


def test_a_connection_is_kept_alive(mock_web):
    mock_web.text("http://a.test/", "one")
    with RawClient(mock_web.port) as client:
        for _ in range(3):
            client.send("a.test")
            assert client.whole().body == b"one"
    assert {record.connection for record in mock_web.requests()} == {1}


def test_a_proxy_style_target_names_its_host(mock_web):
    mock_web.text("http://a.test/x", "through a proxy")
    assert fetch(mock_web.port, "proxy.test", "http://a.test/x").body == b"through a proxy"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"ahoy\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"GET / HTTP/1.1\r\nX: " + b"w" * 70_000 + b"\r\n\r\n", b"431"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"501"),
    ],
)
def test_what_is_no_request_is_refused(mock_web, raw, status):
    with RawClient(mock_web.port) as client:
        client.socket.sendall(raw)
        assert client.until(b"\r\n\r\n").split(b" ")[1] == status


# faults


def test_hang_says_nothing_until_the_client_leaves(mock_web):
    mock_web.at("http://a.test/", faults.Hang())
    with RawClient(mock_web.port) as client:
        client.send("a.test")
        assert [record.finished for record in mock_web.log.wait_for(1)] == [0.0]
        client.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
    assert mock_web.log.wait_until_closed()
    assert mock_web.requests()[0].finished


@pytest.mark.parametrize(("after", "body"), [("headers", 0), ("part", len(faults.BODY) // 2)])
def test_hang_in_the_middle(mock_web, after, body):
    mock_web.at("http://a.test/", faults.Hang(after=after))
    with RawClient(mock_web.port) as client:
        client.send("a.test")
        head, _, begun = client.until(b"\r\n\r\n").partition(b"\r\n\r\n")
        while len(begun) < body:
            begun += client.socket.recv(65_536)
        assert head.startswith(b"HTTP/1.1 200")
        assert len(begun) == body


def test_stop_ends_a_hanging_request():
    with MockWeb() as web, RawClient(web.port) as client:
        web.at("http://a.test/", faults.Hang())
        client.send("a.test")
        web.log.wait_for(1)
        web.stop()
        assert client.rest()[0] == b""


@pytest.mark.parametrize("reset", [False, True])
def test_drop_before_the_headers(mock_web, reset):
    mock_web.at("http://a.test/", faults.Drop(reset=reset))
    answer = fetch(mock_web.port, "a.test")
    assert (answer.status, answer.ended) == (0, "reset" if reset else "closed")


def test_drop_after_the_headers_and_in_the_body(mock_web):
    mock_web.at("http://a.test/h", faults.Drop(after="headers"))
    mock_web.at("http://a.test/p", faults.Drop(after="part"))
    assert fetch(mock_web.port, "a.test", "/h").body == b""
    part = fetch(mock_web.port, "a.test", "/p")
    assert 0 < len(part.body) < int(part.headers["content-length"])


@pytest.mark.parametrize("off", [100, -100])
def test_wrong_length(mock_web, off):
    mock_web.at("http://a.test/", faults.WrongLength(off=off))
    answer = fetch(mock_web.port, "a.test")
    assert int(answer.headers["content-length"]) - len(answer.body) == off


def test_chunks_good_and_bad(mock_web):
    mock_web.at("http://a.test/good", faults.Chunked(body=b"abcdef", size=4))
    assert fetch(mock_web.port, "a.test", "/good").body == b"4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n"
    for kind in ("size", "end", "long"):
        mock_web.at(f"http://a.test/{kind}", faults.BadChunks(kind=kind))
    assert b"herring" in fetch(mock_web.port, "a.test", "/size").body
    assert not fetch(mock_web.port, "a.test", "/end").body.endswith(b"0\r\n\r\n")
    assert b"ffff\r\n" in fetch(mock_web.port, "a.test", "/long").body


def test_an_endless_body_ends_at_its_limit(mock_web):
    mock_web.at("http://a.test/", faults.Endless(limit=300_000))
    answer = fetch(mock_web.port, "a.test")
    assert "content-length" not in answer.headers
    assert 300_000 <= len(answer.body) < 400_000


def test_an_endless_body_stops_when_the_client_leaves(mock_web):
    mock_web.at("http://a.test/", faults.Endless(limit=10**12))
    with RawClient(mock_web.port) as client:
        client.send("a.test")
        client.socket.recv(1_000)
    assert mock_web.log.wait_until_closed()


def test_drip_takes_its_time(mock_web):
    mock_web.at("http://a.test/", faults.Drip(body=b"slowly", pause=0.01))
    assert fetch(mock_web.port, "a.test").body == b"slowly"
    (record,) = mock_web.requests()
    assert record.finished - record.monotonic >= 6 * 0.01


def test_the_head_can_drip_too(mock_web):
    mock_web.at("http://a.test/", faults.Drip(body=b"x", pause=0.0, piece=5, head=True))
    assert fetch(mock_web.port, "a.test").body == b"x"


@pytest.mark.parametrize(("coding", "unpack"), [("gzip", gzip.decompress), ("deflate", zlib.decompress)])
def test_a_bomb_is_small_and_unpacks_to_much(mock_web, coding, unpack):
    mock_web.at("http://a.test/", faults.Bomb(megabytes=5, coding=coding))
    answer = fetch(mock_web.port, "a.test")
    assert answer.headers["content-encoding"] == coding
    assert len(answer.body) < 10_000
    assert len(unpack(answer.body)) == 5_000_000


@pytest.mark.parametrize("kind", ["plain", "cut", "flipped"])
def test_bad_encoding_cannot_be_unpacked(mock_web, kind):
    mock_web.at("http://a.test/", faults.BadEncoding(kind=kind))
    with pytest.raises((OSError, EOFError, zlib.error)):
        gzip.decompress(fetch(mock_web.port, "a.test").body)


def test_retry_after_in_seconds_and_as_a_date(mock_web):
    mock_web.at("http://a.test/s", faults.asked_to_wait(429, seconds=7))
    mock_web.at("http://a.test/d", faults.asked_to_wait(503, at=1_800_000_000))
    mock_web.at("http://a.test/n", faults.asked_to_wait(503))
    seconds, date, none = (fetch(mock_web.port, "a.test", path) for path in ("/s", "/d", "/n"))
    assert (seconds.status, seconds.headers["retry-after"]) == (429, "7")
    assert parsedate_to_datetime(date.headers["retry-after"]).timestamp() == 1_800_000_000
    assert "retry-after" not in none.headers


def test_cookies_are_set_and_those_that_come_back_are_known(mock_web):
    mock_web.at("http://a.test/", faults.with_cookie())
    assert fetch(mock_web.port, "a.test").headers["set-cookie"].startswith("session=")
    assert mock_web.cookies() == []
    fetch(mock_web.port, "a.test", "/", "Cookie: session=barnacle")
    assert mock_web.cookies() == ["session=barnacle"]


def test_huge_headers_garbage_raw_and_early_hints(mock_web):
    mock_web.at("http://a.test/huge", faults.HugeHeaders(count=10, size=9_000))
    mock_web.at("http://a.test/garbage", faults.Garbage())
    mock_web.at("http://a.test/raw", faults.Raw(data=b"HTTP/1.0 200 OK\r\n\r\nold"))
    mock_web.at("http://a.test/hints", faults.Informed(body=b"real"))
    assert len(fetch(mock_web.port, "a.test", "/huge").headers["x-cargo-9"]) == 9_000
    with RawClient(mock_web.port) as client:
        client.send("a.test", "/garbage")
        assert not client.rest()[0].startswith(b"HTTP")
    assert fetch(mock_web.port, "a.test", "/raw").body == b"old"
    hints = fetch(mock_web.port, "a.test", "/hints")
    assert hints.status == 103
    assert split(hints.body)[0] == 200


def test_a_delay_comes_before_the_first_byte(mock_web):
    mock_web.at("http://a.test/", Reply(200, b"x", delay=0.05))
    fetch(mock_web.port, "a.test")
    (record,) = mock_web.requests()
    assert record.finished - record.monotonic >= 0.05


# the log


def test_the_log_shows_requests_and_connections_at_once(mock_web):
    gate = faults.Gate()
    mock_web.at("http://a.test/", gate)
    threads = [threading.Thread(target=fetch, args=(mock_web.port, "a.test")) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert len(mock_web.log.wait_for(3, "a.test")) == 3
    fetch(mock_web.port, "b.test")
    gate.open()
    for thread in threads:
        thread.join()
    assert mock_web.most_at_once("a.test") == 3
    assert mock_web.most_connections("a.test") == 3
    assert mock_web.most_at_once("b.test") == 1
    assert mock_web.log.wait_until_closed()
    assert mock_web.log.open_connections == 0
    assert mock_web.log.total_connections == 4


def test_an_idle_connection_counts_as_open(mock_web):
    mock_web.text("http://a.test/", "x")
    with RawClient(mock_web.port) as client:
        client.send("a.test")
        client.whole()
        fetch(mock_web.port, "a.test")
    assert mock_web.most_connections("a.test") == 2
    assert mock_web.most_at_once("a.test") == 1


def test_a_record_says_what_was_asked_and_answered(mock_web):
    mock_web.text("http://a.test/x", "hello")
    answer = fetch(mock_web.port, "A.test:80", "/x", "User-Agent: Gull/1.0")
    (record,) = mock_web.requests("a.test", "/x")
    assert (record.method, record.scheme, record.status) == ("GET", "http", 200)
    assert record.url == "http://A.test:80/x"
    assert record.header("user-agent") == "Gull/1.0"
    assert record.sent > len(answer.body)
    assert record.time > 1_000_000_000
    record.status = 999
    assert mock_web.requests()[0].status == 200


def test_gaps_and_pauses_are_between_requests_of_one_host(mock_web):
    for host in ("a.test", "b.test", "a.test", "a.test"):
        fetch(mock_web.port, host)
    assert len(mock_web.gaps("a.test")) == 2
    assert all(pause <= gap for pause, gap in zip(mock_web.pauses("a.test"), mock_web.gaps("a.test"), strict=True))
    assert mock_web.gaps("b.test") == []
    assert mock_web.paths("a.test") == ["/", "/", "/"]
    mock_web.log.clear()
    assert mock_web.requests() == []


def test_the_port_in_use_is_refused_in_one_line(mock_web):
    with pytest.raises(PortInUse, match=f"port {mock_web.port} .*in use"):
        DemoServer(lambda _: Reply(), mock_web.port).start()


def test_a_server_can_be_stopped_twice_and_started_again():
    web = MockWeb()
    web.stop()
    for _ in range(2):
        web.start()
        assert fetch(web.port, "a.test").status == 404
        web.stop()
        web.stop()


# TLS


def test_one_port_speaks_http_and_https(secure_web, certificates):
    secure_web.text("http://a.test/", "plain")
    secure_web.text("https://a.test/", "secret")
    assert fetch(secure_web.port, "a.test").body == b"plain"
    with RawClient(secure_web.port, certificates.client_context(), "a.test") as client:
        client.send("a.test")
        assert client.whole().body == b"secret"
    assert [record.scheme for record in secure_web.requests()] == ["http", "https"]
    assert secure_web.authority.read_bytes().startswith(b"-----BEGIN CERTIFICATE")


@pytest.mark.parametrize("name", ["expired.test", "wrong-name.test", "self-signed.test"])
def test_bad_certificates_are_refused_by_a_careful_client(secure_web, certificates, name):
    raw = socket.create_connection(("127.0.0.1", secure_web.port))
    with raw, pytest.raises(ssl.SSLCertVerificationError):
        certificates.client_context().wrap_socket(raw, server_hostname=name)


def test_a_broken_handshake_does_not_harm_the_server(secure_web):
    with RawClient(secure_web.port) as client:
        client.socket.sendall(b"\x16herring")
    secure_web.text("http://a.test/", "still here")
    assert fetch(secure_web.port, "a.test").body == b"still here"


# DNS


def _ask(dns: MockDns, name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\0" + kind.to_bytes(2) + b"\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(5.0)
        client.sendto(query, ("127.0.0.1", dns.port))
        return client.recv(4096)


def test_addresses_are_given_by_type_with_their_ttl(mock_dns):
    mock_dns.a("a.test", "127.0.0.1", "::1", ttl=30)
    four, six = _ask(mock_dns, "a.test", 1), _ask(mock_dns, "A.test", 28)
    assert four[:2] == b"\x12\x34"
    assert four.endswith(b"\x00\x00\x00\x1e\x00\x04\x7f\x00\x00\x01")
    assert six.endswith(b"\x00\x10" + b"\0" * 15 + b"\x01")
    assert [(query.name, query.kind) for query in mock_dns.queries()] == [("a.test", "A"), ("a.test", "AAAA")]


@pytest.mark.parametrize(("script", "code"), [(NXDOMAIN, 3), (SERVFAIL, 2), (REFUSED, 5)])
def test_failures_have_their_code(mock_dns, script, code):
    mock_dns.answer("x.test", script)
    assert _ask(mock_dns, "x.test")[3] & 15 == code


def test_an_unknown_name_does_not_exist(mock_dns):
    assert _ask(mock_dns, "nobody.test")[3] & 15 == 3


def test_rebinding_gives_another_address_the_second_time(mock_dns):
    mock_dns.answer("r.test", [Addresses("192.0.2.7", ttl=0), Addresses("127.0.0.1", ttl=0)])
    answers = [_ask(mock_dns, "r.test")[-4:] for _ in range(3)]
    assert answers == [b"\xc0\x00\x02\x07", b"\x7f\x00\x00\x01", b"\x7f\x00\x00\x01"]


def test_an_alias_brings_its_target_along(mock_dns):
    mock_dns.answer("www.test", Alias("a.test"))
    mock_dns.a("a.test", "127.0.0.9")
    answer = _ask(mock_dns, "www.test")
    assert answer[7] == 2
    assert answer.endswith(b"\x7f\x00\x00\x09")


def test_silence_is_no_answer_but_is_recorded(mock_dns):
    mock_dns.answer("x.test", TIMEOUT)
    mock_dns.a("y.test", "127.0.0.1")
    query = b"\0\x01\x01\0\0\x01\0\0\0\0\0\0\x01%b\x04test\0\0\x01\0\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(5.0)
        client.sendto(query % b"x", ("127.0.0.1", mock_dns.port))
        client.sendto(query % b"y", ("127.0.0.1", mock_dns.port))
        assert b"\x01y\x04test" in client.recv(4096)
    assert [query.name for query in mock_dns.queries()] == ["x.test", "y.test"]


@given(st.binary(max_size=2_000), st.integers(min_value=1, max_value=500))
def test_chunks_join_to_the_body(body, size):
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    joined = b"".join(faults.chunk(part) for part in parts)
    rebuilt, rest = b"", joined
    while rest:
        length, _, rest = rest.partition(b"\r\n")
        rebuilt, rest = rebuilt + rest[: int(length, 16)], rest[int(length, 16) + 2 :]
    assert rebuilt == body
