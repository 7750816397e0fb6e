"""Visitors of a server on this machine: one thread, one `epoll`, so that little is taken from the server."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 30.0  # seconds of one request
IN, OUT = select.EPOLLIN, select.EPOLLOUT


class Answer(NamedTuple):
    status: int  # 0: none came
    took: float  # milliseconds


class Asking:
    """One request, on a connection of its own."""

    def __init__(self, port: int, text: str) -> None:
        self.began = time.perf_counter()
        self.head = b""
        self.socket = socket.socket()
        self.socket.setblocking(False)  # noqa: FBT003
        self.socket.connect_ex(("127.0.0.1", port))
        path = f"/api/v1/search?q={text.replace(' ', '+')}"
        self._request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode()

    def send(self) -> None:
        self.socket.send(self._request)  # far less than a socket takes at once

    def is_done(self) -> bool:
        data = self.socket.recv(1 << 17)
        self.head = self.head or data
        return not data

    def answer(self) -> Answer:
        self.socket.close()
        return Answer(int(self.head[9:12] or 0), 1000 * (time.perf_counter() - self.began))


class Visitors:
    """Ask for so many seconds, and wait for what is asked then."""

    def __init__(self, port: int, asked: Iterator[str]) -> None:
        self._port, self._asked = port, asked
        self._poll = select.epoll()
        self._running: dict[int, Asking] = {}
        self._answers: list[Answer] = []

    def closed(self, count: int, seconds: float) -> list[Answer]:
        """``count`` visitors, each of whom asks again when the answer is there."""
        until = time.perf_counter() + seconds
        for _ in range(count):
            self._ask()
        while self._running:
            for _ in range(self._served(0.1)):
                if time.perf_counter() < until:
                    self._ask()
        return self._answers

    def open(self, rate: float, seconds: float) -> list[Answer]:
        """So many a second, whatever becomes of them."""
        began = time.perf_counter()
        for number in range(int(rate * seconds)):
            while (left := began + number / rate - time.perf_counter()) > 0:
                self._served(left)
            self._ask()
        while self._running:
            self._served(0.1)
        return self._answers

    def _ask(self) -> None:
        asking = Asking(self._port, next(self._asked))
        self._running[asking.socket.fileno()] = asking
        self._poll.register(asking.socket, OUT)

    def _served(self, seconds: float) -> int:
        """How many answers came within ``seconds``."""
        before = len(self._answers)
        for number, events in self._poll.poll(seconds):
            asking = self._running[number]
            over = True
            with suppress(OSError):
                if events & OUT:
                    asking.send()
                    self._poll.modify(number, IN)
                    over = False
                else:
                    over = asking.is_done()
            if over or time.perf_counter() - asking.began > LONGEST:
                self._poll.unregister(number)
                self._answers.append(self._running.pop(number).answer())
        return len(self._answers) - before
