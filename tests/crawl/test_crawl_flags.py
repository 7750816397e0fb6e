"""The flags for own sites, as they are typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from periplus.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    from mockweb.mock_web import MockWeb
    from periplus.demo import Reply, Request

SECRET = "swordfish-9261"


def test_flags_for_own_sites(tmp_path: Path, mock_web: MockWeb, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[str, str]] = []

    def answer(request: Request) -> Reply:
        from periplus.demo import html

        seen.append((request.header("x-token"), request.header("authorization")))
        return html("<p>Words for those who may read them.")

    mock_web.host("own.test", answer)
    password = tmp_path / "password"
    password.write_text(SECRET)
    words = ["crawl", "http://own.test/", "--dir", str(tmp_path / "c"), "--json", "--delay", "0.01"]
    words += ["--resolve", mock_web.resolve[0], "--header", f"own.test=X-Token: {SECRET}"]
    words += ["--auth", f"own.test=mate:{password}", "--max-bandwidth", "5MB", "--hours", "0-24", "--tls", "note"]
    assert run(words) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["pages"] == 1
    lines = [" ".join(line.split()) for line in told.err.splitlines()]
    assert {"max-bandwidth 5.0 MB a second flag", "hours 0-24 flag", "tls note flag"} <= set(lines)
    assert "headers (kept secret) flag" in lines
    assert SECRET not in told.out + told.err
    assert {token for token, _ in seen} == {SECRET}
    assert all(login.startswith("Basic ") for _, login in seen)


def test_fetch_knows_logins_too(tmp_path: Path, mock_web: MockWeb, capsys: pytest.CaptureFixture[str]) -> None:
    mock_web.page("http://own.test/", "<p>Words for the crew.")
    words = ["fetch", "http://own.test/", "--resolve", mock_web.resolve[0], "--header", f"own.test=X-Token: {SECRET}"]
    assert run([*words, "--json"]) == 0
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert [record.header("x-token") for record in mock_web.requests("own.test")] == [SECRET] * 2


@pytest.mark.parametrize(
    "flags",
    [
        ["--header", f"own.test={SECRET}"],
        ["--auth", "own.test=mate"],
        ["--proxy", f"ftp://me:{SECRET}@proxy.test/"],
        ["--max-bandwidth", "fast"],
        ["--hours", "night"],
        ["--tls", "never"],
        ["--include", "("],
        ["--exclude", "[z-a]"],
        ["--resolve", "somewhere"],
        ["--delay", "inf"],
        ["--delay", "nan"],
        ["--workers", "100000"],
        ["--max-pages", "99999999999999999999"],
        ["--for", "-1"],
    ],
)
def test_wrong_flags_are_said_in_one_line_before_anything_is_asked(
    tmp_path: Path, mock_web: MockWeb, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    words = ["crawl", "http://own.test/", "--dir", str(tmp_path / "c"), "--resolve", mock_web.resolve[0], *flags]
    assert run(words) == 2
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert told.err.startswith("periplus: ")
    assert told.err.count("\n") == 1
    assert mock_web.requests() == []
    assert not (tmp_path / "c").exists()


def test_fetch_obeys_a_robots_file_that_moved(mock_web: MockWeb, capsys: pytest.CaptureFixture[str]) -> None:
    mock_web.redirect("http://a.test/robots.txt", "http://www.a.test/robots.txt", 301)
    mock_web.robots("www.a.test", "User-agent: *\nDisallow: /private")
    mock_web.page("http://a.test/private", "<p>Closed.")
    code = run(["fetch", "http://a.test/private", "--resolve", mock_web.resolve[0]])
    assert code == 1
    assert "robots-disallowed" in capsys.readouterr().err
    assert "/private" not in mock_web.paths("a.test")
