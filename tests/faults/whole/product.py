"""``periplus up`` in a process of its own, the web that it crawls, and what is known of it from outside."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults.failing_disk import FailingDisk, environment
from mockweb.growing import Growing
from periplus import Collection

if TYPE_CHECKING:
    from mockweb.dns_server import MockDns
    from mockweb.mock_web import MockWeb

SETTINGS = """
[crawl]
workers = 1
scope = "any"
allow_private = true
delay = {delay}
ip_delay = 0.0
icons = false
timeout = {timeout}
max_depth = 1000000
max_pages = 1000000
host_budget = 1000000
[serve]
port = {port}
rate = 0.0
[index]
workers = 1
[archive]
rotate_bytes = 1000000
"""
DELAY = 0.5
TIMEOUT = 10.0  # of a request: the web is played on the same busy machine, and late hosts are left alone for long
HOSTS = 8
PATIENCE = 240.0  # seconds to recover, on a machine that is busy
_GONE = (OSError, http.client.HTTPException, ValueError)


class Whole:
    """The product, started again when it was ended, as a service manager does."""

    def __init__(self, folder: Path, web: MockWeb, dns: MockDns) -> None:
        self.folder, self.web, self.dns, self.port = folder / "collection", web, dns, free_port()
        self.log = folder / "up.log"
        self.growing = Growing(web, HOSTS, port=f":{web.port}")
        for number in range(HOSTS):
            dns.a(f"h{number}.test", "127.0.0.1")
        self._environment = os.environ | environment(folder, dns.port)
        os.environ["FAILING_DISK"] = self._environment["FAILING_DISK"]
        self.disk = FailingDisk()
        self.acknowledged: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        with Collection(self.folder) as made:
            made.create(SETTINGS.format(delay=DELAY, timeout=TIMEOUT, port=self.port))

    def keep_up(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        command = [sys.executable, "-m", "periplus", "up", "--dir", str(self.folder), *self.growing.seeds]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def get(self, path: str) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10.0)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")

    def answers(self) -> bool:
        """Whether a search is answered."""
        with suppress(*_GONE):
            return self.get("/api/v1/search?q=word1")[0] == 200
        return False

    def answers_again(self) -> bool:
        """Wait until one is."""
        limit = time.monotonic() + PATIENCE
        while not (found := self.answers()) and time.monotonic() < limit:
            self.keep_up()
            time.sleep(0.25)
        return found

    def status(self) -> dict[str, Any]:
        with suppress(*_GONE):
            code, answer = self.get("/api/v1/status")
            return dict(answer) if code == 200 else {}
        return {}

    def documents(self) -> int:
        return int((self.status().get("index") or {}).get("documents", -1))

    def recovered(self, documents: int) -> bool:
        """Wait until pages are fetched and found that were not before, and searches are answered."""
        asked = len(self.web.requests())
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            self.keep_up()
            if len(self.web.requests()) > asked + HOSTS and self.documents() > documents and self.answers():
                return True
            time.sleep(0.25)
        return False

    def waits_for(self) -> str:
        """What keeps it from going on, as it says itself."""
        crawl = self.status().get("crawl") or {}
        said = {name: crawl.get(name) for name in ("state", "reason", "queued", "active")}
        lines = self.log.read_text(errors="replace").splitlines()[-3:]
        return f"{said}; {' / '.join(lines)}"

    def fetched(self) -> set[str]:
        with closing(sqlite3.connect(f"file:{self.folder}/state.db?mode=ro", uri=True, timeout=60)) as state:
            return {url for (url,) in state.execute("SELECT url FROM urls WHERE state = 1")}

    def note(self) -> None:
        """Remember what counts as fetched by now."""
        with suppress(sqlite3.Error):
            self.acknowledged |= self.fetched()

    def process(self, name: str) -> int:
        """``up`` itself, or a part of it: whoever has a reading process is the crawler. Raises ``KeyError``."""
        assert self._process is not None
        found = {"up": self._process.pid}
        for pid in _children(self._process.pid):
            if "spawn_main" not in _command(pid):
                continue
            reading = [one for one in _children(pid) if "reading_process" in _command(one)]
            found["crawler" if reading else "indexer"] = pid
            found |= {"reader": reading[0]} if reading else {}
        return found[name]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(pid: int) -> list[int]:
    listed = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
    return [int(child) for path in listed for child in path.read_text().split()]


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""
