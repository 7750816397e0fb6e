"""The connections of the fetcher: what a server's bytes mean however they are cut, and when one is used again."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from periplus import addresses
from periplus.crawl.fetching import connections
from periplus.crawl.fetching.connections import Connection, Connections, Destination, place_of
from periplus.crawl.fetching.resolver import Mapping, Resolver, Route
from periplus.errors import FetchError

LENGTH = b"HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2 \r\nlo\r\n0\r\nX-Trailer: no\r\n\r\n"
TO_THE_END = b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nhello"
OLD = b"HTTP/1.0 200 OK\r\n\r\nhello"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
BARE = b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"


class Wire(asyncio.Transport):
    """Notes what is done to it; ``lost`` tells the protocol that the other side is gone."""

    def __init__(self, connection: Connection) -> None:
        super().__init__({"peername": ("127.0.0.1", 80)})
        self.connection = connection
        self.sent = b""
        self.paused = self.aborted = False
        connection.connection_made(self)

    def write(self, data: Any) -> None:
        self.sent += data

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def abort(self) -> None:
        self.aborted = True


async def read_all(connection: Connection) -> bytes:
    await connection.ask(b"GET / HTTP/1.1\r\n\r\n")
    body = b""
    while part := await connection.more():
        body += part
    return body


async def exchange(pieces: list[bytes], *, ends: bool = True) -> tuple[Connection, bytes]:
    connection = Connection()
    Wire(connection)
    reading = asyncio.ensure_future(read_all(connection))
    await asyncio.sleep(0)
    for piece in pieces:
        connection.data_received(piece)
        await asyncio.sleep(0)
    if ends:
        connection.connection_lost(None)
    return connection, await reading


@pytest.mark.parametrize(
    ("wire", "status", "body", "is_kept"),
    [
        (LENGTH, 200, b"hello", True),
        (CHUNKED, 200, b"hello", True),
        (HINTS, 404, b"hello", True),
        (CLOSING, 200, b"hello", False),
        (NOT_MODIFIED, 304, b"", True),
        (BARE, 200, b"hello", True),
    ],
)
async def test_an_answer_ends_where_it_says(wire: bytes, status: int, body: bytes, is_kept: bool) -> None:
    connection, found = await exchange([wire], ends=False)
    assert (connection.status, found, connection.is_usable) == (status, body, is_kept)


@pytest.mark.parametrize("wire", [TO_THE_END, OLD])
async def test_without_a_length_the_end_of_the_connection_is_the_end(wire: bytes) -> None:
    connection, found = await exchange([wire])
    assert (found, connection.is_usable) == (b"hello", False)


async def test_headers_are_as_sent() -> None:
    connection, _ = await exchange([LENGTH], ends=False)
    assert connection.reason == b"Fine"
    assert connection.headers == [
        (b"Content-Type", b"text/html"), (b"X-A", b"1"), (b"x-a", b"2"), (b"Content-Length", b"5"),
    ]  # fmt: skip
    chunked, _ = await exchange([CHUNKED], ends=False)
    assert chunked.headers == [(b"Transfer-Encoding", b"chunked")]
    hinted, _ = await exchange([HINTS], ends=False)
    assert hinted.headers == [(b"Content-Length", b"5")]


@given(st.sampled_from([LENGTH, CHUNKED, TO_THE_END, OLD, HINTS, CLOSING, NOT_MODIFIED]), st.data())
def test_how_the_bytes_are_cut_does_not_matter(wire: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(1, len(wire)), max_size=12)))
    pieces = [wire[start:end] for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True) if start < end]

    async def both() -> list[tuple[object, ...]]:
        found = []
        for given_pieces in ([wire], pieces):
            connection, body = await exchange(given_pieces)
            found.append((body, connection.status, connection.reason, connection.headers))
        return found

    whole, cut = asyncio.run(both())
    assert whole == cut


@given(st.binary(max_size=200))
def test_rubbish_is_an_answer_or_a_fault(wire: bytes) -> None:
    async def ask() -> None:
        with contextlib.suppress(FetchError):
            await exchange([b"HTTP/1.1 ", wire])

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (b"", "connection-lost"),
        (b"HTTP/1.1 200 OK\r\nContent-", "connection-lost"),
        (LENGTH[:-1], "connection-lost"),
        (CHUNKED[:-4], "connection-lost"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx", "bad-response"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 40_000 + b"\r\n\r\n", "bad-response"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: 0123456789\r\n" * 20_000, "bad-response"),
        (CHUNKED[:-2] + b"X: 0123456789\r\n" * 20_000, "bad-response"),
        (CHUNKED[: CHUNKED.index(b"\r\n\r\n") + 4] + b"5;" + b"x" * 300_000, "bad-response"),
        (b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" * 10_000, "bad-response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "bad-response"),
    ],
)
async def test_broken_answers(wire: bytes, reason: str) -> None:
    with pytest.raises(FetchError) as caught:
        await exchange([wire[start : start + 4096] for start in range(0, len(wire), 4096)])
    assert caught.value.reason == reason


async def test_surplus_bytes_end_the_connection() -> None:
    at_once, body = await exchange([LENGTH + LENGTH], ends=False)
    assert (body, at_once.is_usable) == (b"hello", False)
    later, _ = await exchange([LENGTH], ends=False)
    later.data_received(b"HTTP")
    assert not later.is_usable


async def test_a_body_that_nobody_reads_waits_on_the_other_side() -> None:
    connection = Connection()
    wire = Wire(connection)
    asking = asyncio.ensure_future(connection.ask(b"GET"))
    await asyncio.sleep(0)
    connection.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
    await asking
    connection.data_received(b"x" * (connections.BODY_WAITING + 1))
    assert wire.paused
    assert len(await connection.more()) == connections.BODY_WAITING + 1
    assert not wire.paused


async def test_connections_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Connections(Resolver(Mapping(()), allow_private=True), 5.0)
    made: list[Connection] = []

    async def connected(place: Destination, route: Route) -> Connection:
        connection = Connection()
        Wire(connection)
        made.append(connection)
        return connection

    monkeypatch.setattr(kept, "_connected", connected)
    place, route = Destination(secure=False, name="a.test", port=80), Route("127.0.0.1", 80, exempt=True)

    async def visit(wire: bytes) -> Connection:
        connection = await kept.take(place, route)
        reading = asyncio.ensure_future(read_all(connection))
        await asyncio.sleep(0)
        connection.data_received(wire)
        await reading
        kept.give_back(place, connection)
        return connection

    first = await visit(LENGTH)
    assert await visit(CHUNKED) is first
    first.connection_lost(None)  # while it had no work
    second = await visit(CLOSING)
    assert second is not first
    third = await visit(LENGTH)
    assert third is not second
    monkeypatch.setattr(connections, "IDLE_SECONDS", -1.0)
    kept._sweep()
    assert third._transport.aborted  # type: ignore[union-attr]
    assert kept._idle == {}
    assert len(made) == 3
    kept.close()


async def test_the_oldest_is_closed_when_too_many_have_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_IDLE", 2)
    kept = Connections(Resolver(Mapping(()), allow_private=True), 5.0)
    wires = []
    for name in ("a.test", "b.test", "c.test"):
        connection, _ = await exchange([LENGTH], ends=False)
        wires.append(connection._transport)
        kept.give_back(Destination(secure=False, name=name, port=80), connection)
    assert [wire.aborted for wire in wires] == [True, False, False]  # type: ignore[union-attr]
    kept.close()
    assert all(wire.aborted for wire in wires)  # type: ignore[union-attr]


async def test_a_connection_that_is_gone_before_it_is_asked() -> None:
    connection = Connection()
    Wire(connection)
    connection.connection_lost(None)
    with pytest.raises(FetchError) as caught:
        await connection.ask(b"GET")
    assert caught.value.reason == "connection-lost"


@pytest.mark.parametrize(
    "url",
    ["http://a.test/", "https://a.test/x?y=:/", "http://a.test:8080/a:b", "https://[::1]/", "http://[2001:db8::1]:81/x",
     "https://xn--bcher-kva.example/?@", "http://1.2.3.4:5/"],
)  # fmt: skip
def test_the_place_of_an_address(url: str) -> None:
    place, expected = place_of(addresses.canonical(url)), URL(url)
    assert (place.secure, place.port) == (expected.scheme == "https", expected.port)
    assert place.name.strip("[]") == expected.raw_host
