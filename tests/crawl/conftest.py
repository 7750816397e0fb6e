"""Crawls of the mock web, on SQLite and PostgreSQL; each ends with the audit of its journal and of the web's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawl.voyages import Voyage
from mockweb.fixtures import certificates, demo_web, mock_dns, mock_web, secure_web  # noqa: F401 (fixtures)
from periplus.storage import Database
from support.object_store import bucket, gate, gated_bucket, object_server  # noqa: F401 (fixtures)
from support.polite_crawls import polite_crawls  # noqa: F401 (a fixture)
from support.postgres import postgres_address  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    address = request.getfixturevalue("postgres_address") if request.param == "postgresql" else tmp_path / "state.db"
    with Database.open(address) as opened:
        yield opened


@pytest.fixture
def voyage(tmp_path: Path) -> Iterator[Voyage]:
    """A crawl on SQLite; ends with the audit."""
    with Database.open(tmp_path / "state.db") as database:
        made = Voyage(tmp_path, database)
        yield made
        made.prove_polite()


@pytest.fixture
def voyage_anywhere(tmp_path: Path, database: Database) -> Iterator[Voyage]:
    """The same on both databases."""
    made = Voyage(tmp_path, database)
    yield made
    made.prove_polite()
