"""The played frontier in small: workers join, die, freeze and thaw, and every host belongs to one of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawl.frontier_sim import played

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Database


@pytest.mark.parametrize("seed", [1, 2])
def test_single_ownership_in_storms(database: Database, tmp_path: Path, seed: int) -> None:
    figures = played(
        database, tmp_path, seconds=120.0, accidents=0.012, workers=5, hosts=60, limit=100_000, seed=seed
    )  # fmt: skip
    assert figures.pages > 300
    assert figures.deaths
    assert figures.freezes


def test_the_limit_is_exact_in_storms(database: Database, tmp_path: Path) -> None:
    figures = played(database, tmp_path, seconds=90.0, accidents=0.02, workers=4, hosts=40, limit=150, seed=3)
    assert figures.deaths
    assert figures.pages == 150
