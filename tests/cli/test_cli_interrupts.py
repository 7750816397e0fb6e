"""Ctrl-C ends every long verb with one sentence, wherever it comes: while loading, at work, or serving."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection

# Interrupts its own process when a file of that name is opened, once: the same moment every time.
TRAP = """
import os, signal, sys
wanted, left = os.environ.pop("INTERRUPT_AT", ""), [1]
def look(event, arguments):
    if wanted and left and event == "open" and str(arguments[0]).endswith(wanted):
        left.clear()
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(look)
"""


@pytest.fixture
def interrupted(tmp_path):
    """Run a verb that is interrupted when it opens a file: its exit code, and what it said."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(TRAP, encoding="utf-8")

    def run(at: str, *words: object) -> tuple[int, list[str]]:
        sources = {"PYTHONPYCACHEPREFIX": str(tmp_path / "empty")}  # no bytecode: modules are opened by their names
        environment = {**os.environ, **sources, "PYTHONPATH": str(tmp_path / "hook"), "INTERRUPT_AT": at}
        # What runs in the background of a shell passes Ctrl-C over, and hands that on.
        command = ["env", "--default-signal=INT", sys.executable, "-m", "periplus", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr.strip().splitlines()

    return run


@pytest.fixture
def folder(tmp_path):
    lines = tmp_path / "records.jsonl"
    lines.write_text('{"id": "1", "title": "Tides", "text": "Spring tides and neap tides."}\n', encoding="utf-8")
    with Collection(tmp_path / "c") as made:
        made.create()
    return tmp_path / "c"


@pytest.mark.parametrize(
    ("at", "verb"),
    [
        ("cli/main.py", "status"),  # while the verb is being loaded
        ("records.jsonl", "import"),
        ("building.lock", "index"),
        ("building.lock", "rank"),
        ("crawl.lock", "demo"),
    ],
)
def test_one_line_says_that_it_was_stopped(interrupted, folder, at, verb):
    words = ["import", folder.parent / "records.jsonl"] if verb == "import" else [verb]
    place = folder.parent / "demo" if verb == "demo" else folder
    code, said = interrupted(at, *words, *(["--port", 0, "--once"] if verb == "demo" else []), "--dir", place)

    assert code == 1
    assert said[-1] == "periplus: stopped"
    assert len([line for line in said if "stopped" in line]) == 1


def test_a_crawl_stops_in_order_and_says_how_to_go_on(interrupted, mock_web, folder):  # noqa: F811
    seed = mock_web.site("a.test", 3)[0]
    code, said = interrupted("crawl.slots", "crawl", seed, "--resolve", mock_web.resolve[0], "--dir", folder)

    assert code == 1
    assert said[-1] == f"stopped; periplus crawl --dir {folder} goes on"
    with Collection(folder) as collection:
        assert collection.status().crawl.state == "stopped"


def test_a_server_says_that_it_has_stopped(folder):
    command = [sys.executable, "-m", "periplus", "serve", "--port", "0", "--dir", str(folder)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    while "Ctrl-C" not in server.stderr.readline():
        assert server.poll() is None
    server.send_signal(signal.SIGINT)
    _, said = server.communicate(timeout=60)

    assert (server.returncode, said.strip()) == (0, "stopped")
