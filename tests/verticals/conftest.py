from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.services import PlayedServices


@pytest.fixture
def services() -> Iterator[PlayedServices]:
    with PlayedServices() as played:
        yield played
