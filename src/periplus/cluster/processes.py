"""One child process: started, ended well or by force, and taken along when its parent dies."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from periplus.log_lines import message_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STOP_SECONDS = 30.0  # that a child has to end well
FIRST_PAUSE = 1.0  # seconds before a child that died is started again; doubles up to LONGEST_PAUSE
LONGEST_PAUSE = 60.0
HEALTHY_AFTER = 120.0  # a child that lived so long starts again without much delay
LONGEST_LOG = 4_000_000  # bytes; the log of a child begins anew with the start after that
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Process:
    """A program that runs beside this one and writes into ``log``; not started yet.

    On Linux it is told to end when the *thread* that started it ends, however that ends.
    """

    def __init__(self, words: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self._words, self._log, self._environment = list(words), log, environment
        self._child: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._pause = FIRST_PAUSE / 2

    @property
    def number(self) -> int:
        return self._child.pid if self._child is not None and self._child.poll() is None else 0

    def start(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        is_long = self._log.exists() and self._log.stat().st_size > LONGEST_LOG
        with self._log.open("wb" if is_long else "ab") as log:
            self._child = subprocess.Popen(  # noqa: S603 (our own command)
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if self._environment is None else dict(self._environment),
                start_new_session=True,  # Ctrl-C is the parent's to handle
                preexec_fn=_end_with_parent,  # noqa: PLW1509 (one call into libc, no lock that a thread could hold)
            )
        self._began = time.monotonic()

    def wait(self, seconds: float) -> int | None:
        """The exit code, or None when it still runs after so many seconds."""
        if self._child is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            return self._child.wait(seconds)
        return None

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask it to end, wait, and end it by force when it does not, with all that it started."""
        child = self._child
        if child is None:
            return
        if child.poll() is None:
            child.terminate()
            self.wait(seconds)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def pause(self) -> float:
        """Seconds to wait before the next start, after it died."""
        lived = time.monotonic() - self._began
        self._pause = FIRST_PAUSE if lived > HEALTHY_AFTER else min(self._pause * 2, LONGEST_PAUSE)
        return self._pause

    def last_line(self) -> str:
        """The last thing that it said."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - 4096))
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return message_of(next((line.strip() for line in reversed(lines) if line.strip()), ""))


def _end_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
