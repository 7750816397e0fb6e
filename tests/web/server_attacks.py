"""Clients that mean harm, each a coroutine that goes on until it is cancelled: ``python server_attacks.py NAME PORT``.

They run in a process of their own, so that the searches which are timed beside them are not held up by them.
A connection that the server ends is opened again at once; how often that happened is printed at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

HOST = "127.0.0.1"
DRIP = 0.5  # seconds between two bytes of a slow sender
REOPEN = 0.05  # seconds before a connection that was ended is opened again
HEAD = b"GET /search?q=tide HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /lens HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
WHOLE = b"GET /api/v1/search?q=tide&size=100&explain=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

ended = 0


async def long_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One header that never ends, as fast as it is taken."""
    writer.write(HEAD + b"X-Long: ")
    while True:
        writer.write(b"a" * 65_536)
        await writer.drain()


async def many_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    while True:
        writer.write(b"X-A: b\r\n" * 8_192)
        await writer.drain()


async def long_address(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET /search?q=")
    while True:
        writer.write(b"a" * 65_536)
        await writer.drain()


async def idle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def slow_heads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"X-Slow: ")
    await _drip(reader, writer, b"a")


async def slow_bodies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(POST)
    await _drip(reader, writer, b"1\r\na\r\n")


async def endless_trailers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(POST + b"0\r\n")
    while True:
        writer.write(b"X-Trailer: a\r\n" * 4_096)
        await writer.drain()


async def slow_readers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Asks for long answers and takes none of them."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    while not writer.transport.is_closing():
        writer.write(WHOLE)
        await writer.drain()
        await asyncio.sleep(DRIP / 10)
    raise ConnectionError


async def pipelined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 2_000)
        await writer.drain()


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, piece: bytes) -> None:
    while not reader.at_eof():
        writer.write(piece)
        await writer.drain()
        with contextlib.suppress(TimeoutError):
            if not await asyncio.wait_for(reader.read(4_096), DRIP):
                raise ConnectionError


Attack = "Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]"
ATTACKS: dict[str, tuple[int, Attack]] = {  # how many connections at once
    "long headers": (3, long_headers),
    "many headers": (3, many_headers),
    "long addresses": (3, long_address),
    "idle": (1_200, idle),
    "slow heads": (1_200, slow_heads),
    "slow bodies": (1_200, slow_bodies),
    "endless trailers": (3, endless_trailers),
    "slow readers": (200, slow_readers),
    "pipelined": (3, pipelined),
}


async def _again_and_again(port: int, attack: Attack, local: str) -> None:
    global ended  # noqa: PLW0603
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(HOST, port, local_addr=(local, 0) if local else None)
            try:
                await attack(reader, writer)
            finally:
                writer.transport.abort()
        ended += 1
        await asyncio.sleep(REOPEN)


async def main(name: str, port: int, local: str) -> None:
    number, attack = ATTACKS[name]
    attacking = [asyncio.create_task(_again_and_again(port, attack, local)) for _ in range(number)]
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    assert len(attacking) == number
    sys.stdout.write(f"{ended}\n")
    sys.stdout.flush()
    os._exit(0)  # with all of its connections


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (8_192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""))
