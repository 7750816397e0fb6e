"""Bad use of the command line: one clear line on standard error, the right exit code, no traceback."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from periplus.app import Collection
from periplus.cli.main import run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.strip()


def assert_one_line(error: str) -> None:
    assert error.startswith("periplus: ")
    assert "\n" not in error
    assert "Traceback" not in error


def test_an_unknown_verb_is_wrong_use_with_the_nearest_one(capsys):
    code, out, error = said(capsys, "serch", "x")

    assert code == 2
    assert out == ""
    assert_one_line(error)
    assert "search" in error


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "--max-pages", "many", "http://a.test/"),
        ("crawl", "--no-such-flag"),
        ("search",),
        ("crawl", "--delay", "-3", "http://a.test/"),
        ("crawl", "--scope", "galaxy", "http://a.test/"),
        ("index", "--memory", "lots"),
    ],
)
def test_wrong_flags_are_wrong_use(capsys, tmp_path, words):
    code, out, error = said(capsys, *words, *(() if words == ("search",) else ("--dir", tmp_path / "c")))

    assert code == 2
    assert out == ""
    assert_one_line(error)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("verb", ["index", "rank", "status", "serve", "politeness", "pause", "crawl", "up"])
def test_a_missing_collection_is_named(capsys, tmp_path, verb):
    code, _, error = said(capsys, verb, "--dir", tmp_path / "nowhere")

    assert code == 1
    assert_one_line(error)
    assert "nowhere" in error
    assert not (tmp_path / "nowhere").exists()


def test_searching_a_missing_collection_is_named(capsys, tmp_path):
    code, _, error = said(capsys, "search", "tides", "--dir", tmp_path / "nowhere")

    assert code == 1
    assert_one_line(error)


def test_a_damaged_settings_file_is_named_and_left_alone(capsys, tmp_path):
    settings = tmp_path / "periplus.toml"
    settings.write_text("[crawl\ndelay =", encoding="utf-8")

    code, _, error = said(capsys, "status", "--dir", tmp_path)

    assert code == 1
    assert_one_line(error)
    assert "periplus.toml" in error
    assert settings.read_text(encoding="utf-8") == "[crawl\ndelay ="


def test_an_unreadable_seeds_file_is_named(capsys, tmp_path):
    code, _, error = said(capsys, "crawl", "--seeds", tmp_path / "none.txt", "--dir", tmp_path / "c")

    assert code == 1
    assert_one_line(error)
    assert error.count("none.txt") == 1


def test_a_seeds_file_without_an_address_is_named(capsys, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("# none yet\n", encoding="utf-8")

    code, _, error = said(capsys, "crawl", "--seeds", seeds, "--dir", tmp_path / "c")

    assert code == 1
    assert_one_line(error)
    assert "seeds.txt names no address" in error


def test_too_little_memory_is_one_line_with_advice(tmp_path):
    edges = tmp_path / "edges"
    edges.write_text("0 1\n", encoding="utf-8")
    limited = 'ulimit -v 4000000; exec "$@"'
    words = ["-m", "periplus", "pagerank", str(edges), "--nodes", "2000000000"]
    command = ["sh", "-c", limited, "sh", sys.executable, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert_one_line(done.stderr.strip())
    assert done.stderr.startswith("periplus: there is not enough memory for this")
    assert "ask for less" in done.stderr


def test_an_unreadable_file_for_parse_is_named(capsys, tmp_path):
    code, _, error = said(capsys, "parse", tmp_path / "none.html")

    assert code == 1
    assert_one_line(error)
    assert "none.html" in error


def test_a_seed_that_is_no_address_is_named(capsys, tmp_path):
    code, _, error = said(capsys, "crawl", "ftp://a.test/", "--dir", tmp_path / "c")

    assert code == 2
    assert_one_line(error)
    assert "ftp://a.test/" in error


def test_a_folder_that_cannot_be_made_is_named(capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    code, _, error = said(capsys, "crawl", "http://a.test/", "--dir", tmp_path / "file" / "c")

    assert code == 1
    assert_one_line(error)


def test_a_port_in_use_is_named_before_anything_starts(capsys, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        code, _, error = said(
            capsys, "up", "http://a.test/", "--dir", tmp_path / "c", "--port", port, "--resolve", "*.test=127.0.0.1:9"
        )

    assert code == 1
    assert_one_line(error)
    assert str(port) in error


def test_help_and_version_answer_on_standard_output(capsys):
    code, out, _ = said(capsys, "--help")
    assert code == 0
    assert "periplus demo" in out
    assert "politeness" in out

    code, out, _ = said(capsys, "--version")
    assert code == 0
    assert out.startswith("periplus ")


def test_ctrl_c_is_said_in_one_line(capsys, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("periplus.app.Collection.existing", interrupted)
    code, out, error = said(capsys, "status")

    assert (code, out, error) == (1, "", "periplus: stopped")


def test_what_an_error_repeats_steers_no_terminal(capsys, tmp_path):
    code, _, error = said(capsys, "crawl", "no\x1b]0;owned\x07address\u202e://x", "--dir", tmp_path / "c")

    assert code == 2
    assert_one_line(error)
    assert error.isprintable()


@pytest.mark.parametrize("verb", ["pause", "resume", "stop"])
def test_a_command_that_nobody_would_hear_is_an_error(capsys, tmp_path, verb):
    with Collection(tmp_path) as collection:
        collection.create()
    code, out, error = said(capsys, verb, "--dir", tmp_path)

    assert (code, out) == (1, "")
    assert_one_line(error)
    assert "no crawl is running" in error


def test_a_private_address_is_named_with_what_to_do(capsys):
    code, _, error = said(capsys, "fetch", "http://127.0.0.1:1/")

    assert code == 1
    assert_one_line(error)
    assert "private-address" in error
    assert "--allow-private" in error


@pytest.mark.parametrize("limit", ["0", "-1", "1000000000000000000000"])
def test_suggestions_have_a_range(capsys, limit):
    code, _, error = said(capsys, "suggest", "li", "--limit", limit)

    assert code == 2
    assert_one_line(error)


def test_a_base_that_is_no_address_is_named(capsys, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<p>Hello", encoding="utf-8")
    code, _, error = said(capsys, "parse", file, "--base-url", "over there")

    assert code == 2
    assert "over there" in error


def test_bytes_that_are_no_text_can_be_typed(capsys):
    assert said(capsys, "analyze", "caf\udce9", "--json")[0] == 0


LEAVING = """
import atexit, sys, threading
from periplus.cli import main

class Torn:
    def __del__(self):
        print("torn down", flush=True)

torn = Torn()
threading.Thread(target=threading.Event().wait, daemon=True).start() if {threads} else None
atexit.register(print, "handlers ran")
main({arguments})
"""


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nonsense"], 2)])
def test_threads_at_work_are_not_torn_out_of_what_they_do(arguments, code):
    """In foreign code that aborted the process at its end, one time in some hundred."""
    script = LEAVING.format(threads=True, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert "handlers ran" in done.stdout
    assert "torn down" not in done.stdout
    assert ("periplus" in done.stdout) is (code == 0)


@pytest.mark.parametrize(("closed", "code"), [(">&-", 1), ("2>&-", 0)])
def test_a_process_without_streams_ends_as_well(closed, code):
    script = LEAVING.format(threads=True, arguments=["--version"]).replace('"handlers ran"', "")
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_without_threads_a_process_ends_as_usual():
    script = LEAVING.format(threads=False, arguments=["--version"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "torn down" in done.stdout
