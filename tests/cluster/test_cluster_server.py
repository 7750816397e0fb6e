"""One shard server: what it answers, what it refuses, and how it reports itself."""

from __future__ import annotations

import http.client
import subprocess
import sys

import msgspec
import pytest
from cluster_samples import build, is_ready, until

from periplus.cluster.codec import FORMAT, MAX_QUESTION, decode_answer, encode_question
from periplus.cluster.holding import KEPT, HeldShard, OtherGeneration
from periplus.cluster.server import ShardServer, check_token
from periplus.cluster.servers import address_of
from periplus.cluster.sources import FolderShards
from periplus.errors import UsageError
from periplus.graph import Stores

TOKEN = "a-token-that-is-long"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("served")
    build(made, 2, count=60)
    return made


@pytest.fixture(scope="module")
def server(folder):
    with ShardServer(lambda: [1], FolderShards(Stores(folder)), token=TOKEN) as running:
        until(lambda: is_ready(running))
        yield running


def post(server, path, body=b"", token=TOKEN):
    connection = http.client.HTTPConnection(*address_of(server.address), timeout=20)
    connection.request("POST", path, body, {"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def get(server, path):
    connection = http.client.HTTPConnection(*address_of(server.address), timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


FIND = "/shard/v1/find?shard=1&generation=1&left_ms=5000"


def test_a_question_is_answered(server):
    status, body, _ = post(server, FIND, encode_question(([1, 2],)))
    assert (status, decode_answer("find", body)) == (200, [-1, -1])


@pytest.mark.parametrize(
    ("path", "body", "token", "status", "says"),
    [
        (FIND, FORMAT + b"garbage", TOKEN, 400, b"cannot be read"),
        (FIND, b"\x80\x04pickled", TOKEN, 400, b"another format"),
        (FIND, encode_question(([1],)), "", 401, b"token"),
        (FIND, encode_question(([1],)), "a-token-that-is-lonG", 401, b"token"),
        ("/shard/v1/__init__?shard=1&generation=1&left_ms=9", b"", TOKEN, 404, b"no method"),
        ("/shard/v1/snapshot?shard=1&generation=1&left_ms=9", b"", TOKEN, 404, b"no method"),
        ("/shard/v1/find?shard=0&generation=1&left_ms=9", b"", TOKEN, 404, b"this server has [1]"),
        ("/shard/v1/find?shard=1&generation=x&left_ms=9", b"", TOKEN, 400, b"whole numbers"),
        ("/shard/v1/find?shard=1&generation=7&left_ms=5000", encode_question(([1],)), TOKEN, 409, b"[1]"),
        ("/shard/v1/find?shard=1&generation=1&left_ms=0", encode_question(([1],)), TOKEN, 504, b"over"),
        ("/elsewhere", b"", TOKEN, 404, b"nothing"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(server, path, body, token, status, says):
    found, text, _ = post(server, path, body, token)
    assert (found, text.count(b"\n") <= 1) == (status, True)
    assert says in text


def test_a_question_that_is_too_long_is_not_read(server):
    connection = http.client.HTTPConnection(*address_of(server.address), timeout=20)
    connection.putrequest("POST", FIND)
    connection.putheader("Authorization", f"Bearer {TOKEN}")
    connection.putheader("Content-Length", str(MAX_QUESTION * 2))
    connection.endheaders()
    try:
        for _ in range(2 * MAX_QUESTION // 65_536):
            connection.send(b"\x01" * 65_536)
        status = connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        status = 413  # it ended the connection before it was read to the end
    connection.close()
    assert status == 413


def test_alive_is_apart_from_ready(server, folder):
    assert get(server, "/healthz")[0] == 200
    status, body = get(server, "/readyz")
    assert (status, list(msgspec.json.decode(body)["shards"])) == (200, ["1"])
    with ShardServer(list, FolderShards(Stores(folder))) as idle:
        assert (get(idle, "/healthz")[0], get(idle, "/readyz")[0]) == (200, 503)


def test_a_server_that_ends_is_not_ready_and_then_refuses(folder):
    with ShardServer(lambda: [0], FolderShards(Stores(folder))) as ending:
        until(lambda: is_ready(ending))
        ending.application.draining = True
        assert get(ending, "/readyz")[0] == 503
        ask = FIND.replace("shard=1", "shard=0")
        assert post(ending, ask, encode_question(([1],)))[0] == 200
        ending.drain(0.0)
        status, _, headers = post(ending, ask, encode_question(([1],)))
        assert (status, headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "shards.example"])
def test_outside_of_this_machine_a_token_is_wanted(host):
    with pytest.raises(UsageError, match="needs a token"):
        check_token(host, "")
    check_token(host, TOKEN)
    with pytest.raises(UsageError, match="at least 16"):
        check_token(host, "short")


def test_on_this_machine_none_is():
    for host in ("127.0.0.1", "::1", "localhost"):
        check_token(host, "")


def test_who_runs_a_server_is_told_of_each_generation_that_is_warm(tmp_path):
    warm = []

    def taken_up():
        warm.append(server.application.readiness().shards)

    build(tmp_path, 2, count=60)
    server = ShardServer(lambda: [0, 1], FolderShards(Stores(tmp_path)), taken_up=taken_up)
    with server:
        until(lambda: len(warm) == 1)
        build(tmp_path, 2, count=20, number=2, seed=2)
        until(lambda: len(warm) == 2)
    assert [sorted(held) for held in warm] == [[0, 1], [0, 1]]
    assert all(len(warm[1][number]) > len(warm[0][number]) for number in (0, 1))


def test_two_generations_are_kept_and_older_ones_while_they_are_asked(tmp_path):
    now = [0.0]
    shard = HeldShard(0, FolderShards(Stores(tmp_path)), clock=lambda: now[0])
    for number in range(1, 5):
        # The first one has most documents: so no merge is due, which would be a generation of its own.
        build(tmp_path, 1, count=100 if number == 1 else 10, number=number, seed=number)
        assert shard.look()
        assert not shard.look()
    assert sorted(shard.documents()) == [1, 2, 3, 4]
    now[0] = 11.0
    with shard.use(1):
        pass
    shard.look()
    assert sorted(shard.documents()) == [1, 3, 4]
    with shard.use(1) as held:
        now[0] = 30.0
        shard.look()
        assert held.find([1]) == [-1]  # open for as long as it is used
    assert len(shard.documents()) == KEPT
    with pytest.raises(OtherGeneration) as raised, shard.use(1):
        pass
    assert raised.value.held == [3, 4]
    shard.close()


def test_the_embedded_default_imports_nothing_of_this_room():
    script = (
        "import sys, periplus.app.running.up, periplus.app.serving.server, periplus.search, periplus.web\n"
        "import periplus.cli.serve_verb, periplus.cli.shard_verb\n"
        "print([name for name in sys.modules if name.startswith('periplus.cluster')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
