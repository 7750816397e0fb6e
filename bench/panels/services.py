"""A played service in a process of its own: ``python -m bench.panels.services TEMPER``; prints its address.

``quick`` answers as the services document it, ``slow`` the same after 200 ms, ``failing`` with 500, ``revoked`` with
401; ``hanging`` takes connections and never says a word. For each line on standard input it prints how often it was
asked.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

from support.services import PlayedServices

TEMPERS = ("quick", "slow", "failing", "revoked", "hanging")
SLOW = 0.2  # seconds
BACKLOG = 4096


class TemperedServices(PlayedServices):
    def __init__(self, temper: str) -> None:
        super().__init__()
        self._temper = temper

    def answer(self, path: str, given: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        if self._temper == "failing":
            return 500, {"error": "internal"}
        if self._temper == "revoked":
            return 401, {"status": "error", "code": "apiKeyInvalid"}
        if self._temper == "slow":
            time.sleep(SLOW)
        return super().answer(path, given, headers)


def main() -> None:
    temper = sys.argv[1]
    with ExitStack() as stack:
        if temper == "hanging":
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=BACKLOG))
            count = _accepting(listener)
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        else:
            services = stack.enter_context(TemperedServices(temper))
            count, address = services.requests, services.base
        print(address, flush=True)
        for _ in sys.stdin:
            print(len(count), flush=True)


def _accepting(listener: socket.socket) -> list[Any]:
    """The connections that came, all of them still open."""
    taken: list[Any] = []

    def accept() -> None:
        while True:
            taken.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    return taken


if __name__ == "__main__":
    main()
