"""``periplus import`` as people see it: what was read, kept and left out, with the place of what is wrong."""

from __future__ import annotations

import json

import pytest

from periplus.cli.main import run


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = run([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.strip()


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text(
        '{"id": 1, "text": "High water."}\n{broken\n{"id": 1, "text": "Low water."}\n{"id": 3, "text": ""}\n'
    )
    return path


def test_a_report_says_what_was_kept_and_names_what_was_not(capsys, tmp_path, lines):
    code, out, error = said(capsys, "import", lines, "--dir", tmp_path / "c")
    assert (code, out) == (0, "")
    assert "4 records read, 2 kept, 2 left out" in error
    assert "1 bad-record: a line or row that is no record" in error
    assert "1 no-content: the page has no text" in error
    assert "1 of those kept are replaced by a later one" in error
    assert f"! {lines}, line 2: JSON is malformed" in error
    assert error.endswith(f"next: periplus index --dir {tmp_path / 'c'}")


def test_programs_get_the_same(capsys, tmp_path, lines):
    code, out, _ = said(capsys, "import", lines, "--dir", tmp_path / "c", "--json")
    report = json.loads(out)
    assert code == 0
    assert {name: report[name] for name in ("records", "documents", "refused", "left_out", "repeated")} == {
        "records": 4,
        "documents": 2,
        "refused": 2,
        "left_out": {"bad-record": 1, "no-content": 1},
        "repeated": 1,
    }
    assert [(problem["file"], problem["place"]) for problem in report["problems"]] == [(str(lines), "line 2")]


def test_strict_stops_with_one_line(capsys, tmp_path, lines):
    code, out, error = said(capsys, "import", lines, "--dir", tmp_path / "c", "--strict")
    assert (code, out) == (1, "")
    assert error.startswith(f"periplus: {lines}, line 2: JSON is malformed")
    assert error.endswith("what came before it is kept")
    assert "\n" not in error


def test_a_text_that_is_cut_is_told(capsys, tmp_path):
    lines = tmp_path / "long.jsonl"
    lines.write_text(json.dumps({"id": 1, "text": "tide " * 500_000}), encoding="utf-8")
    code, _, error = said(capsys, "import", lines, "--dir", tmp_path / "c")
    assert code == 0
    assert "1 are kept without all of their text" in error


def test_an_import_that_kept_nothing_has_failed(capsys, tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    code, _, error = said(capsys, "import", tmp_path / "empty.jsonl", "--dir", tmp_path / "c")
    assert (code, error) == (1, "nothing was imported: there is no record in it")
    (tmp_path / "bad.jsonl").write_text("id,title\n1,Tides\n", encoding="utf-8")
    code, _, error = said(capsys, "import", tmp_path / "bad.jsonl", "--dir", tmp_path / "c")
    assert code == 1
    assert error.startswith("nothing was imported: 2 records read, 0 kept, 2 left out")
    assert "next:" not in error


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("missing.jsonl", None, "does not exist"),
        ("table.csv", b"id,text\n1,x\n", "convert it to Parquet"),
        ("list.json", b"[]", "a line of its own"),
        ("binary.jsonl", b"\x7fELF\0\0\0", "binary data"),
        ("notes.parquet", b"PAR1 it is not", "cannot be read as Parquet"),
        ("page.html", b"<p>x", "import the folder"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(capsys, tmp_path, name, content, what):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, out, error = said(capsys, "import", tmp_path / name, "--dir", tmp_path / "c")
    assert (code, out) == (1, "")
    assert error.startswith(f"periplus: {tmp_path / name}")
    assert what in error
    assert "\n" not in error
    assert not (tmp_path / "c").exists()
