"""``periplus keys``: made, listed and revoked; the key goes to standard output, once."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.cli.main import run
from periplus.web.requests.keys import digest_of


@pytest.fixture
def folder(tmp_path):
    with Collection(tmp_path / "c") as collection:
        return collection.create().folder


def ring(folder):
    with Collection.existing(folder) as collection:
        return collection.keys.programs.all()


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
    assert [(one.digest, one.scopes) for one in ring(folder)] == [(digest_of(key.strip()), ("search", "crawl"))]

    code, out, _ = said(capsys, "keys", "--json", "--dir", folder)
    listed = json.loads(out)["keys"]
    assert [(row["name"], row["scopes"]) for row in listed] == [("reporting", ["search", "crawl"])]
    assert key.strip() not in out
    assert "reporting" in said(capsys, "keys", "--dir", folder)[1]

    assert said(capsys, "keys", "revoke", "reporting", "--dir", folder)[0] == 0
    assert ring(folder) == []


def test_the_key_of_the_operator_is_renewed_and_shown_once(capsys, folder):
    assert "none yet" in said(capsys, "keys", "operator", "--dir", folder)[2]
    code, out, remark = said(capsys, "keys", "operator", "--new", "--dir", folder)
    assert code == 0
    assert out.strip() not in remark
    keys = [out.strip(), json.loads(said(capsys, "keys", "operator", "--new", "--json", "--dir", folder)[1])["key"]]
    with Collection.existing(folder) as collection:
        operator = collection.keys.operator
        assert operator.begin() == ""
        assert [operator.is_key(key) for key in keys] == [False, True]
    told = said(capsys, "keys", "operator", "--dir", folder)
    assert "keys operator --new" in told[2]
    assert not any(key in "".join(map(str, told)) for key in keys)
    assert json.loads(said(capsys, "keys", "operator", "--json", "--dir", folder)[1])["created"].startswith("20")


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("create",), 2),
        (("create", "a", "--scope", "fly"), 2),
        (("paint", "a"), 2),
        (("list", "a"), 2),
        (("operator", "a"), 2),
        (("create", "a", "--new"), 2),
        (("revoke", "a"), 1),
    ],
)
def test_wrong_use_is_told_in_one_line(capsys, folder, words, exit_code):
    code, out, error = said(capsys, "keys", *words, "--dir", folder)

    assert (code, out) == (exit_code, "")
    assert error.startswith("periplus: ")
    assert "\n" not in error.strip()
