"""A generated web in a process of its own: natural text, power laws, faults; every page a function of its address.

    python -m bench.voyage.web --passages FILE --pages 30000 --hosts 300      # says its port, ends with its input

``http://h12.test/345`` is page 345 of host 12. Host sizes and link targets follow power laws. A host is healthy, slow,
dead, full of duplicates or full of soft 404s by its number; single pages of healthy hosts are missing, failing, moved,
repeated or not to be indexed by theirs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from html import escape
from pathlib import Path

import numpy as np
from xxhash import xxh3_64_intdigest

SKEW = 0.8  # of host sizes: the n-th largest host has n ** -SKEW of the largest
ROOM = 1.5  # so many times the pages that are asked for are there
OWN_LINKS, FOREIGN_LINKS = 8, 4
SLOW_SECONDS = 0.05
HOST_KINDS = {"dead": 1, "slow": 2, "duplicates": 1, "soft 404": 1}  # hosts in a hundred; the rest is healthy
PAGE_KINDS = {"missing": 20, "failing": 5, "moved": 10, "repeated": 10, "noindex": 5}  # pages in a thousand


def drawn(*parts: object) -> int:
    """A number that belongs to these parts."""
    return xxh3_64_intdigest("/".join(map(str, parts)).encode())


def kind_among(kinds: dict[str, int], number: int) -> str:
    for name, share in kinds.items():
        if number < share:
            return name
        number -= share
    return "healthy"


class Web:
    """Which pages there are, and what they say."""

    def __init__(self, passages: Path, pages: int, hosts: int) -> None:
        self.hosts = hosts
        weights = np.arange(1, hosts + 1, dtype=np.float64) ** -SKEW
        self.sizes = np.maximum(2, (ROOM * pages * weights / weights.sum()).astype(int)).tolist()
        self._file = passages.open("rb")
        self._places = _line_places(passages)

    def host_kind(self, host: int) -> str:
        return "healthy" if host < 20 else kind_among(HOST_KINDS, drawn("host", host) % 100)

    def page_kind(self, host: int, page: int) -> str:
        return "healthy" if page == 0 else kind_among(PAGE_KINDS, drawn("page", host, page) % 1000)

    def answer(self, host: int, target: str) -> tuple[int, bytes, str]:
        """Status, body, and where to where it moved."""
        number = target[1:] or "0"
        if target == "/robots.txt" or not number.isdigit() or not 0 <= int(number) < self.sizes[host]:
            return 404, b"", ""
        page = int(number)
        kind = self.host_kind(host)
        if kind == "duplicates":
            return 200, self._page(host, 0, self._links(host, page)), ""
        if kind == "soft 404" and page:
            text = "<title>Page not found</title><h1>Not found</h1><p>The page you asked for does not exist."
            return 200, f"{text}<p>{number}".encode(), ""
        kind = self.page_kind(host, page)
        if kind in ("missing", "failing"):
            return (404, b"", "") if kind == "missing" else (500, b"", "")
        if kind == "moved":
            return 301, b"", f"http://h{host}.test/{page // 2}"
        said = page // 2 if kind == "repeated" else page
        return 200, self._page(host, said, self._links(host, page), noindex=kind == "noindex"), ""

    def _page(self, host: int, page: int, links: str, *, noindex: bool = False) -> bytes:
        first, second = (self._passage(drawn(part, host, page)) for part in ("first", "second"))
        head = f"<title>{escape(first['title'])} {host}.{page}</title>"
        head += '<meta name="robots" content="noindex">' if noindex else ""
        main = f"<h1>{escape(first['title'])}</h1><p>{escape(first['text'])}</p><p>{escape(second['text'])}</p>"
        body = f"<body><nav>{links}</nav><main>{main}</main></body>"
        return f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head>{body}</html>'.encode()

    def _links(self, host: int, page: int) -> str:
        size = self.sizes[host]
        near = [(host, (page * 3 + step) % size) for step in range(1, OWN_LINKS + 1)]
        far = []
        for step in range(FOREIGN_LINKS):
            number = drawn("link", host, page, step)
            other = int(self.hosts * ((number % 10_007) / 10_007) ** 2)  # the larger a host, the more links to it
            far.append((other, int(self.sizes[other] * (number // 10_007 % 10_007 / 10_007) ** 3)))
        return " ".join(f'<a href="http://h{one}.test/{number}">{one} {number}</a>' for one, number in (*near, *far))

    def _passage(self, number: int) -> dict[str, str]:
        self._file.seek(self._places[number % len(self._places)])
        found: dict[str, str] = json.loads(self._file.readline())
        return found


def _line_places(path: Path) -> list[int]:
    places, place = [], 0
    with path.open("rb") as file:
        for line in file:
            places.append(place)
            place += len(line)
    return places


class Exchange(asyncio.Protocol):
    """One connection: requests without bodies, one after another."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._waiting = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            head, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            name = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "")
            self._ask(name, lines[0].split(" ")[1])

    def _ask(self, name: str, target: str) -> None:
        host = int(name.split(".", maxsplit=1)[0][1:])
        kind = self._web.host_kind(host)
        assert self._transport is not None
        if kind == "dead":
            self._transport.abort()
        elif kind == "slow":
            asyncio.get_running_loop().call_later(SLOW_SECONDS, self._answer, host, target)
        else:
            self._answer(host, target)

    def _answer(self, host: int, target: str) -> None:
        status, body, location = self._web.answer(host, target)
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nContent-Type: text/html; charset=utf-8\r\n"
        head += f"Location: {location}\r\n" if location else ""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(f"{head}\r\n".encode() + body)


async def serve(web: Web) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Exchange(web), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--passages", type=Path, required=True)
    options.add_argument("--pages", type=int, required=True)
    options.add_argument("--hosts", type=int, required=True)
    given = options.parse_args()
    asyncio.run(serve(Web(given.passages, given.pages, given.hosts)))


if __name__ == "__main__":
    main()
