"""Pieces of the command line that need no collection."""

from __future__ import annotations

import io
import json

import pytest

from periplus.cli.crawl_flags import all_seeds, settings_of
from periplus.cli.options import byte_size
from periplus.cli.output import data, facts, mark, messages, number, print_json, print_line, size, wait_of
from periplus.cli.progress import ProgressLine, drawn
from periplus.cli.search_verb import show_answer
from periplus.cli.watching import show_line
from periplus.errors import UsageError
from periplus.records import QueryReading, SearchAnswer, SearchResult, Total


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("1000", 1000), ("512MB", 512_000_000), ("1GiB", 2**30), ("1.5 kb", 1500), (None, None)],
)
def test_sizes_are_read_with_their_unit(text, bytes_):
    assert byte_size(text) == bytes_


@pytest.mark.parametrize("text", ["", "lots", "-5MB", "5 parsecs"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="512MB"):
        byte_size(text)


def test_numbers_and_sizes_read_well():
    assert number(1234567) == "1,234,567"
    assert number(1.25) == "1.2"
    assert size(999) == "999 bytes"
    assert size(1_500_000) == "1.5 MB"
    assert size(3e15) == "3000.0 TB"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "now"), (4.21, "in 4.2 s"), (86_386.4, "in 23:59:46"), (2.5 * 86_400, "in 2 days, 12:00:00")],
)
def test_when_something_is_due_is_said_in_hours_where_seconds_tell_nothing(seconds, said):
    assert wait_of(seconds) == said


def test_seeds_come_from_the_command_line_then_the_file(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# ports\nhttp://b.test/\n\n  http://c.test/  \n", encoding="utf-8")

    assert all_seeds(["http://a.test/"], file) == ["http://a.test/", "http://b.test/", "http://c.test/"]
    assert all_seeds(None, None) == []


def test_only_flags_that_were_given_become_settings():
    options = settings_of(delay=None, max_pages=5, include=[], lang="en, de", scope=None)

    assert options == {"crawl.max_pages": 5, "crawl.languages": ["en", "de"]}


@pytest.mark.parametrize("width", [100, 78, 58, 38, 20, 5])
def test_a_line_of_progress_fits_any_terminal(width):
    for note in ("", "12,345 hosts, 1,234,567 waiting"):
        for total in (None, 10_000_000):
            line = drawn(ProgressLine("crawl", 2_744_000, total, 86_399, note), width)
            assert len(line.plain) <= width


def test_a_narrow_line_of_progress_keeps_what_matters():
    shown = ProgressLine("crawl", 744, 1_000, 65, "2 hosts, 9,000 waiting")

    assert drawn(shown, 78).plain == f"crawl  {'━' * 28} 744/1,000 0:01:05 2 hosts, 9,000 waiting"
    assert drawn(shown, 58).plain == f"crawl  {'━' * 10} 744/1,000 0:01:05 2 hosts, 9,000 waiting"
    assert drawn(shown, 48).plain == "crawl  744/1,000 0:01:05 2 hosts, 9,000 waiting"
    assert drawn(shown, 40).plain == "crawl  744/1,000 2 hosts, 9,000 waiting"
    assert drawn(shown, 20).plain == "crawl  744/1,000 2 …"


HOSTILE = "a[/b]\x1b[31m \x9b2J :smile: \u202egro.knab [bold]c"


def test_what_strangers_wrote_steers_no_terminal_and_is_no_markup(capsys):
    data().print(facts([("title", HOSTILE)]))
    data().print(HOSTILE, style="bold")
    messages().print(HOSTILE)
    print_line(HOSTILE)
    captured = capsys.readouterr()

    for line in (captured.out + captured.err).splitlines():
        assert "a[/b][31m 2J :smile: gro.knab [bold]c" in line
        assert line.isprintable()


def test_a_terminal_is_told_what_else_there_is(capsys):
    shown = (
        "http://old.tides.test:81/a",
        "old.tides.test › a",
        "tides.test",
        "A",
        "",
        (),
        "en",
        None,
        "2026-01-01",
        "text/html",
    )
    result = SearchResult(3, "1", *shown, score=1.0, more_from_site=1_204)
    total = Total(1_207)
    show_answer(SearchAnswer(QueryReading("a", "a"), (result,), total, 2, 3, "/next", (), (), 1.25, (), 1))

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "1,204 more from this host: add site:old.tides.test" in lines
    assert lines[-1] == "1,207 found in 1.2 ms; --page 3 goes on"


def test_a_terminal_is_told_in_words_what_an_answer_lacks(capsys):
    reading = QueryReading("tides", "tide")
    show_answer(SearchAnswer(reading, (), Total(0, "eq"), 1, 10, None, (), (), 1.25, ("ranks", "budget", "shard-7"), 1))

    first, *lacking = capsys.readouterr().out.splitlines()
    assert first == "nothing found in 1.2 ms"
    assert "no page ranks" in lacking[0]
    assert "ran out" in lacking[1]
    assert lacking[2] == "Not everything could be searched: shard-7."


def test_a_terminal_gets_our_own_colours_only(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    data().print(mark("✗", "red"), HOSTILE)

    assert screen.getvalue() == "\x1b[31m✗\x1b[0m a[/b][31m 2J :smile: gro.knab [bold]c\n"


def test_json_keeps_every_character_without_steering_a_terminal(capsys):
    print_json({"title": HOSTILE})
    out = capsys.readouterr().out

    assert json.loads(out) == {"title": HOSTILE}
    assert out.replace("\n", "").isprintable()


def test_a_live_line_takes_the_place_of_the_last_one(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    console = messages()
    show_line(console, "crawl running: 1 page, many waiting")
    show_line(console, "crawl done")

    assert screen.getvalue() == "\r\x1b[2Kcrawl running: 1 p…\r\x1b[2Kcrawl done"


def test_where_nobody_watches_each_line_stays(capsys):
    line = "crawl running: " + "x" * 200
    show_line(messages(), line)

    assert capsys.readouterr().err == line + "\n"
