"""Components that a machine may lack: their tests skip and say why, or fail where everything is asked for."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

REQUIRE_ALL = os.environ.get("PERIPLUS_REQUIRE_ALL") == "1"


def missing(component: str) -> NoReturn:
    """Skip because a component is not on this machine; under PERIPLUS_REQUIRE_ALL=1 that is a failure."""
    if REQUIRE_ALL:
        pytest.fail(f"{component} is missing and PERIPLUS_REQUIRE_ALL=1 asks for everything")
    pytest.skip(f"{component} is missing")
