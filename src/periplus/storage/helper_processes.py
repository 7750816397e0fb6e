"""Helper processes: each runs one function with a connection to its parent, and ends when the parent does.

As a rule they are started as fresh interpreters: threads, mapped files and databases stay with the parent, and
``multiprocessing`` would import the parent's main module again and forbids children of its own children. A function
that uses none of these may be run in a copy of the parent instead, which is there at once; only a parent without
threads is copied.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.errors import StorageError
from periplus.storage.objects import may_fork

if TYPE_CHECKING:
    from collections.abc import Sequence

START = "import sys; from periplus.storage.helper_processes import run; run(sys.argv[1], int(sys.argv[2]))"
PACKAGES = str(Path(__file__).resolve().parents[2])
PATIENCE = 10.0  # seconds for a helper to end by itself


class HelperProcess:
    """``target`` is ``module:function``; the function gets a connection and returns when that is closed.

    ``may_copy`` says that the function opens no database that the parent has open.
    """

    def __init__(self, target: str, *, may_copy: bool = False) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            copy = may_copy and threading.active_count() == 1 and may_fork()
            self._process = _copied(target, theirs.fileno()) if copy else _fresh(target, theirs.fileno())
        self.connection: Connection[Any, Any] = Connection(ours.detach())

    def send(self, *message: Any) -> None:
        try:
            self.connection.send(message)
        except OSError as error:
            raise self._ended() from error

    def receive(self) -> Any:
        """The next answer; an exception of the helper is raised here."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        """Let the helper end; by force when it does not."""
        self.connection.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ended(self) -> StorageError:
        return StorageError(f"a helper process ended with code {self._process.wait()}; try again")

    def __enter__(self) -> HelperProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def answered(helpers: Sequence[HelperProcess]) -> list[int]:
    """Places of the helpers that have answered, or have ended; waits until one has."""
    ready = wait([helper.connection for helper in helpers])
    return [place for place, helper in enumerate(helpers) if helper.connection in ready]


class _Copy:
    """A copy of this process, with what ``subprocess.Popen`` has of use here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._watch = os.pidfd_open(pid)
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            if not select.select([self._watch], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a helper process", timeout or 0.0)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._watch)
        return self._code

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _fresh(target: str, descriptor: int) -> subprocess.Popen[bytes]:
    paths = [PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", START, target, str(descriptor)],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _copied(target: str, descriptor: int) -> _Copy:
    pid = os.fork()
    if pid:
        return _Copy(pid)
    code = 1
    try:  # in the copy: nothing of the parent may be closed, flushed or finished twice
        gc.freeze()
        _let_go_of_all_but(descriptor)
        run(target, descriptor)
        code = 0
    finally:
        os._exit(code)


def _let_go_of_all_but(descriptor: int) -> None:
    """Close what was inherited: locks must end with the parent, and so must the connections of other helpers."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for inherited in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if inherited > 2 and inherited != descriptor:
            try:
                os.close(inherited)
            except OSError:  # that of the listing itself
                continue


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
