"""PgBouncer in front of the tests' PostgreSQL server, with transaction pooling and few connections to share."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from support.components import missing
from support.postgres import SUPERUSER, server

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path("/usr/sbin/pgbouncer")
START_SECONDS = 20.0
POOL = 3  # connections to the server, for all clients
SETTINGS = """
[databases]
* = host={server}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = 200
logfile = {folder}/log
"""


@pytest.fixture
def pooled_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database by way of a pooler."""
    if not PROGRAM.exists():
        missing("PgBouncer (Debian: pgbouncer)")
    running = server(request.config)
    name = f"pooled_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(running.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    folder = Path(tempfile.mkdtemp(prefix="periplus-pool-"))
    (folder / "users").write_text(f'"{SUPERUSER}" ""\n')
    (folder / "ini").write_text(SETTINGS.format(server=running.folder, folder=folder, pool=POOL))
    identity = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if identity:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, "postgres", "postgres")
    pooler = subprocess.Popen([str(PROGRAM), "-q", str(folder / "ini")], **identity)
    address = f"postgresql:///{name}?host={folder}&port=6432&user={SUPERUSER}"
    try:
        _wait(address, pooler)
        yield address
    finally:
        pooler.send_signal(signal.SIGTERM)
        pooler.wait(START_SECONDS)
        with psycopg.connect(running.address(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        shutil.rmtree(folder)


def _wait(address: str, pooler: subprocess.Popen[bytes]) -> None:
    latest = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(address, connect_timeout=5).close()
        except psycopg.OperationalError:
            assert pooler.poll() is None, "PgBouncer does not start"
            assert time.monotonic() < latest
            time.sleep(0.05)
        else:
            return
