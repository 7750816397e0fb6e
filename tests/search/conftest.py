"""The small collection of ``search_samples``, indexed once, and engines over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from search_samples import DOCUMENTS, PATIENT, anchors_of, build, prior_of

from periplus.search import Engine
from support.databases import database, postgres_address  # noqa: F401 (fixtures)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    build(folder, DOCUMENTS, anchors=anchors_of, prior=prior_of)
    return folder


@pytest.fixture(scope="session")
def engine(collection: Path) -> Iterator[Engine]:
    opened = Engine(collection, PATIENT)
    yield opened
    opened.close()
