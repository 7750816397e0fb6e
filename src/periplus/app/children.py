"""Child processes of ``up`` and ``serve``: started again when they die, ended when the parent ends, however it ends."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from periplus import log_lines
from periplus.app.thrift import spare_memory
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import SpawnProcess

FIRST_PAUSE = 1.0  # seconds before a child that died is started again; doubles up to LONGEST_PAUSE
LONGEST_PAUSE = 60.0
HEALTHY_AFTER = 120.0  # a child that lived so long starts again without delay
STOP_TIMEOUT = 20.0


class Child:
    """Keeps ``target(*arguments)`` running in a process of its own until ``stop``.

    The target must be importable (a top-level function) and returns when ``stopping`` of its process is set.
    A return by itself means that the work is done: the child is not started again.
    """

    def __init__(
        self, name: str, target: Callable[..., None], arguments: tuple[Any, ...], say: Callable[[str], None]
    ) -> None:
        self.name = name
        self._target = target
        self._arguments = arguments
        self._say = say
        self._context = multiprocessing.get_context("spawn")
        self._ended = threading.Event()
        self._process: SpawnProcess | None = None
        self._thread = self._keeper()

    def _keeper(self) -> threading.Thread:
        return threading.Thread(target=self._keep, name=f"keeper-{self.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def restart(self) -> None:
        """End the child well, and start it again; only start it where it had ended."""
        self.stop()
        self._ended.clear()
        self._thread = self._keeper()
        self.start()

    @property
    def is_at_work(self) -> bool:
        """Started, and neither done nor stopped."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask the child to end, wait, and end it by force when it does not."""
        self._ended.set()
        process = self._process
        if process is not None and process.is_alive():
            process.terminate()
            process.join(STOP_TIMEOUT)
            if process.is_alive():
                process.kill()
        self._thread.join()

    def _keep(self) -> None:
        pause = FIRST_PAUSE
        while not self._ended.is_set():
            began = time.monotonic()
            self._process = self._context.Process(
                target=_child,
                args=(self.name, self._target, self._arguments),
                name=f"periplus-{self.name}",
                daemon=True,
            )
            self._process.start()
            if self._ended.is_set():  # ``stop`` came before there was a process to end
                self._process.terminate()
            self._process.join()
            if self._ended.is_set() or self._process.exitcode == 0:
                return
            pause = FIRST_PAUSE if time.monotonic() - began > HEALTHY_AFTER else min(pause * 2, LONGEST_PAUSE)
            self._say(f"{self.name} ended with code {self._process.exitcode}; started again in {pause:.0f} s")
            self._ended.wait(pause)


def _child(name: str, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Runs in the child: Ctrl-C is the parent's to handle, SIGTERM asks to end, and so does the parent's death."""
    log_lines.begin(name)
    spare_memory()
    stopping = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    threading.Thread(target=_watch_parent, args=(stopping,), daemon=True).start()
    try:
        target(stopping, *arguments)
    except PeriplusError as error:  # one line; what to do is in it
        log_lines.say(str(error), "error", event=error.code)
        raise SystemExit(1) from error
    except Exception as error:
        log_lines.crash(error)
        raise SystemExit(1) from error


def _watch_parent(stopping: threading.Event) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        stopping.set()
