"""A port that passes connections on to a server at another address, for clients that cannot reach that one."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable

    Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

READ_BYTES = 1 << 16


class Relay:
    """Listens at ``host``; ``target`` is a port of loopback, or the path of a socket. Ends with its process."""

    def __init__(self, host: str, target: int | str) -> None:
        self._host, self._target = host, target
        self.port = 0
        listening = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(listening)), name="relay", daemon=True).start()
        assert listening.wait(10), "the relay does not listen"

    async def _serve(self, listening: threading.Event) -> None:
        server = await asyncio.start_server(self._pass, self._host, 0)
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        await server.serve_forever()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await self._connect()
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))

    def _connect(self) -> Awaitable[Streams]:
        if isinstance(self._target, str):
            return asyncio.open_unix_connection(self._target)
        return asyncio.open_connection("127.0.0.1", self._target)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """All that comes, until one of them ends."""
    with suppress(OSError):
        while data := await reader.read(READ_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()
