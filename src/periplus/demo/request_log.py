"""What the server saw: one record a request, made when its head is read and finished when the answer is sent.

A test can prove politeness from the server's side with it: gaps, requests at once, connections at once.
The log is written by the server's thread and read from any other; readers get copies.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace

Headers = tuple[tuple[str, str], ...]


@dataclass
class RequestRecord:
    """One request. ``status`` is 0 and ``finished`` is 0.0 while no answer has been sent."""

    number: int
    time: float  # wall clock, seconds since the epoch
    monotonic: float
    scheme: str
    host: str  # lower case, without port
    method: str
    path: str  # with the query, as sent
    headers: Headers
    connection: int  # connections are numbered from 1
    concurrency: int  # requests under way at this host, this one included
    connections: int  # open connections that have asked this host for something, this one included
    status: int = 0
    sent: int = 0  # bytes put on the wire
    finished: float = 0.0  # monotonic

    def header(self, name: str) -> str:
        """The first header of that name, whatever its case; empty when there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def url(self) -> str:
        """The address asked for, with the host as the Host header spelled it."""
        return f"{self.scheme}://{self.header('host') or self.host}{self.path}"


class RequestLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._records: list[RequestRecord] = []
        self._under_way: dict[str, int] = {}
        self._open: dict[int, set[str]] = {}
        self._connections = 0

    # written by the server

    def connected(self) -> int:
        with self._changed:
            self._connections += 1
            self._open[self._connections] = set()
            self._changed.notify_all()
            return self._connections

    def disconnected(self, connection: int) -> None:
        with self._changed:
            self._open.pop(connection, None)
            self._changed.notify_all()

    def began(self, scheme: str, host: str, method: str, path: str, headers: Headers, connection: int) -> RequestRecord:
        with self._changed:
            self._under_way[host] = self._under_way.get(host, 0) + 1
            self._open.setdefault(connection, set()).add(host)
            record = RequestRecord(
                number=len(self._records) + 1,
                time=time.time(),
                monotonic=time.monotonic(),
                scheme=scheme,
                host=host,
                method=method,
                path=path,
                headers=headers,
                connection=connection,
                concurrency=self._under_way[host],
                connections=sum(host in hosts for hosts in self._open.values()),
            )
            self._records.append(record)
            self._changed.notify_all()
            return record

    def ended(self, record: RequestRecord) -> None:
        with self._changed:
            record.finished = time.monotonic()
            self._under_way[record.host] -= 1
            self._changed.notify_all()

    # read by anyone

    def records(self, host: str = "", path: str = "") -> list[RequestRecord]:
        """Copies of all records so far, in order of arrival; of one host or path when given."""
        with self._lock:
            return [
                replace(record)
                for record in self._records
                if (not host or record.host == host) and (not path or record.path == path)
            ]

    def clear(self) -> None:
        """Forget what is finished; requests under way are kept."""
        with self._lock:
            self._records = [record for record in self._records if not record.finished]

    @property
    def open_connections(self) -> int:
        with self._lock:
            return len(self._open)

    @property
    def total_connections(self) -> int:
        with self._lock:
            return self._connections

    def wait_for(self, count: int, host: str = "", path: str = "", timeout: float = 10.0) -> list[RequestRecord]:
        """Block until ``count`` requests (of that host and path) have arrived; returns them, or those so far."""
        limit = time.monotonic() + timeout
        while True:
            found = self.records(host, path)
            remaining = limit - time.monotonic()
            if len(found) >= count or remaining <= 0:
                return found
            with self._changed:
                self._changed.wait(min(remaining, 0.05))

    def wait_until_closed(self, timeout: float = 10.0) -> bool:
        """Block until no connection is open; false when that did not happen in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, timeout)
