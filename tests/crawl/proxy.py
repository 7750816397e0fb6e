"""A small HTTP proxy for tests: passes requests on to one port of this machine, whatever host they name."""

from __future__ import annotations

import asyncio
import threading
from typing import Self


class MockProxy:
    """Speaks the absolute form and CONNECT; ``login`` is the Proxy-Authorization it asks for, if any."""

    def __init__(self, target_port: int, login: str = "") -> None:
        self._target_port = target_port
        self._login = login
        self.asked: list[str] = []  # first lines
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first = head.partition(b"\r\n")[0].decode()
            self.asked.append(first)
            if self._login and f"Proxy-Authorization: {self._login}".lower() not in head.decode("latin-1").lower():
                writer.write(b"HTTP/1.1 407 Login needed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
                return
            await self._pass_on(first, head, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _pass_on(
        self, first: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there, away = await asyncio.open_connection("127.0.0.1", self._target_port)
        method, target, version = first.split(" ")
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            path = "/" + target.partition("://")[2].partition("/")[2]
            lines = [f"{method} {path} {version}".encode(), *head.split(b"\r\n")[1:]]
            kept = [line for line in lines if not line.lower().startswith((b"proxy-", b"connection:"))]
            away.write(b"\r\n".join([kept[0], b"Connection: close", *kept[1:]]))
        try:
            await asyncio.gather(_copy(reader, away), _copy(there, writer))
        finally:
            away.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
