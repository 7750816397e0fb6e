"""The examples of the page on extending run as they stand, and do what the page says."""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from documented_commands import ROOT

from periplus import Collection
from periplus.documents import READERS, parse
from periplus.errors import ParseError
from periplus.ranking import PROFILES
from periplus.records import Page
from support.explanations import check

PAGE = """<!doctype html><html lang=en><head><title>{title}</title>
<meta property="article:published_time" content="{date}"></head><body><article><p>{text}</p></article></body></html>"""


def example_of(section: str) -> str:
    """All Python of a section, as somebody would type it."""
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    (part,) = (part for part in page.split("\n## ") if part.startswith(section))
    return "\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL))


def run(code: str) -> dict:
    space: dict = {}
    exec(compile(code, "extending.md", "exec"), space)
    return space


@pytest.fixture
def tables():
    """The tables that the examples enter, as they were afterwards."""
    profiles, readers = dict(PROFILES), dict(READERS)
    yield
    for table, before in ((PROFILES, profiles), (READERS, readers)):
        table.clear()
        table.update(before)


@pytest.mark.usefixtures("tables")
def test_the_profile(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    today = datetime.now(UTC).date().isoformat()
    for name, date, text in (
        ("old", "2001-05-01", "A spring tide floods the mole, and the boats lie high above the quay of the old town."),
        ("new", today, "Each spring tide brings weed into some harbour where nobody has asked for it so far."),
    ):
        page = PAGE.format(title="Spring tide", date=date, text=text)
        (tmp_path / "pages" / f"{name}.html").write_text(page, encoding="utf-8")
    with Collection("collection") as collection:
        from periplus.app.importing import import_paths

        import_paths(collection, [tmp_path / "pages"], "https://a.example.org/")
        collection.index()
    space = run(example_of("A ranking profile"))
    answer = space["answer"]
    said = capsys.readouterr().out

    assert [hit.url.rpartition("/")[2] for hit in answer] == ["new.html", "old.html"]
    assert "freshness" in said
    explanation = space["collection"].explain("spring tide", answer.results[0].url, profile="fresh")
    assert check(explanation) == ""
    assert explanation.value == pytest.approx(answer.results[0].score)
    bonus = [part for part in explanation.parts if part.name == "freshness"]
    assert 1.4 < bonus[0].value <= 1.5
    space["collection"].close()


@pytest.mark.usefixtures("tables")
def test_the_reader(capsys):
    space = run(example_of("A document reader"))

    assert capsys.readouterr().out == "the bar | The bar breaks at low water.\nSo we wait for the tide. | en\n"
    for cut in range(len(space["FILM"])):
        try:
            parse(Page("https://films.example.org/a.srt", space["FILM"][:cut], space["SUBRIP"]))
        except ParseError as error:
            assert error.reason == "unreadable"  # noqa: PT017 (any cut either reads or says why not)


@pytest.mark.usefixtures("tables")
def test_the_provider(capsys):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = json.dumps({"stations": [{"name": "Dunsey", "high": "14:20", "page": "https://t.example/d"}, 7]})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = example_of("A provider of panels")
    address = 'base="https://tides.example.org"'
    assert address in code
    run(code.replace(address, f'base="http://127.0.0.1:{server.server_port}"'))
    server.shutdown()
    server.server_close()

    assert asked == ["/stations?near=dunsey"]
    assert capsys.readouterr().out == "Harbour office Dunsey (('high water', '14:20'),)\n"
