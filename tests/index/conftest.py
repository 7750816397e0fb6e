"""Settings of property tests over whole indexes, and an empty store."""

import pytest
from hypothesis import HealthCheck, Phase, settings

from periplus.index import IndexStore

settings.register_profile(
    "index",
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),  # shrinking whole indexes takes minutes and helps little
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("index")


@pytest.fixture
def store(tmp_path):
    return IndexStore(tmp_path / "index")
