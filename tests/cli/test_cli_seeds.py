"""Seeds that bring nothing: one line each, with the reason and what to do; all of them: exit code 1."""

from __future__ import annotations

import socket

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection
from periplus.cli.main import run
from periplus.demo import Reply


@pytest.fixture
def crawl(tmp_path, mock_web, capsys):  # noqa: F811
    def crawled(*words: str) -> tuple[int, str]:
        flags = ["--delay", "0.01", "--workers", "1", "--resolve", mock_web.resolve[0]]
        code = run(["crawl", *words, *flags, "--dir", str(tmp_path / "c")])
        return code, capsys.readouterr().err

    return crawled


@pytest.fixture
def closed_port():
    """One that nobody listens on: bound, so that nobody else gets it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture(autouse=True)
def one_try(monkeypatch):
    monkeypatch.setenv("PERIPLUS_CRAWL_RETRIES", "0")
    monkeypatch.setenv("PERIPLUS_CRAWL_ICONS", "false")


def line_of(said: str, url: str) -> str:
    (line,) = [line for line in said.splitlines() if line.startswith(f"{url}: ")]
    return line


def test_each_kind_of_failure_is_said_in_one_line(crawl, mock_web, closed_port):  # noqa: F811
    mock_web.at("http://shut.test/robots.txt", Reply(200, b"User-agent: *\nDisallow: /"))
    mock_web.at("http://dead.test/", Reply(404))
    mock_web.at("http://moved.test/", Reply(301, headers=(("Location", "http://dead.test/"),)))
    seeds = {
        "http://127.0.0.1:8099/": ("private-address", "--allow-private"),
        "http://refused.example/": ("connection-refused", "check the port"),
        "http://shut.test/": ("robots-disallowed", "the site's owner decides"),
        "http://dead.test/": ("http-4xx", "check the address"),
        "http://moved.test/": ("http-4xx", "http://dead.test/"),
        "http://left-out.test/": ("excluded", "change --exclude"),
        "http://a.test:25/": ("foreign-port", "port of a web server"),
    }
    code, said = crawl(*seeds, "--exclude", "left-out", "--resolve", f"refused.example=127.0.0.1:{closed_port}")

    assert code == 1
    for url, (reason, advice) in seeds.items():
        line = line_of(said, url)
        assert f"({reason}" in line
        assert advice in line
    assert "next:" not in said


def test_a_host_that_nobody_knows(crawl):
    code, said = crawl("http://nobody.invalid/")

    assert code == 1
    assert "could not be resolved (dns-failure" in line_of(said, "http://nobody.invalid/")


def test_one_good_seed_is_enough(crawl, mock_web, tmp_path):  # noqa: F811
    good = mock_web.site("a.test", 2)[0]
    mock_web.at("http://dead.test/", Reply(404))
    code, said = crawl(good, "http://dead.test/")

    assert code == 0
    assert "http-4xx" in line_of(said, "http://dead.test/")
    assert "next: periplus index" in said
    with Collection(tmp_path / "c") as collection, collection.database.read() as tx:
        events = [text for (text,) in tx.rows("SELECT text FROM events WHERE level = 'warning'")]
    assert [text for text in events if text.startswith("http://dead.test/ brought nothing: ")]


def test_a_seed_that_is_named_again_is_tried_again(crawl, mock_web):  # noqa: F811
    mock_web.at("http://a.test/", Reply(404))
    assert crawl("http://a.test/")[0] == 1
    mock_web.site("a.test", 2)
    code, said = crawl("http://a.test/")

    assert code == 0
    assert "http://a.test/: " not in said


def test_a_full_crawl_says_why_a_new_seed_brings_nothing(crawl, mock_web):  # noqa: F811
    first, other = mock_web.site("a.test", 4)[0], mock_web.site("b.test", 2)[0]
    assert crawl(first, "--max-pages", "2")[0] == 0
    code, said = crawl(other)

    assert code == 1
    assert "page limit (page-limit); raise --max-pages" in line_of(said, other)


def test_a_seed_need_not_match_include_but_is_excluded(crawl, mock_web, tmp_path):  # noqa: F811
    pages = mock_web.site("a.test", 4)
    code, said = crawl(pages[0], "--include", pages[2].rpartition("/")[2] + "$")

    assert code == 0, said
    with Collection(tmp_path / "c") as collection, collection.database.read() as tx:
        states = dict(tx.rows("SELECT url, state FROM urls WHERE kind = 0"))
    assert (states[pages[0]], states[pages[2]]) == (1, 1)
    assert 3 in states.values()
