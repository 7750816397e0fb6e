"""A PostgreSQL server of one's own for a measurement: Debian's package, a temporary folder, a UNIX socket, fsync on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "20",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
    "wal_compression": "lz4",
}


@contextmanager
def postgresql(parent: str | None) -> Iterator[str]:
    """The address of an empty database; the server ends with the block. As root it runs as the user ``postgres``."""
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=parent))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    initialise = [binaries / "initdb", "-D", "data", "-U", "periplus", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
    subprocess.run(initialise, cwd=folder, check=True, capture_output=True, **user)
    command = [binaries / "postgres", "-D", "data", "-c", f"unix_socket_directories={folder}", *settings]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **user)
    try:
        address = f"postgresql:///postgres?host={folder}&user=periplus"
        _wait(address, process, folder / "log")
        yield address
    finally:
        process.send_signal(signal.SIGINT)  # fast shutdown
        process.wait(timeout=START_SECONDS)
        shutil.rmtree(folder)


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        raise SystemExit("no PostgreSQL server; install Debian's package postgresql, or name one by --database")
    return found[-1].parent


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(address, connect_timeout=5).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(log.read_text(encoding="utf-8")) from None
            time.sleep(0.05)
        else:
            return
