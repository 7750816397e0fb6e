"""A real S3 server for tests (moto, in a process of its own, on a port that is free), and a gate in front of it.

Import the fixtures ``object_server``, ``bucket``, ``gate`` and ``gated_bucket`` into a room's conftest. One server
serves the whole session; each test has a bucket of its own. The gate passes requests on and has the faults of a
network: it answers with a status, tears or halves a body, loses a request or its answer, or is gone.
"""

from __future__ import annotations

import http.client
import random
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING

import pytest

from periplus.storage import objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""
TORN = "torn"
HALF = "half"  # of the body, then the connection is closed
LOST = "lost"  # the connection is closed before anything was done
UNSAID = "unsaid"  # what was asked is done, and the connection closed without an answer
SILENT = "silent"  # no answer for ``SILENCE``, and nothing done
SILENCE = 0.5  # seconds
RANDOM_FAULTS = (500, 503, HALF, LOST, UNSAID, SILENT)
_PASSED_ON = ("content-type", "etag", "last-modified", "content-range", "accept-ranges", "x-amz-version-id")


class ObjectServer:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.port = int(self._process.stdout.readline())
        self._numbers = count(1)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """The variables in which operators give credentials and the address of their server."""
        return environment(self.endpoint)

    def bucket(self) -> str:
        """The name of a new bucket."""
        name = f"bucket-{next(self._numbers)}"
        self._ask("PUT", f"/{name}")
        return name

    def allow_all(self, requests: int) -> None:
        """From now on so many requests are answered whoever asks, and further ones by their credentials."""
        self._ask("POST", "/moto-api/reset-auth", str(requests).encode())

    def stop(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, method: str, path: str, data: bytes | None = None) -> None:
        headers = {"Content-Type": "text/plain"} if data else {}
        asked = urllib.request.Request(self.endpoint + path, data, headers, method=method)
        with urllib.request.urlopen(asked) as answer:
            answer.read()


class Gate:
    """Passes requests on to an S3 server; ``fault`` says what happens to one: a status, a word of above, or nothing."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.target, self.host = port, host
        self.fault: Callable[[str, str], int | str | None] = lambda method, path: None
        self.asked: list[tuple[str, str]] = []
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.open()

    @property
    def endpoint(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def is_closed(self) -> bool:
        return self._server is None

    def open(self) -> None:
        """Listen, on the same port as ever."""
        self._server = ThreadingHTTPServer((self.host, self.port), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # clients that are killed leave connections behind
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Connections are refused from now on."""
        if self._server is not None:
            server, self._server = self._server, None
            server.shutdown()
            server.server_close()

    def refuse(self, times: int, status: int = 503) -> None:
        left = iter(range(times))
        self.fault = lambda method, path: status if next(left, None) is not None else None

    def err(self, share: float, seed: int = 21) -> Counter[int | str]:
        """From now on this share of requests has one of ``RANDOM_FAULTS``; gives how many had which."""
        drawn = random.Random(seed)
        done: Counter[int | str] = Counter()

        def fault(method: str, path: str) -> int | str | None:
            if drawn.random() >= share:
                return None
            what = drawn.choice(RANDOM_FAULTS)
            done[what] += 1
            return what

        self.fault = fault
        return done

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (_Passing,), {"gate": self})


class _Passing(BaseHTTPRequestHandler):
    """One connection to a gate."""

    gate: Gate
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.gate.is_closed:
            self.close_connection = True  # one that was open before
            return
        self.gate.asked.append((self.command, self.path))
        fault = self.gate.fault(self.command, self.path)
        if isinstance(fault, int):
            self.send_response(fault)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        if fault == SILENT:
            time.sleep(SILENCE)
        if fault in (SILENT, LOST):
            self.close_connection = True
            return
        self._answer(body, fault)

    def _answer(self, body: bytes, fault: str | None) -> None:
        onward = http.client.HTTPConnection("127.0.0.1", self.gate.target)
        onward.request(self.command, self.path, body, dict(self.headers))
        answer = onward.getresponse()
        data = answer.read()
        onward.close()
        if fault == UNSAID:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() in _PASSED_ON:
                self.send_header(name, value)
        length = answer.headers.get("content-length") if self.command == "HEAD" else len(data)
        self.send_header("content-length", str(length))
        self.end_headers()
        if fault == TORN and data:
            data = bytes([data[0] ^ 1]) + data[1:]
        if fault == HALF:
            self.close_connection = True
            data = data[: len(data) // 2]
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815


_running: list[ObjectServer] = []


@pytest.fixture
def object_server(request: pytest.FixtureRequest) -> ObjectServer:
    """The server of this session, started on first use and stopped when pytest ends."""
    if not _running:
        _running.append(ObjectServer())
        request.config.add_cleanup(lambda: _running.pop().stop())
    return _running[0]


def environment(endpoint: str) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "periplus", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    return {"AWS_ENDPOINT_URL": endpoint, **keys}


def use(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Set the environment in which operators give credentials and the address of their server."""
    for name, value in environment(endpoint).items():
        monkeypatch.setenv(name, value)


def give_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails once has failed: neither the library nor we ask again."""
    monkeypatch.setattr(objects, "RETRIES", 0)
    monkeypatch.setattr(objects, "RETRY_SECONDS", 0.0)


@pytest.fixture
def bucket(object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty place in an object store."""
    use(monkeypatch, object_server.endpoint)
    return f"s3://{object_server.bucket()}/main"


@pytest.fixture
def gate(object_server: ObjectServer) -> Iterator[Gate]:
    opened = Gate(object_server.port)
    yield opened
    opened.close()


@pytest.fixture
def gated_bucket(bucket: str, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same behind the gate."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", gate.endpoint)
    return bucket
