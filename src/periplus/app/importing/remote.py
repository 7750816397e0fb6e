"""Files of archives that lie below an HTTP address, read in ranges over one connection that is kept.

A server that is busy is asked again when it says so, or after a while; what had come before a break is not asked for
twice. Redirections are not followed: an address that moved is for who named it to know.
"""

from __future__ import annotations

import http.client
import io
import time
from contextlib import closing
from typing import IO, TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlsplit

from periplus.errors import Incompatible, NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTEMPTS: Final = 5  # without a byte in between
TIMEOUT: Final = 60.0  # seconds without a byte
LONGEST_WAIT: Final = 60.0  # seconds between two attempts
LARGEST_FILE: Final = 20 * 2**30  # bytes
LARGEST_RECORD: Final = 100_000_000  # bytes, packed
_STEP: Final = 2**20
_BUSY: Final = (429, 500, 502, 503, 504)
_OK, _PARTIAL, _BEYOND = 200, 206, 416
_AGENT: Final = "Periplus"


class RemoteFiles:
    """What lies below ``base``."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        self._host, self._folder = parts.hostname, parts.path.rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def read(self, name: str, offset: int, length: int) -> bytes:
        """These bytes of a file; fewer where it ends before."""
        data = io.BytesIO()
        self._copy(name, data, offset, offset + min(length, LARGEST_RECORD))
        return data.getvalue()

    def copy(self, name: str, target: IO[bytes]) -> None:
        """The whole file."""
        self._copy(name, target, 0, LARGEST_FILE)

    def _copy(self, name: str, target: IO[bytes], start: int, end: int) -> None:
        failed, why, wait = 0, "", 0.0
        while failed < ATTEMPTS and start + target.tell() < end:
            before = target.tell()
            time.sleep(wait)
            try:
                wait = self._ask(name, target, start, end)
                if wait < 0:
                    return
                why = "it is busy"
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                why = type(error).__name__
                wait = 0.0 if target.tell() > before else 2.0**failed
            failed = 0 if target.tell() > before else failed + 1
        if failed:
            raise StorageError(f"{self._host} does not give {name}: {why}; import again later")

    def _ask(self, name: str, target: IO[bytes], start: int, end: int) -> float:
        """What is missing, as far as it comes; seconds to wait where the server is busy, less than 0 at the end."""
        first = start + target.tell()
        asked = {"user-agent": _AGENT, "range": f"bytes={first}-{end - 1}", "accept-encoding": "identity"}
        self._connection.request("GET", f"{self._folder}/{quote(name)}", headers=asked)
        with closing(self._connection.getresponse()) as response:
            if response.status in _BUSY:
                response.read(_STEP)
                return min(LONGEST_WAIT, _seconds(response.getheader("retry-after", "")))
            if response.status == _BEYOND:
                return -1.0
            self._check(response, name, first)
            target.writelines(_pieces(response, end - first))
        return -1.0

    def _check(self, response: http.client.HTTPResponse, name: str, first: int) -> None:
        """Raise where the answer is not what was asked for. One that is not taken in leaves the connection behind."""
        if response.status == _PARTIAL:
            told = response.getheader("content-range", "")
            if not told.startswith(f"bytes {first}-"):
                self._connection.close()
                raise Incompatible(f"{self._host} gives another part of {name} than was asked for: {told!r}")
            return
        if response.status == _OK and first == 0:
            return
        self._connection.close()
        if response.status == _OK:
            raise Incompatible(
                f"{self._host} gives no parts of files (no answer to ranges); copy {name} by other means"
            )
        raise NotFound(f"{self._host} answers {response.status} for {name}")


def _pieces(response: http.client.HTTPResponse, most: int) -> Iterator[bytes]:
    """The body; one that ends too early raises ``IncompleteRead``, as reading all of it at once would."""
    told = response.length
    came = 0
    while came < most and (piece := response.read(min(_STEP, most - came))):
        came += len(piece)
        yield piece
    if told is not None and came < min(told, most):
        raise http.client.IncompleteRead(b"", min(told, most) - came)


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 1.0
