"""The same test bodies run on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from periplus.storage import Database
from support.object_store import bucket, gate, gated_bucket, object_server  # noqa: F401 (fixtures)
from support.postgres import postgres_address  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "state.db")
    return request.getfixturevalue("postgres_address")


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    with Database.open(address, busy_seconds=20) as opened:
        yield opened


@pytest.fixture
def other(database: Database, address: str) -> Iterator[Database]:
    """A second opening of the same database, as another process has it; gives up on locks soon."""
    with Database.open(address, busy_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python script in a process of its own; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(script: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()
