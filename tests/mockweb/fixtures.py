"""Fixtures of the mock web for any test folder: ``from mockweb.fixtures import mock_web`` in its conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mockweb.certificates import Certificates
from mockweb.dns_server import MockDns
from mockweb.mock_web import MockWeb
from periplus.demo import DemoWeb

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["certificates", "demo_web", "mock_dns", "mock_web", "secure_web"]


@pytest.fixture
def mock_web() -> Iterator[MockWeb]:
    """A started, empty mock web; plain HTTP."""
    with MockWeb() as web:
        yield web


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def secure_web(certificates: Certificates) -> Iterator[MockWeb]:
    """A started, empty mock web that speaks HTTP and HTTPS on one port."""
    with MockWeb(certificates=certificates) as web:
        yield web


@pytest.fixture
def demo_web() -> Iterator[DemoWeb]:
    """The demo's web on a free port, its pages speaking of that port."""
    with DemoWeb() as web:
        yield web


@pytest.fixture
def mock_dns() -> Iterator[MockDns]:
    """A started DNS server in which no name exists yet."""
    with MockDns() as dns:
        yield dns
