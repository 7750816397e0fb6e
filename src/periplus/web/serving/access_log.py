"""One line of JSON a request, in files that are put aside when they are full; old ones go.

    {"at": "2026-01-31T12:00:00.000Z", "id": "9f…", "method": "GET", "route": "/search", "status": 200, "ms": 3.1}

What was asked for, and who asked, is written only where the operator says so (``full``: ``target`` and ``client``). A
key that stands in an address, as the console's first one does, is never written.

Lines are written by a thread of its own. Requests never wait for the disk: where it cannot keep up, lines are dropped
and counted, and a disk that fails is told once.
"""

from __future__ import annotations

import atexit
import logging
import os
import queue
import re
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Scope

NAME: Final = "access.log"
MOST_BYTES: Final = 50_000_000  # of the file that grows
KEPT: Final = 7  # full files beside the one that grows
MOST_WAITING: Final = 10_000  # lines
LONGEST_TARGET: Final = 2_000
FLUSH_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 5.0  # that the end of a server waits for the disk
_SECRET: Final = re.compile(r"(?<=[?&]key=)[^&]+")
_logger = logging.getLogger(__name__)


class AccessLog:
    """Of one server process; several processes of one collection write files of their own."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES, *, full: bool = False, suffix: str = "") -> None:
        self.path = folder / f"{NAME}{suffix}"
        self._most_bytes = most_bytes
        self._full = full
        self._lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.dropped = 0
        self._has_failed = False
        self._thread = threading.Thread(target=self._write_all, name="access-log", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """One request that was answered."""
        if self._lines.qsize() >= MOST_WAITING:
            self.dropped += 1
            return
        line = {
            "at": time.time(),
            "id": scope.get("state", {}).get("request_id", ""),
            "method": scope["method"][:20],
            "route": getattr(scope.get("route"), "path", "other"),
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if self._full:
            client = scope.get("client") or ("",)
            line |= {"client": client[0], "target": _target(scope)}
        self._lines.put(line)

    def close(self) -> None:
        """Write what waits, and end."""
        atexit.unregister(self.close)
        self._lines.put(None)
        self._thread.join(CLOSE_SECONDS)

    def _write_all(self) -> None:
        ended = False
        while not ended:
            first = self._lines.get()
            lines = [] if first is None else [first]
            ended = first is None
            limit = time.monotonic() + FLUSH_SECONDS
            while not ended and time.monotonic() < limit and len(lines) < MOST_WAITING:
                try:
                    more = self._lines.get(timeout=max(0.0, limit - time.monotonic()))
                except queue.Empty:
                    break
                ended = more is None
                lines += [more] if more is not None else []
            self._write(lines)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        data = b"".join(_encoded(line) for line in lines)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if data and self.path.exists() and self.path.stat().st_size + len(data) > self._most_bytes:
                self._put_aside()
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
            with open(descriptor, "ab") as file:  # noqa: PTH123 (a descriptor with its rights)
                file.write(data)
            self._has_failed = False
        except OSError as error:
            self.dropped += len(lines)
            if not self._has_failed:
                _logger.warning("%s cannot be written: %s; requests go on without it", self.path, error.strerror)
            self._has_failed = True

    def _put_aside(self) -> None:
        """access.log becomes access.log.1, that becomes access.log.2 …; the last one goes."""
        for number in range(KEPT, 0, -1):
            older = self.path.with_name(f"{self.path.name}.{number}")
            newer = self.path.with_name(f"{self.path.name}.{number - 1}") if number > 1 else self.path
            if newer.exists():
                newer.replace(older)


def _target(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return _SECRET.sub("…", f"{scope['path']}?{query}" if query else scope["path"])[:LONGEST_TARGET]


def _encoded(line: dict[str, Any]) -> bytes:
    moment = datetime.fromtimestamp(line["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return msgspec.json.encode({**line, "at": moment}) + b"\n"
