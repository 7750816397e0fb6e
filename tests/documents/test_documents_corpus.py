"""Every input that fuzzing learned from, given to its reader once more (``fuzz/README.md``)."""

from __future__ import annotations

import pytest
from fuzz import corpus, strangers, targets

CHECKS = {name: source.check for source in (targets, strangers) for name in source.NAMES}


@pytest.mark.parametrize("name", CHECKS)
def test_readers_keep_their_promises_on_what_was_found(name):
    inputs = corpus.kept(name)
    assert inputs
    for data in inputs:
        CHECKS[name](name, data)


def test_what_is_kept_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "FOLDER", tmp_path / "corpus")
    inputs = [b"", b"a", bytes(range(256))]
    (tmp_path / "learned").mkdir()
    corpus.lay_out([*inputs, b"a"], tmp_path / "learned")
    assert corpus.kept("html") == []
    assert corpus.keep("html", tmp_path / "learned") == 3
    written = (tmp_path / "corpus" / "html.zip").read_bytes()
    assert sorted(corpus.kept("html")) == sorted(inputs)
    corpus.keep("html", tmp_path / "learned")
    assert (tmp_path / "corpus" / "html.zip").read_bytes() == written


def test_of_many_inputs_some_of_all_lengths_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "FOLDER", tmp_path / "corpus")
    (tmp_path / "learned").mkdir()
    corpus.lay_out([b"a" * length for length in range(2 * corpus.MOST)], tmp_path / "learned")
    assert corpus.keep("html", tmp_path / "learned") == corpus.MOST
    assert sorted(map(len, corpus.kept("html"))) == list(range(0, 2 * corpus.MOST, 2))
