"""The packages that are installed are compared with their known vulnerabilities, where that can be had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
VULNERABILITY = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fixed_in": ["99.0"], "link": "https://osv.dev/1"}


def pinned() -> dict[str, str]:
    lock = (ROOT / "requirements" / "base.lock").read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE))


@contextmanager
def index(known: dict[str, list[dict]], missing: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """A package index with these advisories, and the addresses that it was asked for."""
    asked: set[str] = set()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.add(self.path)
            name = self.path.split("/")[1]
            body = json.dumps({"vulnerabilities": known.get(name, [])}).encode()
            self.send_response(404 if name in missing or "*" in missing else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def audit(address: str) -> tuple[int, str]:
    environment = {**os.environ, "PERIPLUS_ADVISORIES": address, "no_proxy": "*"}
    command = [sys.executable, ROOT / "scripts" / "audit.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_known_hole_of_a_pinned_version_fails_and_says_where_it_is_mended():
    with index({"aiohttp": [VULNERABILITY]}) as (address, asked):
        code, said = audit(address)
    version = pinned()["aiohttp"]
    assert code == 1
    assert said == f"aiohttp {version}: PYSEC-2026-1, CVE-2026-1, mended in 99.0; see https://osv.dev/1\n"
    assert {f"/{name}/{version}/json" for name, version in pinned().items()} <= asked


def test_without_known_it_says_nothing_and_withdrawn_ones_are_none():
    with index({"aiohttp": [{**VULNERABILITY, "withdrawn": "2026-02-01T00:00:00Z"}]}) as (address, _):
        assert audit(address) == (0, "")


def test_a_package_of_which_nothing_is_known_is_named():
    with index({}, missing=("uvloop",)) as (address, _):
        assert audit(address) == (0, f"audit: nothing is known of uvloop {pinned()['uvloop']}\n")


def test_where_no_advisories_can_be_had_one_line_says_so():
    with index({}, missing=("*",)) as (address, asked):
        code, said = audit(address)
    assert (code, said.count("\n")) == (0, 1)
    assert "has no advisories" in said
    assert len(asked) == 3


def test_lint_asks():
    assert "scripts/audit.py" in (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
