"""Lines for programs: each is one JSON object, without secrets; lines for people are as ever."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection, log_lines
from periplus.storage import Database, write_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 60.0
SEED = "http://a.test/"


class Running:
    """A verb of which each line is read as an object as it comes."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "periplus", *map(str, words)]
        environment = {**os.environ, log_lines.VARIABLE: log_lines.JSON}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            self.said.append(line)

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.said if line.endswith("\n")]

    def awaited(self, **wanted: object) -> dict:
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            for line in self.lines:
                if all(str(value) in str(line.get(name)) for name, value in wanted.items()):
                    return line
            time.sleep(0.05)
        raise AssertionError((wanted, self.said))

    def end(self) -> list[dict]:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return self.lines


@pytest.fixture
def running():
    made: list[Running] = []

    def start(*words: object) -> Running:
        made.append(Running(*words))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        one.process.stderr.close()


@pytest.fixture
def folder(tmp_path):
    records = tmp_path / "records.jsonl"
    records.write_text('{"id": "1", "title": "Tides", "text": "Spring tides and neap tides."}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "periplus", "import", str(records), "--dir", str(tmp_path / "c")],
        capture_output=True,
        check=True,
    )
    assert b"next: periplus index" in done.stderr
    with Collection(tmp_path / "c") as collection:
        collection.index()
    return tmp_path / "c"


def answered(address: str) -> bool:
    """Asked until there is an index."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 503:
                return False
            time.sleep(0.1)
    return False


def children_of(number: int) -> dict[str, int]:
    """The processes that a process started, by their command lines."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((process / "stat").read_text().rpartition(")")[2].split()[1]) == number:
                found[(process / "cmdline").read_bytes().replace(b"\0", b" ").decode()] = int(process.name)
    return found


def test_up_says_all_in_json_and_no_secret(running, tmp_path, mock_web):  # noqa: F811
    seed = mock_web.site("a.test", 3)[0]
    resolve = mock_web.resolve[0]
    up = running("up", seed, "--dir", tmp_path / "c", "--port", 0, "--delay", "0.05", "--resolve", resolve)
    serving = up.awaited(event="serving")
    up.awaited(process="crawler", room="crawl", message="crawl 1 ")
    assert answered(f"{serving['address']}search?q=zephyrical")
    workers = [pid for words, pid in children_of(up.process.pid).items() if "spawn_main" in words]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    up.awaited(message="ended with code -9; started again")
    lines = up.end()

    assert up.process.returncode == 0
    for line in lines:
        assert {"time", "level", "process", "pid", "message"} <= line.keys()
        assert abs((datetime.now(UTC) - datetime.fromisoformat(line["time"])).total_seconds()) < 2 * PATIENCE
        assert line["level"] in ("info", "warning", "error")
    assert {"up", "crawler"} <= {line["process"] for line in lines}
    assert next(line for line in lines if line.get("event") == "crawling")["settings"]["delay"].startswith("0.05 s")
    assert serving["console"] == f"{serving['address']}console"
    assert "periplus keys operator --new" in up.awaited(event="no-key")["message"]
    assert lines[-1]["message"].startswith("stopped; periplus up")
    said = "".join(up.said)
    assert "key=" not in said
    assert "zephyrical" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "--port", 0), "serving http://"),
        (("shard", "--number", 0, "--port", 0), "serving http://"),
        (("index", "--follow"), "index and ranks follow"),
        (("crawl", "--follow", SEED), "crawl 1 "),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_every_service_says_all_in_json(running, folder, mock_web, words, said):  # noqa: F811
    if SEED in words:
        words = (*words, "--resolve", mock_web.resolve[0])
        mock_web.page(SEED, "<p>Tides.</p>")
    service = running(*words, "--dir", folder)
    service.awaited(process=words[0], message=said)
    lines = service.end()

    assert service.process.returncode == 0
    assert lines[-1]["message"] == "stopped"
    assert {line["process"] for line in lines} <= {words[0], "crawl-worker"}


def said_by(*words: object, form: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "periplus", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, log_lines.VARIABLE: form},
        check=False,
    )
    return done.returncode, done.stderr


def test_an_error_is_one_line_with_its_code(tmp_path):
    code, said = said_by("search", "tide", "--dir", tmp_path / "none", form="json")
    line = json.loads(said)

    assert (code, line["level"], line["process"], line["exit"]) == (1, "error", "search", 1)
    assert line["event"]
    assert str(tmp_path / "none") in line["message"]


def test_lines_are_for_people_unless_told_otherwise(tmp_path):
    for form in ("", "text"):
        code, said = said_by("search", "tide", "--dir", tmp_path / "none", form=form)
        assert code == 1
        assert said.startswith("periplus: ")
    code, said = said_by("search", "tide", "--dir", tmp_path / "none", form="xml")

    assert (code, said) == (1, "periplus: PERIPLUS_LOG=xml names no format; use text or json\n")


@contextmanager
def in_json() -> Iterator[Callable[[], list[dict]]]:
    """Standard error of this program in JSON for a while, and what it wrote."""
    root, written = logging.getLogger(), io.StringIO()
    before = sys.stderr, sys.excepthook, threading.excepthook, list(root.handlers), root.level
    sys.stderr = written
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(log_lines.VARIABLE, log_lines.JSON)
            log_lines.begin("test")
        yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    finally:
        logging.captureWarnings(capture=False)
        sys.stderr, sys.excepthook, threading.excepthook, root.handlers, level = before
        root.setLevel(level)


def test_what_is_written_logged_and_raised_are_lines():
    with in_json() as stream:
        sys.stderr.write("half a ")
        assert stream() == []
        sys.stderr.write("line\n\nperiplus: a remark\n")
        logging.getLogger("periplus.web.serving.access_log").warning("full: %s", "disk")
        logging.getLogger("uvicorn.error").info("not said")
        log_lines.say("ready", room="x", count=3)
        log_lines.crash(ValueError("odd"))
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()
    lines = stream()

    assert [(line["level"], line["message"]) for line in lines] == [
        ("info", "half a line"),
        ("warning", "a remark"),
        ("warning", "full: disk"),
        ("info", "ready"),
        ("error", "ValueError: odd"),
        ("error", "ZeroDivisionError: integer division or modulo by zero"),
    ]
    assert lines[2]["room"] == "web"
    assert (lines[3]["room"], lines[3]["count"]) == ("x", 3)
    assert "1 // 0" in lines[5]["traceback"]


def test_keys_and_passwords_are_not_written():
    with in_json() as stream:
        log_lines.say(
            "open http://a.test/console?key=s3cret and postgresql://me:s3cret@db/x", at="http://b.test/?q=1&key=s3cret"
        )
    (line,) = stream()

    assert "s3cret" not in json.dumps(line)
    assert line["message"] == "open http://a.test/console?key=… and postgresql://…@db/x"


def test_an_event_is_told_once_it_is_committed(tmp_path):
    with in_json() as stream, Database.open(tmp_path / "state.db") as database:
        with database.write() as tx:
            number = write_event(tx, "crawl", "crawl 1 begins", "warning")
            assert stream() == []
        with pytest.raises(ValueError, match="undone"), database.write() as tx:
            write_event(tx, "crawl", "crawl 2 begins")
            raise ValueError("undone")
    (line,) = stream()

    assert (line["room"], line["event"], line["number"]) == ("crawl", "event", number)
    assert (line["level"], line["message"]) == ("warning", "crawl 1 begins")


def test_the_message_of_a_line_of_either_form():
    assert log_lines.message_of('{"level": "error", "message": "no room"}') == "no room"
    assert log_lines.message_of("periplus: no room") == "no room"
    assert log_lines.message_of("[1, 2]") == "[1, 2]"
