"""TLS: connections are accepted here, since the loop's own server would not tell of one before its handshake is done.

So a connection is counted and timed from its first moment, and one that never says a word gives way like any other.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable

    from periplus.web.serving.connections import ClientConnections
    from periplus.web.serving.protocol import BoundedProtocol

HANDSHAKE_SECONDS = 10.0
PAUSE = 0.1  # seconds before it is tried again to accept where the system has no room


class SecureListener:
    """Accepts from one socket until it is closed; what it has accepted speaks TLS, then what ``make`` makes."""

    def __init__(
        self,
        listener: socket.socket,
        held: ClientConnections,
        context: ssl.SSLContext,
        make: Callable[[], BoundedProtocol],
    ) -> None:
        listener.setblocking(False)  # noqa: FBT003
        self._listener = listener
        self._held = held
        self._context = context
        self._make = make
        self._accepting = asyncio.get_running_loop().create_task(self._accept())
        self._tasks: set[asyncio.Task[None]] = set()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(PAUSE)
                continue
            handshake = Handshake(accepted, str(address[0]), self._held)
            if self._held.admit(handshake):
                task = loop.create_task(handshake.shake(self._context, self._make))
                handshake.task = task
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                accepted.close()

    def close(self) -> None:
        self._accepting.cancel()
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(self._accepting, *self._tasks, return_exceptions=True)


class Handshake:
    """One connection that is not secure yet."""

    def __init__(self, accepted: socket.socket, host: str, held: ClientConnections) -> None:
        self._accepted = accepted
        self._held = held
        self.host = host
        self.deadline = math.inf  # the loop times a handshake itself
        self.task: asyncio.Task[None] | None = None

    async def shake(self, context: ssl.SSLContext, make: Callable[[], BoundedProtocol]) -> None:
        seconds = HANDSHAKE_SECONDS * self._held.patience

        def followed() -> BoundedProtocol:
            protocol = make()
            protocol.predecessor = self
            return protocol

        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                followed, self._accepted, ssl=context, ssl_handshake_timeout=seconds
            )
        except OSError:  # of which ssl.SSLError and TimeoutError are kinds
            self._held.refusals.note("handshake", self.host)
            self._accepted.close()
        except asyncio.CancelledError:
            self._accepted.close()
        finally:
            self._held.drop(self)

    def expire(self) -> None:
        self.give_way()

    def give_way(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def unsent(self) -> int:
        return 0
