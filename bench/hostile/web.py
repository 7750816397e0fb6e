"""A web in a process of its own: healthy hosts whose pages never end, and hostile ones of six kinds.

    python -m bench.hostile.web      # says its port, serves until its input ends

The first word of a host's name is what it is: ``page3.healthy.test``, ``bomb0.hostile.test`` …
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from dataclasses import dataclass

from periplus.demo import DemoServer, Reply, Request, Wire, html, redirect

HTML = (("Content-Type", "text/html; charset=utf-8"),)
HOSTILE = ("bomb", "drip", "endless", "headers", "redirect", "huge")
BOMB_MEGABYTES = 200
HUGE_BYTES = 1_900_000
WORDS = 300


def _bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = b"\0" * 1_000_000
    return b"".join(packer.compress(piece) for _ in range(BOMB_MEGABYTES)) + packer.flush()


PACKED = _bomb()


@dataclass(frozen=True)
class Drip(Reply):
    """A few bytes a second, for as long as anybody listens."""

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = False
        await wire.head(200, HTML)
        for _ in range(600):
            await wire.write(b"<p>drop ")
            await asyncio.sleep(0.1)


@dataclass(frozen=True)
class Endless(Reply):
    """As many bytes as anybody takes."""

    async def send(self, wire: Wire) -> None:
        wire.keep_alive = False
        await wire.head(200, HTML)
        while wire.record.sent < 200_000_000:
            await wire.write(b"<p>and then another wave, and then " * 500)


def links(number: int, page: int) -> str:
    return "".join(f'<a href="/{page + step}x{number}">{page + step}</a> ' for step in range(1, 6))


def words(seed: int, count: int) -> str:
    return " ".join(f"word{(seed * 31 + place * 17) % 9973}" for place in range(count))


def page(number: int, count: int, size: int = 0) -> Reply:
    filling = f"<div><p>{words(count, 40)}</p></div>" * (size // 300)
    return html(f"<title>{number} {count}</title><p>{words(count, WORDS)}<p>{links(number, count)}{filling}")


def answer(request: Request) -> Reply:
    name = request.host.partition(".")[0]
    kind, number = name.rstrip("0123456789"), int(name.lstrip("abcdefghijklmnopqrstuvwxyz") or 0)
    if request.path == "/robots.txt":
        return Reply(404, b"none", (("Content-Type", "text/plain"),))
    count = int("0" + request.path.strip("/").partition("x")[0])
    if kind == "bomb":
        return Reply(200, PACKED, (*HTML, ("Content-Encoding", "gzip")))
    if kind == "drip":
        return Drip()
    if kind == "endless":
        return Endless()
    if kind == "headers":
        return Reply(200, b"<p>.", (*HTML, *((f"X-{n}", "w" * 8_000) for n in range(30))))
    if kind == "redirect":
        return redirect(f"/{count + 1}x{number}")
    return page(number, count, HUGE_BYTES if kind == "huge" else 0)


def main() -> None:
    server = DemoServer(answer).start()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
