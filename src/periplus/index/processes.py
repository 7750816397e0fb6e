"""Helper processes: each runs one function with a connection to its parent, and ends when the parent does.

They are started as fresh interpreters, not forked (threads and mapped files stay with the parent) and not through
``multiprocessing``, which would import the parent's main module again and forbids children of its own children.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.errors import StorageError

if TYPE_CHECKING:
    from types import TracebackType

START = "import sys; from periplus.index.processes import run; run(sys.argv[1], int(sys.argv[2]))"
PACKAGES = str(Path(__file__).resolve().parents[2])
PATIENCE = 10.0  # seconds for a helper to end by itself


class Helper:
    """``target`` is ``module:function``; the function gets a connection and returns when that is closed."""

    def __init__(self, target: str) -> None:
        ours, theirs = socket.socketpair()
        paths = [PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                [sys.executable, "-c", START, target, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        self._connection: Connection[Any, Any] = Connection(ours.detach())

    def send(self, *message: Any) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise self._ended() from error

    def receive(self) -> Any:
        """The next answer; an exception of the helper is raised here."""
        try:
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        """Let the helper end; by force when it does not."""
        self._connection.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ended(self) -> StorageError:
        return StorageError(f"a helper process ended with code {self._process.wait()}; try again")

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run(target: str, descriptor: int) -> None:
    """In the helper: call the function; whatever it raises is sent to the parent. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection: Connection[Any, Any] = Connection(descriptor)
    module, _, name = target.partition(":")
    try:
        getattr(importlib.import_module(module), name)(connection)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone
    except Exception as error:  # noqa: BLE001 - told to the parent, which raises it
        connection.send(error)
