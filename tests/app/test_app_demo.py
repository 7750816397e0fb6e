"""The whole voyage, run as a user runs it: in processes of its own, through the command line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

TIME_LIMIT = 120  # seconds; a run takes a few


def periplus(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "periplus", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def voyage(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("demo") / "collection"
    done = periplus("demo", "--once", "--json", "--dir", folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def fetched(folder: Path) -> list[str]:
    """Every address that was answered with a page, one entry a request.

    Only read: who is early would otherwise make an empty state, and with it a collection without the demo's settings.
    """
    with closing(sqlite3.connect(f"file:{folder / 'state.db'}?mode=ro", uri=True)) as state:
        rows = state.execute("SELECT url FROM journal WHERE status = 200 ORDER BY url").fetchall()
    return [url for (url,) in rows]


def findable(folder: Path) -> set[str]:
    """What was fetched, but for the endless calendar: which of its months come before the trap shuts is chance."""
    return {url for url in fetched(folder) if "/calendar/" not in url}


def test_the_demo_prints_what_it_did(voyage):
    _, result = voyage

    assert {"pages", "hosts", "documents", "links", "seconds", "results"} <= result.keys()
    assert result["pages"] >= 80
    assert result["hosts"] >= 8
    assert result["documents"] >= 70
    assert result["links"] >= 200
    assert result["results"][0]["rank"] == 1
    assert "lighthouse" in (result["results"][0]["title"] + result["results"][0]["snippet"]).lower()


def test_a_second_run_fetches_nothing_again(voyage):
    folder, first = voyage
    before = fetched(folder)

    done = periplus("demo", "--once", "--json", "--dir", folder)
    second = json.loads(done.stdout)

    assert done.returncode == 0
    assert fetched(folder) == before
    assert second["documents"] == first["documents"]
    assert [hit["url"] for hit in second["results"]] == [hit["url"] for hit in first["results"]]


def test_every_request_of_the_demo_was_polite(voyage):
    folder, _ = voyage

    done = periplus("politeness", "--json", "--dir", folder)

    assert done.returncode == 0, done.stdout
    report = json.loads(done.stdout)
    assert report["violations"] == []
    assert report["requests"] > 80


def test_other_verbs_read_what_the_demo_made(voyage):
    folder, _ = voyage

    status = json.loads(periplus("status", "--json", "--dir", folder).stdout)
    answer = json.loads(periplus("search", "spring tide", "--json", "--dir", folder).stdout)
    url = answer["results"][0]["url"]
    inspection = json.loads(periplus("inspect", url, "--json", "--dir", folder).stdout)
    explanation = json.loads(periplus("explain", "spring tide", url, "--json", "--dir", folder).stdout)
    plain = periplus("search", "spring tide", "--dir", folder)

    assert status["index"]["documents"] > 70
    assert status["ranks"]["pages"] > 70
    assert answer["total"]["value"] >= 1
    assert inspection["verdict"] == "found by search"
    assert explanation["value"] > 0
    assert url in plain.stdout


def test_killed_in_the_middle_it_finishes_on_the_next_start(voyage, tmp_path):
    whole, _ = voyage
    folder = tmp_path / "collection"
    running = subprocess.Popen(
        [sys.executable, "-m", "periplus", "demo", "--once", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for_requests(folder, 25, running)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert len(fetched(folder)) < len(fetched(whole))

    done = periplus("demo", "--once", "--json", "--dir", folder)

    assert done.returncode == 0, done.stderr
    twice = [url for url in set(fetched(folder)) if fetched(folder).count(url) > 1 and not url.endswith("/robots.txt")]
    assert twice == []
    assert findable(folder) == findable(whole)
    assert periplus("politeness", "--dir", folder).returncode == 0


def wait_for_requests(folder: Path, count: int, running: subprocess.Popen) -> None:
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        assert running.poll() is None, "the demo ended before it could be killed"
        try:
            if len(fetched(folder)) >= count:
                return
        except sqlite3.Error:
            pass  # not created yet
        time.sleep(0.01)
    pytest.fail("the demo made no progress")


def test_the_demo_leaves_a_collection_of_real_pages_alone(tmp_path):
    (tmp_path / "periplus.toml").write_text("", encoding="utf-8")

    done = periplus("demo", "--once", "--dir", tmp_path)

    assert done.returncode == 1
    assert "another --dir" in done.stderr
    assert "Traceback" not in done.stderr


def test_up_refuses_the_demo_folder(voyage):
    folder, _ = voyage

    done = periplus("up", "http://a.test/", "--dir", folder, "--port", 0)

    assert done.returncode == 1
    assert "holds the demo" in done.stderr
