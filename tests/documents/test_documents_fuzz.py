"""The fuzz targets themselves: every reader has one, and their seeds and simple damage pass the checks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from periplus.documents import READERS
from periplus.documents.kinds import JSON_LD

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def targets(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz import targets

    return targets


def test_every_reader_has_a_target(targets):
    kinds = {make(b"").content_type for make, _ in targets.TARGETS.values()}
    assert set(READERS) - {JSON_LD} <= kinds  # read by the same reader as JSON Feed


def test_seeds_and_damaged_seeds_pass(targets):
    draw = random.Random(5)
    for name in targets.NAMES:
        seed = bytearray(targets.seed(name))
        targets.check(name, bytes(seed))
        for _ in range(3):
            seed[draw.randrange(len(seed))] = draw.randrange(256)
            targets.check(name, bytes(seed))
