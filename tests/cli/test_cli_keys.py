"""``periplus keys``: made, listed and revoked; the key goes to standard output, once."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.cli.main import run
from periplus.storage import LocalFiles
from periplus.web.keys import KeyRing


@pytest.fixture
def folder(tmp_path):
    with Collection(tmp_path / "c") as collection:
        return collection.create().folder


def said(capsys, *words):
    code = run([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_key_is_made_listed_and_revoked(capsys, folder):
    code, key, remark = said(
        capsys, "keys", "create", "reporting", "--scope", "search", "--scope", "crawl", "--dir", folder
    )
    assert code == 0
    assert key.strip() not in remark
    assert KeyRing(LocalFiles(folder)).find(key.strip()).scopes == ("search", "crawl")

    code, out, _ = said(capsys, "keys", "--json", "--dir", folder)
    listed = json.loads(out)["keys"]
    assert [(row["name"], row["scopes"]) for row in listed] == [("reporting", ["search", "crawl"])]
    assert key.strip() not in out
    assert "reporting" in said(capsys, "keys", "--dir", folder)[1]

    assert said(capsys, "keys", "revoke", "reporting", "--dir", folder)[0] == 0
    assert KeyRing(LocalFiles(folder)).all() == []


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("create",), 2),
        (("create", "a", "--scope", "fly"), 2),
        (("paint", "a"), 2),
        (("list", "a"), 2),
        (("revoke", "a"), 1),
    ],
)
def test_wrong_use_is_told_in_one_line(capsys, folder, words, exit_code):
    code, out, error = said(capsys, "keys", *words, "--dir", folder)

    assert (code, out) == (exit_code, "")
    assert error.startswith("periplus: ")
    assert "\n" not in error.strip()
