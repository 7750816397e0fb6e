"""Makes the samples of this folder importable, and gives an empty log of batches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.documents import BatchLog
from periplus.storage import Database, LocalFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[BatchLog]:
    database = Database.open(tmp_path / "state.db")
    yield BatchLog(LocalFiles(tmp_path), database)
    database.close()
