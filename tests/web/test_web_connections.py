"""Bounds on what a client can send, hold back or leave unread; and who gives way when there are too many."""

from __future__ import annotations

import logging
import re
import socket
import ssl
import threading
import urllib.request

import pytest
import trustme
from fake_backend import FakeBackend

from periplus.settings import Settings
from periplus.web import WebServer, create_app
from periplus.web.requests.proxies import Proxies
from periplus.web.serving.connections import (
    BODY_BYTES,
    MOST_UNSENT,
    ClientConnections,
    Refusals,
    handles_for_connections,
)
from periplus.web.serving.protocol import FIELDS, HEAD_BYTES, PIPELINED, URL_BYTES

PATIENCE = 0.02  # of what clients have otherwise: fractions of a second
LINE = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /theme HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def app():
    return create_app(FakeBackend(), Settings())


@pytest.fixture
def server(app):
    with WebServer(app) as running:
        yield running


def opened(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def all_of(connection):
    """What comes until the server ends the connection."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def said(server, *pieces):
    """The answers to what was sent, until the end."""
    with opened(server) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return all_of(connection)


def is_well(server):
    with urllib.request.urlopen(f"{server.address}search?q=tide", timeout=20) as answer:
        return answer.status == 200


# What is sent


def test_the_head_of_a_request_is_bounded(server):
    assert said(server, LINE + b"X: " + b"a" * HEAD_BYTES + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")
    assert said(server, LINE + b"X: a\r\n" * FIELDS + b"\r\n").startswith(b"HTTP/1.1 431 ")
    assert said(server, b"GET /" + b"a" * URL_BYTES + b" HTTP/1.1\r\n").startswith(b"HTTP/1.1 414 ")
    assert is_well(server)


def test_a_head_just_within_its_bounds_is_answered(server):
    many = LINE + b"X: a\r\n" * (FIELDS - 2) + b"Connection: close\r\n\r\n"
    long = LINE + b"X: " + b"a" * (HEAD_BYTES - 200) + b"\r\nConnection: close\r\n\r\n"

    assert said(server, many).startswith(b"HTTP/1.1 200 ")
    assert said(server, long).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "begin",
    [LINE + b"X: ", b"GET /", CHUNKED + b"0\r\n", CHUNKED + b"1;"],
    ids=["header", "address", "trailer", "extension"],
)
def test_what_never_ends_is_ended(server, begin):
    with opened(server) as connection:
        connection.sendall(begin)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(2_000):
                connection.sendall(b"a" * 65_536)
    assert is_well(server)


def test_a_long_body_is_refused_however_it_is_cut(server):
    in_bytes = CHUNKED + b"1\r\na\r\n" * BODY_BYTES
    in_one = POST + b"Content-Length: 1000000\r\n\r\n" + b"a" * 1_000_000

    assert said(server, in_bytes).startswith(b"HTTP/1.1 413 ")
    assert said(server, in_one).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "shape",
    [
        LINE + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        LINE + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        LINE + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        LINE + b"Content-Length: +4\r\n\r\nabcd",
        LINE + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        LINE + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        LINE + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        CHUNKED + b"zz\r\n",
        LINE + b"Host: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        LINE + b"X\x00: a\r\n\r\n",
        LINE + b"X: a\rY: b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 200,
        b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
    ],
)
def test_what_two_servers_could_read_differently_is_refused(server, shape):
    answer = said(server, shape + b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert len(re.findall(rb"HTTP/1.1 \d", answer)) == 1


def test_trailers_are_no_headers():
    seen = []

    async def echo(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        seen.extend(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    with WebServer(echo) as server:
        asked = POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        said(server, asked + b"1\r\na\r\n0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
    assert seen == [b"host", b"connection", b"transfer-encoding"]


def test_pipelined_requests_are_answered_in_order_and_bounded(server):
    paths = [b"/healthz", b"/readyz", b"/alive"] * 5
    asked = b"".join(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path for path in paths)
    answers = said(server, asked + LINE + b"Connection: close\r\n\r\n").split(b"HTTP/1.1 200 OK")[1:]

    assert [answer.rpartition(b"\r\n\r\n")[2][:3] for answer in answers[:3]] == [b"ok\n", b"rea", b'{"a']
    assert len(answers) == len(paths) + 1
    assert said(server, (LINE + b"\r\n") * 20 * PIPELINED).count(b"HTTP/1.1 200") < 20 * PIPELINED


@pytest.mark.parametrize("wanted", [b"websocket", b"h2c"])
def test_an_upgrade_is_answered_as_if_it_was_not_asked_for(server, wanted, caplog):
    asked = LINE + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nSec-WebSocket-Key: a\r\n\r\n" % wanted

    assert said(server, asked + b"\x81\x85abcdefghi").startswith(b"HTTP/1.1 200 OK")
    assert caplog.records == []


# What is held back


@pytest.mark.parametrize(
    ("begin", "drip"),
    [(LINE + b"X: ", b"a"), (CHUNKED, b"1\r\na\r\n"), (POST + b"Content-Length: 5000\r\n\r\n", b"a")],
    ids=["head", "chunks", "body"],
)
def test_a_slow_sender_is_told_and_ended(app, begin, drip):
    with WebServer(app, connections=ClientConnections(patience=PATIENCE)) as server, opened(server) as connection:
        connection.sendall(begin)
        dripping = threading.Event()

        def drip_on() -> None:
            while not dripping.wait(0.05):
                try:
                    connection.sendall(drip)
                except OSError:
                    return

        thread = threading.Thread(target=drip_on)
        thread.start()
        answer = all_of(connection)
        dripping.set()
        thread.join()
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_empty_lines_do_not_keep_a_connection(app):
    with WebServer(app, connections=ClientConnections(patience=PATIENCE)) as server, opened(server) as connection:
        connection.sendall(LINE + b"\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                connection.sendall(b"\r\n")


def test_who_does_not_read_is_ended():
    async def long(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"20000000")]})
        await send({"type": "http.response.body", "body": b"a" * 20_000_000})

    held = ClientConnections(patience=0.0001)
    with WebServer(long, connections=held) as server, opened(server) as connection:
        connection.sendall(LINE + b"\r\n")
        connection.recv(1)
        for _ in range(1_000):
            if held.refusals.counts["slow-reader"]:
                break
            threading.Event().wait(0.02)
        assert len(all_of(connection)) < 20_000_000


def test_a_client_that_leaves_is_no_error(server, caplog):
    for half in (CHUNKED + b"1\r\na\r\n", LINE, b"GET /search?q=tide HTTP/1.1\r\nHost: a\r\n\r\n"):
        with opened(server) as connection:
            connection.sendall(half)
    assert is_well(server)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


# How many


def test_idle_connections_give_way_to_who_asks(app):
    with WebServer(app, connections=ClientConnections(most=8)) as server:
        idle = [opened(server) for _ in range(20)]
        for connection in idle[-3:]:
            connection.sendall(LINE)
        assert all(is_well(server) for _ in range(10))
        assert len(server.connections) <= 8
        assert server.connections.refusals.counts["gave-way"] >= 12
        for connection in idle:
            connection.close()


def test_what_is_being_answered_does_not_give_way(app):
    begun, release = threading.Event(), threading.Event()
    search = app.state.backend.search

    def slow(request, **_):
        begun.set()
        assert release.wait(20)
        return search(request)

    app.state.backend.search = slow
    with WebServer(app, connections=ClientConnections(most=1)) as server, opened(server) as first:
        first.sendall(b"GET /api/v1/search?q=tide HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert begun.wait(20)
        refused = said(server, LINE + b"\r\n")
        release.set()
        assert b'"results":[{' in all_of(first)
    assert refused.startswith(b"HTTP/1.1 503 ")


def test_half_open_handshakes_count(app, tmp_path):
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "both.pem"))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    held = ClientConnections(most=4)
    with WebServer(app, tls_cert=str(tmp_path / "both.pem"), connections=held) as server:
        silent = [opened(server) for _ in range(9)]
        for _ in range(5):
            with urllib.request.urlopen(f"{server.address}healthz", timeout=20, context=context) as answer:
                assert answer.read() == b"ok\n"
        assert len(held) <= 4
        for connection in silent:
            connection.close()


class Waiting:
    """A connection that does nothing."""

    def __init__(self, host, size=0):
        self.host, self.size, self.deadline, self.gave_way = host, size, 100.0, 0

    def give_way(self):
        self.gave_way += 1

    expire = give_way

    def unsent(self):
        return self.size


def admitted(held, host, number, size=0):
    made = [Waiting(host, size) for _ in range(number)]
    return [one for one in made if held.admit(one)]


def test_the_client_that_holds_most_gives_way():
    held = ClientConnections(most=10, most_of_client=100)
    many, few = admitted(held, "192.0.2.1", 8), admitted(held, "192.0.2.2", 2)

    admitted(held, "192.0.2.3", 3)
    assert [one.gave_way for one in many] == [1, 1, 1, 0, 0, 0, 0, 0]
    assert [one.gave_way for one in few] == [0, 0]
    assert len(held) == 10


def test_one_client_has_its_share():
    held = ClientConnections(most=100, most_of_client=3, proxies=Proxies(["10.0.0.0/8"]))
    first = admitted(held, "192.0.2.1", 5)
    network = admitted(held, "2001:db8::1", 2) + admitted(held, "2001:db8::2", 3)
    others = admitted(held, "10.1.2.3", 9) + admitted(held, "127.0.0.1", 9)

    assert sum(one.gave_way for one in first) == 2
    assert sum(one.gave_way for one in network) == 2
    assert not any(one.gave_way for one in others)


def test_a_client_whose_connections_are_all_at_work_is_refused():
    held = ClientConnections(most_of_client=3)
    busy = admitted(held, "192.0.2.1", 3)
    for one in busy:
        held.work(one)

    assert admitted(held, "192.0.2.1", 1) == []
    held.wait(busy[1])
    assert len(admitted(held, "192.0.2.1", 1)) == 1
    assert [one.gave_way for one in busy] == [0, 1, 0]


def test_connections_end_at_their_deadline():
    held = ClientConnections()
    early, late = admitted(held, "192.0.2.1", 2)
    late.deadline = 200.0

    held.sweep(150.0)
    assert (early.gave_way, late.gave_way) == (1, 0)


def test_what_is_unsent_is_bounded_in_all():
    held = ClientConnections()
    kept = [one for _ in range(8) for one in admitted(held, "192.0.2.1", 1, MOST_UNSENT // 5)]
    for one in kept:
        held.count_unsent(one.size)

    assert sum(one.size for one in kept if not one.gave_way) <= MOST_UNSENT


def test_connections_leave_handles_to_the_rest():
    assert ClientConnections(10**9).most == handles_for_connections()


def test_the_log_gets_one_line_a_kind_and_minute(caplog):
    now = [0.0]
    refusals = Refusals(lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        refusals.note("head", "192.0.2.1")

    assert [record.message for record in caplog.records] == [
        "connection of 192.0.2.1: refused, the head of its request is too long",
        "connection of 192.0.2.1: refused, the head of its request is too long, and 59 more since the last such line",
    ]
