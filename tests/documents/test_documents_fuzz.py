"""The fuzz targets themselves: every reader has one, and their seeds and simple damage pass the checks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from periplus import archive
from periplus.app.importing import lines, mailboxes, tables, wikis
from periplus.documents import READERS, parse
from periplus.documents.kinds import JSON_LD

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def targets(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz import targets

    return targets


@pytest.fixture
def strangers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz import strangers

    return strangers


def test_every_reader_has_a_target(targets):
    kinds = {make(b"").content_type for make, _ in targets.TARGETS.values()}
    assert set(READERS) - {JSON_LD} <= kinds  # read by the same reader as JSON Feed


def test_every_kind_of_import_has_a_target(strangers):
    endings = [ending for ending, *_ in strangers.IMPORTS.values()]
    known = {*archive.SUFFIXES, *lines.SUFFIXES, *mailboxes.SUFFIXES, *wikis.SUFFIXES, tables.SUFFIX, ".cdxj"}
    assert set(endings) <= known
    assert {ending.split(".")[1] for ending in known} - {"ndjson", "wet"} == {one.split(".")[1] for one in endings}


@pytest.mark.parametrize("source", ["targets", "strangers"])
def test_seeds_are_read_and_damaged_seeds_pass(request, source):
    """A seed that is refused would leave most of its reader untried."""
    fuzzed = request.getfixturevalue(source)
    draw = random.Random(5)
    for name in fuzzed.NAMES:
        for seed in map(bytearray, fuzzed.seeds(name)):
            assert fuzzed.check(name, bytes(seed)), name
            for _ in range(3):
                seed[draw.randrange(len(seed))] = draw.randrange(256)
                fuzzed.check(name, bytes(seed))


@pytest.mark.parametrize("name", ["epub-html", "docx-xml", "odt-xml", "pdf", "pdf-objects"])
def test_what_is_fuzzed_inside_a_container_is_read(targets, name):
    [seed] = targets.seeds(name)
    assert parse(targets.TARGETS[name][0](seed)).text
