from __future__ import annotations

import pytest
from asgi_client import Client
from fake_backend import FakeBackend

from periplus.settings import Settings
from periplus.web import create_app
from support.databases import database, postgres_address  # noqa: F401 (fixtures)


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def client(backend: FakeBackend) -> Client:
    return Client(create_app(backend, Settings()))


@pytest.fixture
def guarded(backend: FakeBackend) -> Client:
    """The same app with an operator's key, asked from another machine."""
    return Client(create_app(backend, Settings(), operator_key="s3same"), address="192.0.2.7")
