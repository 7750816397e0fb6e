"""Listening: ports, signals, graceful ends."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import threading
import urllib.request

import pytest
import trustme
from fake_backend import FakeBackend

from periplus.errors import CannotListen, PortInUse, UsageError
from periplus.settings import Settings
from periplus.web import WebServer, create_app, serve


def fetch(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.status, answer.read()


@pytest.fixture
def app():
    return create_app(FakeBackend(), Settings())


def test_serves_on_a_free_port_and_stops(app):
    with WebServer(app) as server:
        assert server.address == f"http://127.0.0.1:{server.port}/"
        assert fetch(f"{server.address}healthz") == (200, b"ok\n")
        status, body = fetch(f"{server.address}search?q=tide")
    assert (status, b"<mark>tide</mark>" in body) == (200, True)
    with pytest.raises(OSError):
        fetch(f"{server.address}healthz")


def test_port_in_use_is_said_before_anything_starts(app):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} on 127.0.0.1 is in use; choose another with --port"):
            serve(app, port=port, started=lambda _: pytest.fail("it must not start"))


def test_two_servers_cannot_share_a_port(app):
    with WebServer(app) as server, pytest.raises(PortInUse):
        WebServer(app, port=server.port)


def test_an_address_of_another_machine_is_named(app):
    with pytest.raises(CannotListen, match=r"cannot listen on 192\.0\.2\.1 port 0"):
        WebServer(app, "192.0.2.1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_returns_to_the_caller(app, number):
    seen = []

    def started(address):
        # In a thread, as the callback runs on the server's event loop.
        threading.Thread(target=lambda: (seen.append(fetch(f"{address}healthz")), os.kill(os.getpid(), number))).start()

    before = signal.getsignal(number)
    serve(app, port=0, started=started)

    assert seen == [(200, b"ok\n")]
    assert signal.getsignal(number) is before


def test_running_answers_are_finished(app):
    begun, release = threading.Event(), threading.Event()
    backend = app.state.backend
    search = backend.search

    def slow(request, **_):
        begun.set()
        assert release.wait(10)
        return search(request)

    backend.search = slow
    answers = []
    with WebServer(app) as server:
        asking = threading.Thread(target=lambda: answers.append(fetch(f"{server.address}api/v1/search?q=tide")))
        asking.start()
        assert begun.wait(10)
        server.stop()
        release.set()
        asking.join(10)
    assert answers[0][0] == 200


def test_https(app, tmp_path):
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    context = ssl.create_default_context()
    authority.configure_trust(context)

    with WebServer(app, tls_cert=str(cert), tls_key=str(key)) as server:
        assert server.address.startswith("https://")
        with urllib.request.urlopen(f"{server.address}healthz", timeout=10, context=context) as answer:
            assert answer.read() == b"ok\n"


def test_a_certificate_that_is_none_is_wrong_use(app, tmp_path):
    wrong = tmp_path / "cert.pem"
    wrong.write_text("not a certificate")

    for path in (wrong, tmp_path / "missing.pem"):
        with pytest.raises(UsageError, match="check --tls-cert"):
            WebServer(app, tls_cert=str(path))


def test_a_wildcard_address_is_shown_as_loopback(app):
    server = WebServer(app, "0.0.0.0")
    server.socket.close()

    assert server.address.startswith("http://127.0.0.1:")
