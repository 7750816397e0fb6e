"""An empty store."""

import pytest

from periplus.index import IndexStore


@pytest.fixture
def store(tmp_path):
    return IndexStore(tmp_path / "index")
