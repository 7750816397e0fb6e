"""A real ``periplus serve`` or ``up`` in a process of its own, asked over the network."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PATIENCE = 90.0  # seconds


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Listening:
    """A server that runs: its addresses, and in the end all that it said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self.address = self.console = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(), {name.lower(): text for name, text in answer.getheaders()})
        finally:
            connection.close()

    def read_on(self) -> None:
        assert self.process.stderr is not None
        self.said += self.process.stderr


@contextmanager
def listening(*words: str, within: Sequence[str] = ()) -> Iterator[Listening]:
    """``periplus`` with these words, started by ``within`` if given, until it says where it listens; then Ctrl-C."""
    command = [*within, sys.executable, "-m", "periplus", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        server = Listening(process)
        assert process.stderr is not None
        for line in process.stderr:
            server.said.append(line)
            if line.startswith("search page"):
                server.address = line.split()[-1].rstrip("/")
            if line.startswith("console"):
                server.console = line.split()[-1]
                break
        reader = threading.Thread(target=server.read_on)  # so that its pipe never fills up
        reader.start()
        try:
            assert server.console, "".join(server.said)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            reader.join()


def wait_for(condition: Callable[[], object]) -> None:
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, "it took too long"
        threading.Event().wait(0.05)
