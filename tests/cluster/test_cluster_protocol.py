"""HTTP between brokers and shard servers: whatever a client sends, in whatever pieces, is answered or refused."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import contextmanager
from itertools import pairwise

import pytest
from cluster_samples import until
from hypothesis import given
from hypothesis import strategies as st

from periplus.cluster.application import ShardApplication, ShardRequest, ShardResponse
from periplus.cluster.codec import MAX_QUESTION, encode_question
from periplus.cluster.listening import QuestionListener
from periplus.cluster.protocol import HEAD_BYTES, QuestionProtocol
from periplus.web import ClientConnections

POST = b"POST /a?b=%d HTTP/1.1\r\nHost: shard\r\nContent-Length: %d\r\n\r\n%b"
FIND = b"/shard/v1/find?shard=3&generation=1&left_ms=20000"
GET = b"GET /healthz HTTP/1.1\r\nHost: shard\r\n\r\n"


class Mirror:
    """Replies with what it was sent; or, told to, not before ``answer`` is called."""

    def __init__(self, *, waits=False):
        self.waits = waits
        self.askers = []

    def take(self, request, asker):
        self.askers.append((asker, ShardResponse(200, b"|".join(request))))
        if not self.waits:
            self.answer()

    def answer(self):
        asker, reply = self.askers.pop()
        asker.reply(reply)


class Pipe:
    """A transport that keeps what is written."""

    def __init__(self):
        self.written = b""
        self.closing = False
        self.aborted = False

    def get_extra_info(self, _name):
        return ("192.0.2.7", 999)

    def write(self, data):
        assert not self.closing
        self.written += data

    def can_write_eof(self):
        return True

    def write_eof(self):
        self.closing = True

    def close(self):
        self.closing = True

    def abort(self):
        self.closing = self.aborted = True

    def is_closing(self):
        return self.closing

    def get_write_buffer_size(self):
        return 0


def spoken(pieces, application=None, held=None):
    """What is answered to bytes that come in pieces."""

    async def speak():
        pipe = Pipe()
        protocol = QuestionProtocol(application or Mirror(), ClientConnections() if held is None else held)
        protocol.connection_made(pipe)
        for piece in pieces:
            if not pipe.closing:
                protocol.data_received(piece)
        protocol.connection_lost(None)
        return pipe

    return asyncio.run(speak())


def replies(written):
    """Status and body of each answer."""
    found = []
    while written:
        head, _, rest = written.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head)[1])
        found.append((int(head[9:12]), rest[:length]))
        written = rest[length:]
    return found


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=4), st.lists(st.integers(0, 400), max_size=8))
def test_questions_are_read_in_whatever_pieces_they_come(bodies, cuts):
    sent = b"".join(POST % (number, len(body), body) for number, body in enumerate(bodies))
    places = sorted({0, len(sent), *[cut for cut in cuts if cut < len(sent)]})
    pieces = [sent[begin:end] for begin, end in pairwise(places)]
    wanted = [(200, b"POST|/a?b=%d||%b" % one) for one in enumerate(bodies)]
    assert replies(spoken(pieces).written) == wanted


@given(st.lists(st.binary(max_size=60), max_size=6), st.booleans())
def test_hostile_bytes_are_refused_at_most(pieces, has_begun):
    pipe = spoken([GET[:20], *pieces] if has_begun else pieces)
    assert {status for status, _ in replies(pipe.written)} <= {200, 400}


def test_a_body_may_come_in_chunks():
    sent = b"POST /a HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert replies(spoken([sent]).written) == [(200, b"POST|/a||abcde")]


@pytest.mark.parametrize(
    ("sent", "ends"),
    [
        (GET, False),
        (GET.replace(b"1.1", b"1.0"), True),
        (GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), True),
        (GET.replace(b"GET", b"HEAD"), True),
    ],
)
def test_a_connection_is_kept_unless_it_is_to_end(sent, ends):
    pipe = spoken([sent])
    assert (pipe.closing, b"connection: close" in pipe.written, pipe.aborted) == (ends, ends, False)
    assert [status for status, _ in replies(pipe.written)] == [200]


@pytest.mark.parametrize(
    ("sent", "status", "kind"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "malformed"),
        (b"\x16\x03\x01\x02\x00", 400, "malformed"),
        (GET.replace(b"Host", b"Upgrade: websocket\r\nConnection: Upgrade\r\nHost"), 400, "malformed"),
        (b"GET /" + b"a" * HEAD_BYTES, 431, "head"),
        (b"POST /a HTTP/1.1\r\n" + b"A: b\r\n" * HEAD_BYTES, 431, "head"),
        (POST % (1, 2 * MAX_QUESTION, b"a" * (MAX_QUESTION + HEAD_BYTES)), 413, "body"),
    ],
)
def test_what_is_no_question_is_refused_and_ends(sent, status, kind):
    held = ClientConnections()
    pipe = spoken([sent, GET], held=held)
    assert [found for found, _ in replies(pipe.written)][-1:] == [status]
    assert pipe.closing
    assert held.refusals.counts == {kind: 1}


def test_who_asks_before_the_answer_is_there_is_ended():
    held = ClientConnections()
    pipe = spoken([GET, GET], Mirror(waits=True), held)
    assert (pipe.aborted, pipe.written) == (True, b"")
    assert held.refusals.counts == {"pipelined": 1}
    pipe = spoken([GET + GET], Mirror(waits=True), held)
    assert (pipe.aborted, pipe.written) == (True, b"")


def test_nothing_is_written_to_who_left():
    application = Mirror(waits=True)
    pipe = spoken([GET, b"again"], application)
    assert not application.askers[0][0].is_waiting()
    application.answer()
    assert pipe.written == b""


class Leaver:
    """Asks, and may have left before its turn comes."""

    def __init__(self, *, waits):
        self.replies = []
        self.waits = waits

    def is_waiting(self):
        return self.waits

    def reply(self, reply):
        self.replies.append(reply.status)


class Held:
    """A shard that tells what it was asked."""

    number = 3

    def __init__(self):
        self.asked = []

    @contextmanager
    def use(self, _generation):
        yield self

    def find(self, keys):
        self.asked.append(keys)
        return []


def test_a_question_whose_asker_left_is_not_answered_and_counts_no_more():
    async def ask():
        application, shard = ShardApplication(), Held()
        application.serve(shard)
        askers = [Leaver(waits=number != 1) for number in range(3)]
        for number, asker in enumerate(askers):
            application.take(ShardRequest(b"POST", FIND, b"", encode_question(([number],))), asker)
        while application.load:
            await asyncio.sleep(0)
        return sorted(shard.asked), [asker.replies for asker in askers if asker.waits]

    assert asyncio.run(ask()) == ([[0], [2]], [[200], [200]])


# Over sockets


def opened(listener):
    return socket.create_connection(("127.0.0.1", listener.port), 20)


def is_ended(connection):
    try:
        return connection.recv(9) == b""
    except ConnectionResetError:
        return True


def test_one_connection_asks_many_times():
    with QuestionListener(Mirror(), "127.0.0.1") as listener, opened(listener) as connection:
        for _ in range(3):
            connection.sendall(GET)
            assert replies(connection.recv(9_999)) == [(200, b"GET|/healthz||")]


def test_whoever_keeps_the_server_waiting_is_ended():
    held = ClientConnections(patience=0.0001)
    with QuestionListener(Mirror(), "127.0.0.1", connections=held) as listener:
        with opened(listener) as slow:
            slow.sendall(GET[:20])
            assert is_ended(slow)
        with opened(listener) as silent:
            assert is_ended(silent)
        until(lambda: not len(held))
    assert held.refusals.counts == {"slow-head": 1}


def test_the_longest_resting_connection_gives_way():
    held = ClientConnections(most=2)
    with QuestionListener(Mirror(), "127.0.0.1", connections=held) as listener, opened(listener) as first:
        until(lambda: len(held) == 1)
        with opened(listener) as second, opened(listener) as third:
            assert is_ended(first)
            for connection in (second, third):
                connection.sendall(GET)
                assert connection.recv(9_999).startswith(b"HTTP/1.1 200 OK")


def test_when_it_is_full_a_newcomer_is_told():
    held, application = ClientConnections(most=1), Mirror(waits=True)
    with QuestionListener(application, "127.0.0.1", connections=held) as listener, opened(listener) as first:
        first.sendall(GET)
        until(lambda: application.askers)
        with opened(listener) as second:
            answer = second.recv(9_999)
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
    assert b"retry-after: 1" in answer


def test_a_server_that_ends_closes_its_connections():
    with QuestionListener(Mirror(), "127.0.0.1") as listener:
        connection = opened(listener)
        connection.sendall(GET)
        connection.recv(9_999)
    with connection:
        assert is_ended(connection)
