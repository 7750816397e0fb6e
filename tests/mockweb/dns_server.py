"""A tiny DNS server on loopback UDP whose answers a test scripts, name by name.

    with MockDns() as dns:
        dns.a("a.test", "127.0.0.1", ttl=30)
        dns.answer("rebind.test", [Addresses("93.184.216.34"), Addresses("127.0.0.1")])   # another answer later
        dns.answer("broken.test", SERVFAIL)

A list is taken in turn, one entry a query of that name and type; the last repeats. Names without a script do not
exist (NXDOMAIN). Every query is recorded.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading
import time
from typing import NamedTuple, Self

A, CNAME, AAAA = 1, 5, 28
TYPE_NAMES = {A: "A", CNAME: "CNAME", AAAA: "AAAA"}
RESPONSE, AUTHORITATIVE, RECURSION = 0x8000, 0x0400, 0x0180
INTERNET = 1


class Addresses(NamedTuple):
    """One or more IPv4 or IPv6 addresses, parted by spaces; each is given only to queries of its own type."""

    text: str
    ttl: int = 60


class Alias(NamedTuple):
    """A CNAME; the target's addresses are added when they are scripted too."""

    target: str
    ttl: int = 60


class Failure(NamedTuple):
    """A response code without answers."""

    code: int


class Silence(NamedTuple):
    """No answer at all, so that the client runs into its timeout."""


NXDOMAIN = Failure(3)
SERVFAIL = Failure(2)
REFUSED = Failure(5)
TIMEOUT = Silence()
Script = Addresses | Alias | Failure | Silence


class Query(NamedTuple):
    time: float  # monotonic
    name: str
    kind: str  # "A", "AAAA" …


class MockDns:
    def __init__(self, port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._lock = threading.Lock()
        self._scripts: dict[str, list[Script]] = {}
        self._turns: dict[tuple[str, int], int] = {}
        self._queries: list[Query] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, name="mock-dns", daemon=True)
        self.port: int = self._socket.getsockname()[1]

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._stopping = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", ("127.0.0.1", self.port))
        self._thread.join()
        self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def a(self, name: str, *addresses: str, ttl: int = 60) -> None:
        self.answer(name, Addresses(" ".join(addresses), ttl))

    def answer(self, name: str, script: Script | list[Script]) -> None:
        with self._lock:
            self._scripts[name.lower()] = list(script) if isinstance(script, list) else [script]
            for key in [key for key in self._turns if key[0] == name.lower()]:
                del self._turns[key]

    def queries(self, name: str = "") -> list[Query]:
        with self._lock:
            return [query for query in self._queries if not name or query.name == name]

    def _serve(self) -> None:
        while True:
            data, client = self._socket.recvfrom(4096)
            if self._stopping:
                return
            reply = self._reply(data)
            if reply:
                self._socket.sendto(reply, client)

    def _reply(self, data: bytes) -> bytes | None:
        name, kind, question = _question(data)
        with self._lock:
            self._queries.append(Query(time.monotonic(), name, TYPE_NAMES.get(kind, str(kind))))
        script = self._next(name, kind)
        if isinstance(script, Silence):
            return None
        if isinstance(script, Failure):
            return _message(data, question, [], script.code)
        return _message(data, question, self._records(name, kind, script), 0)

    def _next(self, name: str, kind: int) -> Script:
        with self._lock:
            scripts = self._scripts.get(name)
            if not scripts:
                return NXDOMAIN
            turn = self._turns.get((name, kind), 0)
            self._turns[name, kind] = turn + 1
            return scripts[min(turn, len(scripts) - 1)]

    def _records(self, name: str, kind: int, script: Addresses | Alias) -> list[bytes]:
        if isinstance(script, Addresses):
            ips = [ipaddress.ip_address(text) for text in script.text.split()]
            return [
                _record(name, kind, script.ttl, ip.packed) for ip in ips if (A if ip.version == 4 else AAAA) == kind
            ]
        target = self._next(script.target, kind)
        onward = self._records(script.target, kind, target) if isinstance(target, Addresses) else []
        return [_record(name, CNAME, script.ttl, _labels(script.target)), *onward]


def _question(data: bytes) -> tuple[str, int, bytes]:
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("ascii").lower())
        at += data[at] + 1
    kind, _ = struct.unpack_from("!HH", data, at + 1)
    return ".".join(labels), kind, data[12 : at + 5]


def _message(query: bytes, question: bytes, records: list[bytes], code: int) -> bytes:
    flags = RESPONSE | AUTHORITATIVE | RECURSION | code
    return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)


def _record(name: str, kind: int, ttl: int, data: bytes) -> bytes:
    return _labels(name) + struct.pack("!HHIH", kind, INTERNET, ttl, len(data)) + data


def _labels(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode("ascii") for label in name.split(".")) + b"\0"
