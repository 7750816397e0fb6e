"""A real PostgreSQL server for tests, from Debian's package, in a private folder with a UNIX socket only.

Import ``postgres_address`` into a room's conftest; each test that uses it gets an empty schema of its own. One server
serves the whole session, whichever rooms ask for it. As root it runs as the user ``postgres``, since it refuses root.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from support.components import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0
SUPERUSER = "periplus"
PR_SET_PDEATHSIG = 1


class PostgresServer:
    def __init__(self, binaries: Path) -> None:
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="periplus-pg-"))  # short: a socket's path has 107 bytes
        self._numbers = count(1)
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, self._user, self._user)
        self._run("initdb", "-D", "data", "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        self._process = self._start()
        self._wait()

    def address(self, schema: str = "") -> str:
        options = f"&options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql:///postgres?host={self.folder}&user={SUPERUSER}{options}"

    def create(self) -> str:
        """The address of a new empty schema, which looks to its user as a database of its own; cheaper by far."""
        name = f"test_{next(self._numbers)}"
        self._administer(f"CREATE SCHEMA {name}")
        return self.address(name)

    def drop(self, address: str) -> None:
        self._administer(f"DROP SCHEMA {address.rpartition('%3D')[2]} CASCADE")

    def restart(self) -> None:
        """As an upgrade does it: sessions are ended, and it is back a moment later."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=START_SECONDS)
        self._process = self._start()
        self._wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # fast shutdown
        self._process.wait(timeout=START_SECONDS)
        shutil.rmtree(self.folder)

    def _identity(self) -> dict[str, object]:
        return {"user": self._user, "group": self._user, "extra_groups": []} if self._user else {}

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.binaries / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, **self._identity())
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def _start(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "fsync": "off",  # the disk's loss of power is not what these tests are about
            "shared_buffers": "32MB",
            "max_connections": "400",  # three machines of a cluster have some two hundred
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        with (self.folder / "log").open("wb") as log:
            return subprocess.Popen(
                [str(self.binaries / "postgres"), "-D", "data", *options],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 (one call into libc, no lock that a thread could hold)
                **self._identity(),
            )

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.address(), connect_timeout=5).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(statement)


def find_binaries() -> Path | None:
    """The newest server in Debian's place, else the one on PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path else None


_running: list[PostgresServer] = []


def server(config: pytest.Config) -> PostgresServer:
    """The server of this session, started on first use and stopped when pytest ends."""
    if not _running:
        binaries = find_binaries()
        if binaries is None:
            missing("PostgreSQL (Debian: postgresql)")
        _running.append(PostgresServer(binaries))
        config.add_cleanup(lambda: _running.pop().stop())
    return _running[0]


@pytest.fixture
def postgres_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty PostgreSQL schema that is dropped after the test."""
    running = server(request.config)
    address = running.create()
    yield address
    running.drop(address)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
