"""Two servers of one collection: what is done at one holds at the other within seconds, and after a kill."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time

import pytest

from periplus import Collection, addresses
from periplus.app.console.judging import Judgements
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.sharing import LOOK_EVERY, Sharing
from periplus.cli.main import run
from periplus.documents import BatchLog
from periplus.errors import Corrupt, StateLost
from periplus.records import Document, SearchRequest
from periplus.storage import LocalFiles
from periplus.web import create_app
from support.databases import postgres_address  # noqa: F401 (a fixture)
from support.servers import listening, wait_for
from web.asgi_client import Client

RULES = '[[pinned]]\nqueries = ["tide"]\nurls = ["{}"]\n'
PAGES = [f"http://{host}.test/{number}" for host in "ab" for number in range(3)]
SETTINGS = '\n[search]\nrules = "rules.toml"\n'
A_FEW_SECONDS = 10.0  # on a machine that is busy


def fill(collection):
    documents = [
        Document(url, addresses.key(url), 1.7e9, title=f"Tide {number}", text="tide tables", language="en")
        for number, url in enumerate(PAGES)
    ]
    BatchLog(collection.files, collection.database).append(documents)
    collection.index()


@pytest.fixture
def folder(tmp_path):
    with Collection(tmp_path / "c") as collection:
        collection.create(SETTINGS)
        (collection.folder / "rules.toml").write_text(RULES.format(PAGES[0]))
        fill(collection)
        return collection.folder


def said(capsys, *words):
    code = run([str(word) for word in words])
    assert code == 0, capsys.readouterr().err
    return capsys.readouterr().out.strip()


def test_what_the_console_of_one_server_changes_holds_at_the_other(folder):
    words = ("serve", "--dir", str(folder), "--port", "0")
    with listening(*words) as one, listening(*words) as other:
        bearer = {"Authorization": f"Bearer {one.console.partition('key=')[2]}"}
        for server in (one, other):
            wait_for(lambda server=server: server.get("/readyz").status == 200)
            assert server.get("/metrics").status == 200
        body = "target=serve.public_status&value=false"
        assert one.ask("POST", "/console/settings/change", body, **bearer).status == 303
        for server in (one, other):
            wait_for(lambda server=server: server.get("/metrics").status == 401)
            assert server.get("/search?q=tide").status == 200


def test_two_servers_agree_within_seconds(folder, capsys):
    words = ("serve", "--dir", str(folder), "--port", "0")
    with listening(*words) as one, listening(*words) as other:
        key = one.console.partition("key=")[2]
        assert len(key) > 20
        assert "key=" not in other.console  # it was shown by the first
        for server in (one, other):
            wait_for(lambda server=server: server.get("/readyz").status == 200)
        bearer = {"Authorization": f"Bearer {key}"}
        opened = one.get(f"/console?key={key}")
        cookie = opened.headers["set-cookie"].partition(";")[0]
        assert other.get("/console", Cookie=cookie).status == 200

        def soon(condition, pause=0.05):
            began = time.monotonic()
            while not condition():
                assert time.monotonic() - began < A_FEW_SECONDS
                threading.Event().wait(pause)

        program = said(capsys, "keys", "create", "reader", "--dir", folder)
        shown = {"Authorization": f"Bearer {program}"}
        for server in (one, other):
            soon(
                lambda server=server: server.get("/api/v1/search?q=tide", **shown).status == 200, LOOK_EVERY
            )  # few wrong keys
        said(capsys, "keys", "revoke", "reader", "--dir", folder)
        for server in (one, other):
            soon(lambda server=server: server.get("/api/v1/search?q=tide", **shown).status == 401)

        def first(server):
            return server.get("/api/v1/search?q=tide").json["results"][0]["url"]

        (folder / "rules.toml").write_text(RULES.format(PAGES[5]))
        for server in (one, other):
            soon(lambda server=server: first(server) == PAGES[5])

        new = said(capsys, "keys", "operator", "--new", "--dir", folder)
        for server in (one, other):
            soon(lambda server=server: server.get("/console", Cookie=cookie).status == 401)
            assert server.get("/console", Authorization=f"Bearer {new}").status == 200
        assert one.get("/console", **bearer).status == 401
    assert "keys operator --new" in "".join(other.said)
    for server in (one, other):
        assert "Traceback" not in "".join(server.said)
        assert new not in "".join(server.said)


@pytest.fixture
def machines(tmp_path, postgres_address):  # noqa: F811 (the fixture)
    """Two machines with a folder each and one database."""
    flags = {"storage.database": postgres_address, "search.rules": "rules.toml", "serve.port": 0}
    with Collection(tmp_path / "one", flags=flags) as one:
        one.create()
        (one.folder / "rules.toml").write_text(RULES.format(PAGES[5]))
        fill(one)
        shutil.copytree(one.folder, tmp_path / "two")
        (tmp_path / "two" / "rules.toml").unlink()
        with Collection(tmp_path / "two", flags=flags) as two:
            Sharing(one).look()
            yield one, two


@pytest.mark.postgres
def test_two_machines_agree_on_everything(machines):
    one, two = machines
    looks = [Sharing(one), Sharing(two)]
    backends = [CollectionBackend(one), CollectionBackend(two)]

    def look():
        assert [sharing.look() for sharing in looks] == [[], []]
        assert [sharing.look() for sharing in looks] == [[], []]
        two.engine.reload()

    def found(place):
        return [result.url for result in backends[place].search(SearchRequest("tide"))]

    look()
    assert found(1)[0] == PAGES[5]  # by the rules of the other machine
    backends[0].steer("block", "a.test")
    look()
    assert {url for url in found(1) if "a.test" in url} == set()
    backends[1].steer("unblock", "a.test")
    look()
    assert sorted(found(0)) == sorted(found(1)) == PAGES
    for person in "abc":
        backends[1].asked("tide of the bay", person)
    look()
    one.engine.sharing[-1]._next_read = 0.0  # a minute later
    look()
    assert one.engine._past.counts == {"tide of the bay": 3}
    backends[0].panels.judge("tide", PAGES[0], 3)
    backends[1].panels.judge("tide", PAGES[1], 0)
    backends[1].panels.judge("ebb", PAGES[1], 1)
    backends[0].panels.judge("ebb", PAGES[1], None)
    assert backends[0].panels.judgements() == backends[1].panels.judgements() == {"tide": {PAGES[0]: 3, PAGES[1]: 0}}


def test_judgements_of_an_earlier_version_are_taken_over(folder):
    old = {"tide": {PAGES[0]: 3}, "ebb": {PAGES[1]: 0, PAGES[2]: 1}}
    files = LocalFiles(folder)
    files.write("judgements.json", json.dumps(old).encode())
    with Collection.existing(folder) as collection:
        judged = Judgements(collection.sound_state, files)
        assert judged.all() == old
        judged.add("tide", PAGES[0], None)
        assert judged.all() == {"ebb": old["ebb"]}
    assert not files.exists("judgements.json")
    files.write("judgements.json", b"{")
    with Collection.existing(folder) as collection:  # taken over already, and left by a kill
        assert Judgements(collection.sound_state, files).all() == {"ebb": old["ebb"]}


def test_a_damaged_file_of_judgements_is_said(folder):
    LocalFiles(folder).write("judgements.json", b"{")
    with Collection.existing(folder) as collection, pytest.raises(Corrupt, match=r"judgements\.json is damaged"):
        Judgements(collection.sound_state, collection.files).all()


def test_a_server_without_its_state_answers_and_says_why_keys_do_not(folder):
    with Collection.existing(folder) as collection:
        key = collection.keys.programs.create("reader", ["search"])
        collection.keys.operator.begin()
    (folder / "state.db").unlink()
    with Collection.existing(folder, flags={"serve.port": 0}) as collection:
        keys = collection.keys
        passing = keys.operator.begin()
        assert "doctor --repair" in keys.operator.trouble
        app = create_app(CollectionBackend(collection), collection.settings, keys.operator, keys.programs)
        client = Client(app, address="192.0.2.7")
        assert client.get("/search?q=tide").status == 200
        refused = client.get("/api/v1/search?q=tide", authorization=f"Bearer {key}")
        assert refused.status == 503
        assert "no key can be looked up" in refused.text
        assert client.get("/console/settings", authorization=f"Bearer {passing}").status == 200
        (error,) = Sharing(collection).look()
        assert isinstance(error, StateLost)


KILLED = """
import os, signal, sys
from periplus import Collection
collection = Collection.existing(sys.argv[1])
sys.stdout.write(collection.keys.programs.create("reader", ["search"]) + "\\n")
sys.stdout.write(collection.keys.operator.renew() + "\\n")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_acknowledged_outlives_a_kill(folder):
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], capture_output=True, text=True, check=False)
    program, operator = done.stdout.split()
    with Collection.existing(folder) as collection:
        assert collection.keys.programs.find(program).name == "reader"
        assert collection.keys.operator.begin() == ""
        assert collection.keys.operator.is_key(operator)
