"""``periplus search`` as people see it."""

from __future__ import annotations

import json

import pytest

from periplus.cli.main import run
from periplus.cli.search_verb import terminal_language


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "de_CH.UTF-8"}, "de"),
        ({"LANG": "en"}, "en"),
        ({"LC_ALL": "fr_FR", "LANG": "de_DE"}, "fr"),
        ({"LC_ALL": "", "LC_MESSAGES": "nds_DE.UTF-8", "LANG": "de_DE"}, "nds"),
        ({"LANG": "C.UTF-8"}, ""),
        ({"LC_ALL": "POSIX", "LANG": "de_DE"}, ""),
        ({"LANG": "../x"}, ""),
        ({}, ""),
    ],
)
def test_the_language_of_a_terminal(environ, language):
    assert terminal_language(environ) == language


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """The same page in two languages."""
    folder = tmp_path_factory.mktemp("two") / "c"
    texts = {
        "en": "Samba shares the files of a server with the other machines of the house.",
        "de": "Samba teilt die Dateien eines Servers mit den anderen Rechnern im Haus.",
    }
    lines = [
        {"url": f"http://{name}.test/", "title": "Samba", "text": text, "language": name}
        for name, text in texts.items()
    ]
    path = folder.parent / "docs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert run(["import", str(path), "--dir", str(folder)]) == 0
    assert run(["index", "--dir", str(folder)]) == 0
    return folder


def first(capsys, collection, *more):
    capsys.readouterr()
    assert run(["search", "samba", "--dir", str(collection), *more]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("language", ["en", "de"])
def test_pages_in_the_language_of_the_terminal_come_first(capsys, monkeypatch, collection, language):
    monkeypatch.setenv("LC_ALL", f"{language}_XX.UTF-8")
    out = first(capsys, collection)
    assert out.index(f"http://{language}.test/") == out.index("http://")


def test_programs_get_the_same_on_every_terminal(capsys, monkeypatch, collection):
    answers = []
    for language in ("en", "de"):
        monkeypatch.setenv("LC_ALL", f"{language}_XX.UTF-8")
        answers.append([result["url"] for result in json.loads(first(capsys, collection, "--json"))["results"]])
    assert answers[0] == answers[1]
