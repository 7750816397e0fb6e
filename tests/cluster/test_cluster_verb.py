"""``periplus cluster`` before there is one: what is lacking is said in one line, and nobody else loads Ray."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from periplus.app import Collection
from periplus.app.serving.backend import CollectionBackend
from periplus.cli.main import run
from periplus.cluster import Node, Nodes
from periplus.cluster.agent import REACH_SECONDS, address_parts
from periplus.cluster.rays import connect, ray_environment, start_words
from periplus.errors import NotFound, UsageError
from periplus.storage import Database, Leases, process_name

PACKAGE = Path(__file__).parents[2] / "src" / "periplus"
AWAY = 'database = "postgresql://nobody@127.0.0.1:1/none"\n'
VERBS = """
import sys
from periplus.cli.main import run
for words in sys.argv[2:]:
    assert run([*words.split(), "--dir", sys.argv[1]]) == 0, words
assert "ray" not in sys.modules
"""


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a verb that fails says: one line."""
    assert run(["cluster", *words]) != 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "periplus.toml").write_text(f'[storage]\n{AWAY}files = "file://{tmp_path}/objects"\n')
    return tmp_path


def test_a_cluster_needs_a_database_and_an_object_store(tmp_path: Path, capsys) -> None:
    said = complaint(capsys, "start", "--dir", str(tmp_path))
    assert "a cluster keeps its state in PostgreSQL; set storage.database" in said
    (tmp_path / "periplus.toml").write_text(f"[storage]\n{AWAY}")
    said = complaint(capsys, "start", "--dir", str(tmp_path))
    assert "a cluster keeps its files in an object store; set storage.files" in said


def test_a_cluster_needs_the_extra(folder: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    assert "pip install 'periplus[cluster]'" in complaint(capsys, "start", "--dir", str(folder))
    with pytest.raises(UsageError, match="periplus\\[cluster\\]"):
        connect("127.0.0.1:6379", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sail"], "cluster knows no 'sail'; use start, join, status"),
        (["join"], "name the head"),
        (["drain"], "name the node"),
        (["stop", "now"], "periplus cluster stop takes no 'now'"),
        (["start", "--port", "10500"], "port 10500 cannot be the head's"),
        (["join", "a:b:c"], "'a:b:c' is no address of a head"),
        (["join", "127.0.0.1"], "joining needs the head's token"),
        (["join", "127.0.0.1", "--token-file", "nowhere"], "nowhere cannot be read as a token"),
    ],
)
def test_wrong_use_is_one_line(folder: Path, capsys, words: list[str], expected: str) -> None:
    assert expected in complaint(capsys, *words, "--dir", str(folder))


def test_a_missing_head_is_said_soon(folder: Path, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (folder / "token").write_text("t" * 64)
    began = time.monotonic()
    words = ("join", f"127.0.0.1:{port}", "--token-file", str(folder / "token"), "--dir", str(folder))
    assert f"no head of a cluster answers at 127.0.0.1:{port}" in complaint(capsys, *words)
    assert time.monotonic() - began < REACH_SECONDS + 2
    assert (folder / "cluster.token").stat().st_mode & 0o777 == 0o600


def test_a_short_token_is_refused(folder: Path, capsys) -> None:
    (folder / "token").write_text("short")
    words = ("join", "127.0.0.1:1", "--token-file", str(folder / "token"), "--dir", str(folder))
    assert "at least 32 characters" in complaint(capsys, *words)


def test_an_address_has_a_port_of_its_own_or_the_usual_one() -> None:
    assert address_parts("m1") == ("m1", 6379)
    assert address_parts("10.0.0.1:7000") == ("10.0.0.1", 7000)


def test_the_token_is_set_on_every_process_of_ray() -> None:
    environment = ray_environment("secret", {})
    assert (environment["RAY_AUTH_MODE"], environment["RAY_AUTH_TOKEN"]) == ("token", "secret")
    assert float(environment["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"]) <= 10  # or an agent takes half a minute to end
    assert "RAY_AUTH_TOKEN" not in ray_environment("", {})  # of somebody else's Ray
    for words in (start_words("10.0.0.1", 2, port=6379), start_words("10.0.0.2", 2, head="10.0.0.1:6379")):
        assert not [word for word in words if "secret" in word]  # others on the machine see words


def test_status_and_orders(tmp_path: Path, capsys) -> None:
    (tmp_path / "periplus.toml").write_text("")
    assert run(["cluster", "status", "--dir", str(tmp_path)]) == 0
    assert "no machines yet" in capsys.readouterr().err
    with Database.open(tmp_path / "state.db") as database:
        Nodes(database).join(Node("one", "10.0.0.1", 4, 1, "/srv", is_head=True, process=process_name()))
    assert run(["cluster", "drain", "one", "--dir", str(tmp_path)]) == 0
    assert "what runs on node one goes elsewhere" in capsys.readouterr().err
    assert run(["cluster", "--json", "--dir", str(tmp_path)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(node["id"], node["leaving"], node["is_alive"]) for node in shown["nodes"]] == [("one", "drain", True)]
    assert run(["cluster", "drain", "one", "--undo", "--dir", str(tmp_path)]) == 0
    assert run(["cluster", "status", "--dir", str(tmp_path)]) == 0
    assert "head, at work" in capsys.readouterr().out


def test_the_console_shows_machines_and_orders_them(tmp_path: Path) -> None:
    (tmp_path / "periplus.toml").write_text("")
    with Collection(tmp_path) as collection:
        backend = CollectionBackend(collection)
        assert backend.panels.machines() == {}
        nodes = Nodes(collection.database)
        nodes.join(Node("one", "10.0.0.1", 4, 1, "/srv", is_head=True, process=process_name()))
        held = Leases(collection.database).acquire("cluster.conductor", "somebody", 30.0)
        assert held is not None
        shown = backend.panels.machines()
        assert (shown["conductor"], [node["id"] for node in shown["nodes"]], shown["slots"]) == (
            "somebody",
            ["one"],
            [],
        )
        assert [(lease["name"], lease["token"]) for lease in shown["leases"]] == [("cluster.conductor", 1)]
        for order, leaving in (("drain", "drain"), ("work", ""), ("leave", "leave")):
            backend.order_machine(order, "one")
            assert nodes.all()[0].leaving == leaving
        nodes.set_services(("serve",))
        backend.order_machine("stop", "")
        assert (nodes.services(), nodes.all()[0].leaving) == ((), "leave")
        with pytest.raises(NotFound, match="no node two"):
            backend.order_machine("drain", "two")


def test_who_only_joins_begins_nothing(tmp_path: Path, capsys) -> None:
    (tmp_path / "periplus.toml").write_text("[crawl]\nicons = false\n")
    assert run(["crawl", "http://h.test/", "--join", "--dir", str(tmp_path)]) == 1
    assert "no crawl runs that could be joined" in capsys.readouterr().err
    with Database.open(tmp_path / "state.db") as database, database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM crawls") == 0
        assert tx.value("SELECT COUNT(*) FROM urls") == 0


def test_one_module_asks_ray() -> None:
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(name.name.split(".")[0] == "ray" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ray")
    }
    assert found == {"cluster/rays.py"}


def test_no_other_verb_loads_ray(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text(
        json.dumps({"id": "1", "url": "http://a.test/", "title": "Tide", "text": "x"})
    )
    home = tmp_path / "collection"
    verbs = [f"import {tmp_path}/pages.jsonl", "index", "rank", "search tide", "status", "cluster status", "keys list"]
    subprocess.run([sys.executable, "-c", VERBS, str(home), *verbs], check=True, capture_output=True)
