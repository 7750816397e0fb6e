"""Small copies of pictures, in a folder with a bound; made in a process with limits (``decoding.py``).

A picture that could not be decoded is an empty file, so that nobody tries twice. When the folder is full, what was made
first leaves first.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from periplus.verticals.provider import ServiceFailed
from periplus.verticals.requests import send

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 100_000_000  # of all of them together
MOST_SOURCE = 2_000_000  # bytes of a picture that is decoded
LARGEST = 60_000  # bytes of a small copy
SECONDS = 8.0  # for one, the start of its process included
AT_ONCE = 2  # processes
FETCH_SECONDS = 2.0
_PROGRAM = Path(__file__).with_name("decoding.py")


class Thumbnails:
    """Thread-safe; several processes may share a folder."""

    def __init__(self, folder: Path, most: int = MOST_BYTES) -> None:
        self._folder, self._most = folder, most
        self._lock = threading.Lock()
        self._decoders = threading.Semaphore(AT_ONCE)
        self._held = -1  # bytes; not looked at yet

    def get(self, address: str, source: Callable[[], bytes | None]) -> bytes:
        """The small copy of the picture at ``address``, whose bytes ``source`` gives; empty where there is none."""
        path = self._path(address)
        try:
            return path.read_bytes()
        except OSError:
            pass
        data = source()
        if data is None:
            return b""  # perhaps later
        made = self._decoded(data) if 0 < len(data) <= MOST_SOURCE else b""
        self._keep(path, made)
        return made

    def is_hopeless(self, address: str) -> bool:
        """Whether somebody tried to decode the picture at ``address``, in vain."""
        try:
            return self._path(address).stat().st_size == 0
        except OSError:
            return False

    def forget(self) -> None:
        """All of them, as a takedown asks; what is still wanted is made again."""
        with self._lock:
            for path in self._files():
                path.unlink(missing_ok=True)
            self._held = 0

    def _path(self, address: str) -> Path:
        return self._folder / f"{xxhash.xxh3_128_hexdigest(address.encode('utf-8', 'replace'))}.jpg"

    def _decoded(self, data: bytes) -> bytes:
        with self._decoders:
            try:
                done = subprocess.run(  # noqa: S603 - our own program, the picture is its input
                    [sys.executable, "-I", str(_PROGRAM)], input=data, capture_output=True, timeout=SECONDS, check=False
                )
            except (OSError, subprocess.TimeoutExpired):
                return b""
        fits = done.returncode == 0 and done.stdout.startswith(b"\xff\xd8\xff") and len(done.stdout) <= LARGEST
        return done.stdout if fits else b""

    def _keep(self, path: Path, data: bytes) -> None:
        with self._lock:
            try:
                self._folder.mkdir(exist_ok=True)
                if self._held < 0:
                    self._held = sum(one.stat().st_size for one in self._files())
                path.with_suffix(".part").write_bytes(data)
                path.with_suffix(".part").replace(path)
                self._held += len(data)
                if self._held > self._most:
                    self._make_room()
            except OSError:
                return  # a full disk costs the copy, not the page

    def _make_room(self) -> None:
        """Down to nine tenths of the bound, the oldest first."""
        known = sorted((one.stat().st_mtime, one.stat().st_size, one) for one in self._files())
        self._held = sum(size for _, size, _ in known)
        for _, size, path in known:
            if self._held <= self._most * 9 // 10:
                return
            path.unlink(missing_ok=True)
            self._held -= size

    def _files(self) -> list[Path]:
        return list(self._folder.glob("*.jpg")) if self._folder.is_dir() else []


def fetched_picture(address: str) -> bytes | None:
    """The bytes of a picture that a service shows; the caller has looked whose it is."""
    try:
        reply = send("GET", address, time.monotonic() + FETCH_SECONDS, {}, most=MOST_SOURCE)
    except ServiceFailed:
        return None
    return reply.body if reply.status == 200 and reply.content_type.startswith("image/") else None


def can_decode() -> bool:
    """Whether the package that decodes is there (extra ``pictures``)."""
    return find_spec("PIL") is not None
