"""The access log: lines that say no more than the operator wants, files that do not grow for ever."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from asgi_client import Client

from periplus.settings import Settings
from periplus.web import AccessLog, create_app
from periplus.web.serving.access_log import KEPT


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def asked(backend, log, *paths):
    client = Client(create_app(backend, Settings(), operator_key="s3same", log=log), address="192.0.2.7")
    for path in paths:
        client.get(path)
    log.close()


def test_routes_alone_say_nothing_of_queries_or_clients(backend, tmp_path):
    log = AccessLog(tmp_path / "logs", 10_000)
    asked(backend, log, "/search?q=secret+illness", "/site/a.test", "/nothing/secret")
    found = lines(tmp_path / "logs" / "access.log")

    assert [(line["route"], line["status"]) for line in found] == [
        ("/search", 200),
        ("/site/{host}", 404),
        ("other", 404),
    ]
    assert set(found[0]) == {"at", "id", "method", "route", "status", "ms"}
    text = (tmp_path / "logs" / "access.log").read_text()
    assert not [word for word in ("secret", "a.test", "192.0.2.7") if word in text]


def test_full_lines_have_the_query_but_never_a_key(backend, tmp_path):
    log = AccessLog(tmp_path, 10_000, full=True)
    asked(backend, log, "/search?q=tide", "/console?key=s3same", "/console?a=b&key=s3same&c=d")
    found = lines(tmp_path / "access.log")

    assert found[0]["target"] == "/search?q=tide"
    assert found[0]["client"] == "192.0.2.7"
    assert [line["target"] for line in found[1:]] == ["/console?key=…", "/console?a=b&key=…&c=d"]
    assert "s3same" not in (tmp_path / "access.log").read_text()


def test_full_files_are_put_aside_and_the_oldest_go(backend, tmp_path):
    for number in range(KEPT + 4):
        log = AccessLog(tmp_path, 200)
        asked(backend, log, f"/search?q={number}", "/healthz")
    names = {path.name for path in tmp_path.iterdir()}

    assert names == {"access.log", *(f"access.log.{number}" for number in range(1, KEPT + 1))}
    assert all(len(lines(tmp_path / name)) == 2 for name in names)


def test_a_disk_that_fails_keeps_nobody_waiting(backend, tmp_path, caplog):
    (tmp_path / "logs").write_text("no folder")
    log = AccessLog(tmp_path / "logs", 10_000)
    asked(backend, log, "/healthz", "/healthz")

    assert log.dropped == 2
    assert len([record for record in caplog.records if "requests go on without it" in record.message]) == 1


@pytest.mark.parametrize("mode", ["off", "routes", "full"])
def test_the_setting_decides(tmp_path, mode):
    """Through a real server, whose end writes what waits."""
    code = (
        "import http.client, sys\n"
        "from periplus import Collection\n"
        "from periplus.app.serving.server import web_server\n"
        "flags = {'serve.access_log': sys.argv[2], 'serve.port': 0}\n"
        "with Collection(sys.argv[1], flags=flags) as made, web_server(made.create()) as server:\n"
        "    client = http.client.HTTPConnection(server.address.removeprefix('http://').rstrip('/'))\n"
        "    client.request('GET', '/healthz?q=tide')\n"
        "    assert client.getresponse().status == 200\n"
        "    client.close()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "c"), mode], check=True, timeout=120)
    path = tmp_path / "c" / "logs" / "access.log"

    assert path.exists() == (mode != "off")
    if path.exists():
        (line,) = lines(path)
        assert line["route"] == "/healthz"
        assert line.get("target") == ("/healthz?q=tide" if mode == "full" else None)
