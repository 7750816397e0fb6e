"""What processes say on standard error: lines for people, or JSON for programs where ``PERIPLUS_LOG=json``.

    {"time": "2026-01-31T12:00:00.000Z", "level": "warning", "process": "up", "pid": 7, "message": "…"}

A program calls ``begin`` once, with its name. In JSON everything then passes through one stream: what is said here,
what libraries log, what was meant for a terminal, tracebacks, and the events of the collection. A key in an address and
a password in one are never written. Importing Periplus changes nothing.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import traceback
from datetime import UTC, datetime
from io import TextIOBase
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from typing import TextIO

VARIABLE: Final = "PERIPLUS_LOG"
TEXT, JSON = "text", "json"
FORMATS: Final = (TEXT, JSON)
_SIGN: Final = "periplus: "
_SECRET: Final = re.compile(r"(?<=[?&]key=)[^&\s\"']+|(?<=://)[^/\s@]+(?=@)")
_OURS: Final = re.compile(r"periplus\.(\w+)")


def begin(process: str) -> None:
    """From here on this program writes as the variable says; ``process`` is its name."""
    if os.environ.get(VARIABLE) != JSON or in_json():
        return
    stream = JsonStream(sys.stderr, process)
    sys.stderr = stream
    logging.basicConfig(level=logging.WARNING, handlers=[_Handler(stream)], force=True)
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda _kind, error, _at: crash(error)
    threading.excepthook = lambda thread: crash(thread.exc_value)


def is_known_format() -> bool:
    return (os.environ.get(VARIABLE) or TEXT) in FORMATS


def in_json() -> bool:
    return isinstance(sys.stderr, JsonStream)


def say(text: str, level: str = "info", **fields: Any) -> None:
    """One line; fields are for programs."""
    if not tell(text, level, **fields):
        sys.stderr.write(f"{_SIGN}{text}\n")


def tell(text: str, level: str = "info", **fields: Any) -> bool:
    """One line for programs; False, and nothing said, where lines are for people."""
    stream = sys.stderr
    if not isinstance(stream, JsonStream):
        return False
    stream.put(text, level, **fields)
    return True


def crash(error: BaseException | None) -> None:
    """An error that nobody expected, with its traceback; in JSON that is one line, too."""
    if error is None or isinstance(error, SystemExit):
        return
    where = "".join(traceback.format_exception(error))
    if not tell(f"{type(error).__name__}: {error}", "error", event="crash", traceback=where):
        sys.stderr.write(where)


def message_of(line: str) -> str:
    """What a line of either form says."""
    try:
        told = msgspec.json.decode(line)
    except msgspec.DecodeError:
        told = None
    return str(told["message"]) if isinstance(told, dict) and "message" in told else line.removeprefix(_SIGN)


class JsonStream(TextIOBase):
    """Standard error, each line as an object; text without an end waits for the rest of its line."""

    def __init__(self, stream: TextIO, process: str) -> None:
        self._stream, self._process = stream, process
        self._lock = threading.Lock()
        self._parts = threading.local()

    def put(self, text: str, level: str, **fields: Any) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level,
            "process": self._process,
            "pid": os.getpid(),
            **fields,
            "message": text,
        }
        told = msgspec.json.encode({name: _without_secrets(value) for name, value in line.items()}).decode()
        with self._lock:
            self._stream.write(told + "\n")
            self._stream.flush()

    def write(self, text: str) -> int:
        *lines, rest = (getattr(self._parts, "rest", "") + text).split("\n")
        self._parts.rest = rest
        for line in filter(None, map(str.strip, lines)):
            self.put(line.removeprefix(_SIGN), "warning" if line.startswith(_SIGN) else "info")
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of what is written to it
        return "utf-8"


class _Handler(logging.Handler):
    """What Python's own logging is told, by us and by libraries."""

    def __init__(self, stream: JsonStream) -> None:
        super().__init__()
        self._lines = stream

    def emit(self, record: logging.LogRecord) -> None:
        try:
            ours = _OURS.match(record.name)
            fields = {"room": ours[1] if ours else record.name}
            if record.exc_info:
                fields["traceback"] = "".join(traceback.format_exception(*record.exc_info))
            self._lines.put(record.getMessage(), record.levelname.lower(), **fields)
        except Exception:  # noqa: BLE001 - as all handlers do: a line that cannot be written ends nothing
            self.handleError(record)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_secrets(one) for name, one in value.items()}
    return _SECRET.sub("…", value) if isinstance(value, str) else value
