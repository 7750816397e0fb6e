"""A collection that cannot be written to is searched, served and inspected; whoever would write is told in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.parse

import pytest

from periplus import Collection
from periplus.demo import DemoWeb
from support.components import missing
from support.powerless import run_powerless, with_writing, without_writing
from support.servers import listening, wait_for

VERBS = """
import contextlib, io, json, sys
from periplus.cli.main import run
told = {}
for words in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--dir", sys.argv[1]])
    told[" ".join(words)] = [code, out.getvalue(), err.getvalue()]
json.dump(told, sys.stdout)
"""
PAGES = """
import json, sys
from periplus import Collection
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import operator_key
from periplus.web import create_app
from web.asgi_client import Client
with Collection.existing(sys.argv[1]) as collection:
    key = operator_key(collection)
    assert key == operator_key(collection)
    app = create_app(CollectionBackend(collection), collection.settings, operator_key=key)
    for number in range(60):
        collection.engine.asked("spring tide", f"reader {number}")  # counts that cannot be saved
    told = {path: Client(app).get(path).status for path in json.loads(sys.argv[2])}
    body, bearer = b"target=crawl.delay&value=2", {"authorization": f"Bearer {key}"}
    refused = Client(app).post("/console/settings/change", body, **bearer)
    assert "cannot be written to" in refused.text or "read-only" in refused.text, refused.text
    json.dump({**told, "change": refused.status, "settings": Client(app).get("/console/settings", **bearer).status},
        sys.stdout)
"""
READING = ("search tide", "suggest li", "status", "inspect http://x.test/", "politeness", "doctor")
WRITING = ("index", "rank", "crawl http://x.test/")
ROUTES = ("/", "/search?q=tide", "/api/v1/search?q=tide", "/api/v1/status", "/inspect?url=http://x.test/", "/metrics")


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=10, scope="host", delay=0.01, resolve=web.resolve)
        made.rank()
        made.index()
        assert made.politeness().clean
    without_writing(folder)
    yield folder
    with_writing(folder)


def test_verbs(locked):
    asked = json.dumps([line.split() for line in (*READING, *WRITING)])
    done = run_powerless(VERBS, str(locked), asked)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {line: told[line][0] for line in READING} == dict.fromkeys(READING, 0), told
    for line in WRITING:
        code, _, said = told[line]
        assert code == 1, said
        assert said.splitlines()[-1].startswith("periplus: "), said
        assert "should not have happened" not in said


def test_pages(locked):
    done = run_powerless(PAGES, str(locked), json.dumps(ROUTES))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict.fromkeys((*ROUTES, "settings"), 200) | {"change": 503}


# The folder is mounted over itself and made read-only, in a namespace that ends with the server.
MOUNTED = """
set -eu
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
if touch "$1/written" 2>/dev/null; then echo "the mount can be written to" >&2; exit 9; fi
shift
exec "$@"
"""


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """A server whose collection lies on a file system that is mounted read-only."""
    namespace = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
    folder = tmp_path_factory.mktemp("mounted") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=10, scope="host", delay=0.01, resolve=web.resolve)
        made.rank()
        made.index()
        page = next(hit.url for hit in made.search("tide"))
    within = [*namespace, "sh", "-c", MOUNTED, "sh", str(folder)]
    if not shutil.which("unshare") or subprocess.run([*within, "true"], check=False, capture_output=True).returncode:
        missing("a mount namespace in which a folder can be mounted read-only (unshare -m)")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with listening("serve", "--dir", str(folder), "--port", "0", within=within) as server:
        wait_for(lambda: server.get("/readyz").status == 200)
        yield server, page
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert "Traceback" not in "".join(server.said)


def test_a_server_on_a_read_only_mount_answers_readers(mounted):
    server, page = mounted
    answer = server.get("/api/v1/search?q=tide").json
    assert answer["results"]
    assert answer["degraded"] == []
    quoted = urllib.parse.quote(page, safe="")
    for path in ("/", "/search?q=tide", f"/inspect?url={quoted}", f"/cached?url={quoted}", "/metrics", "/healthz"):
        assert server.get(path).status == 200, path
    steps = server.get(f"/api/v1/inspect?url={quoted}").json["steps"]
    assert {step["state"] for step in steps} == {"ok"}
    assert len(steps) > 3
    assert server.get("/api/v1/suggest?q=ti").json


def test_the_console_on_a_read_only_mount_shows_and_refuses(mounted):
    server, _ = mounted
    key = server.console.partition("key=")[2]
    assert len(key) > 8  # made for this start, since it cannot be kept
    opened = server.get(f"/console?key={key}")
    cookie = opened.headers.get("set-cookie", "").partition(";")[0]
    for path in ("/console", "/console/index", "/console/ranks", "/console/hosts", "/console/settings"):
        assert server.get(path, Cookie=cookie).status == 200, path
    refused = server.ask("POST", "/api/v1/crawl/pause", Authorization=f"Bearer {key}")
    assert refused.status in (409, 503), refused.body
    assert server.get("/readyz").status == 200


def test_what_a_killed_writer_left_in_its_log_is_read(locked, tmp_path):
    """No reader of a folder that it cannot write to could fold the log in."""
    folder = tmp_path / "c"
    shutil.copytree(locked, folder)
    with_writing(folder)
    with Collection.existing(folder) as live:
        with live.database.write() as tx:
            tx.execute("INSERT INTO meta (key, value) VALUES ('mark', 'in the log')")
        for name in ("state.db", "state.db-wal"):
            shutil.copyfile(folder / name, tmp_path / name)  # as a kill leaves them
    for name in ("state.db", "state.db-wal"):
        shutil.copyfile(tmp_path / name, folder / name)
    assert (folder / "state.db-wal").stat().st_size
    without_writing(folder)
    program = """
import sys
from periplus.storage import Database
with Database.open(sys.argv[1]) as database, database.read() as tx:
    sys.stdout.write(tx.value("SELECT value FROM meta WHERE key = 'mark'"))
"""
    done = run_powerless(program, str(folder / "state.db"))
    with_writing(folder)
    assert (done.stdout, done.stderr) == ("in the log", "")
