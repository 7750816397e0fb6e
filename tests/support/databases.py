"""A state database of either kind: import ``database`` and ``postgres_address``, and a test runs on both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from periplus.storage import Database
from support.postgres import postgres_address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["database", "postgres_address"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    is_file = request.param == "sqlite"
    with Database.open(tmp_path / "state.db" if is_file else request.getfixturevalue("postgres_address")) as opened:
        yield opened
