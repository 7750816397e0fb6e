"""A client that shows the server's bytes as they come, for tests of the mock web itself."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

TIMEOUT = 10.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]  # lower-case names; the last of a repeated one
    body: bytes
    ended: str  # "closed" or "reset"


class RawClient:
    """One connection."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None, name: str = "") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=name)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.socket.close()

    def send(self, host: str, path: str = "/", method: str = "GET", *headers: str, body: bytes = b"") -> None:
        lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", *headers)
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def pieces(self) -> Iterator[bytes]:
        while data := self.socket.recv(65_536):
            yield data

    def until(self, mark: bytes) -> bytes:
        """Bytes up to and including ``mark``, or all there were."""
        got = b""
        while mark not in got:
            data = self.socket.recv(65_536)
            if not data:
                break
            got += data
        return got

    def rest(self) -> tuple[bytes, str]:
        """Everything until the connection ends, and how it ended."""
        got = b""
        try:
            for data in self.pieces():
                got += data
        except ConnectionResetError:
            return got, "reset"
        return got, "closed"

    def whole(self, head: bool = False) -> Answer:
        """One answer with a Content-Length; the connection may be used again."""
        got = self.until(b"\r\n\r\n")
        status, headers, body = split(got)
        wanted = 0 if head or status in (204, 304) else int(headers["content-length"])
        while len(body) < wanted:
            body += self.socket.recv(65_536)
        return Answer(status, headers, body, "")


def split(raw: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    return int(first.split(" ")[1]), {name.lower(): value for name, value in pairs}, body


def fetch(port: int, host: str, path: str = "/", *headers: str, method: str = "GET") -> Answer:
    """One request on a connection of its own, read until the server closes it."""
    with RawClient(port) as client:
        client.send(host, path, method, "Connection: close", *headers)
        raw, ended = client.rest()
    return Answer(*split(raw), ended) if raw else Answer(0, {}, b"", ended)
