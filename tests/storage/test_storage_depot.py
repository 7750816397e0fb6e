"""Files travel to the object store and back: whole or not at all, once, and within a bound."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.errors import Corrupt, NotFound, StorageAway
from periplus.storage import Database, Depot, LocalFiles, Stored, open_objects, remove_orphans, retirement
from support.object_store import TORN, give_up_at_once

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.object_store import Gate

DAY = 86_400.0


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"file://{tmp_path}/store"


def depot_at(folder: Path, address: str) -> Depot:
    return Depot(LocalFiles(folder), open_objects(address))


def age(depot: Depot, name: str, seconds: float) -> None:
    """As if nobody had looked for it for so long."""
    then = time.time() - seconds
    os.utime(depot.files.path(f".depot/{name}.json"), (then, then))


def test_what_one_machine_pushes_another_pulls(tmp_path: Path, bucket: str) -> None:
    one, two = depot_at(tmp_path / "one", bucket), depot_at(tmp_path / "two", bucket)
    one.files.write("documents/1", b"text")
    stored = one.push("documents/1", "documents/a-name")
    assert stored == Stored("documents/a-name", 4, stored.digest)
    assert two.pull(stored, "documents/1").read_bytes() == b"text"
    assert two.files.names("documents/") == ["documents/1"]
    assert pickle.loads(pickle.dumps(two)).pull(stored).read_bytes() == b"text"  # under its own name


def test_what_is_there_is_not_fetched_again(tmp_path: Path, gated_bucket: str, gate: Gate) -> None:
    one, two = depot_at(tmp_path / "one", gated_bucket), depot_at(tmp_path / "two", gated_bucket)
    one.files.write("a", b"text")
    stored = one.push("a")
    gate.asked.clear()
    one.pull(stored)  # it made it
    assert gate.asked == []
    two.pull(stored)
    assert [method for method, _ in gate.asked] == ["HEAD", "GET"]
    gate.asked.clear()
    two.pull(stored)
    two.files.remove(".depot/a.json")
    two.pull(stored)  # by its content
    two.files.path("a").touch()
    two.pull(stored)
    assert gate.asked == []
    assert two.has(stored)


def test_a_damaged_copy_is_replaced(tmp_path: Path, address: str) -> None:
    depot = depot_at(tmp_path / "one", address)
    depot.files.write("a", b"text")
    stored = depot.push("a")
    depot.files.write("a", b"tExt")
    assert not depot.has(stored)
    assert depot.pull(stored).read_bytes() == b"text"
    depot.files.write("a", b"longer text")
    assert depot.pull(stored).read_bytes() == b"text"


def test_a_torn_download_is_tried_again_and_then_corrupt(
    tmp_path: Path,
    gated_bucket: str,
    gate: Gate,
) -> None:
    one, two = depot_at(tmp_path / "one", gated_bucket), depot_at(tmp_path / "two", gated_bucket)
    one.files.write("a", b"text")
    stored = one.push("a")
    torn = iter((TORN,))
    gate.fault = lambda method, path: next(torn, None) if method == "GET" else None
    assert two.pull(stored).read_bytes() == b"text"
    two.drop("a")
    gate.fault = lambda method, path: TORN if method == "GET" else None
    with pytest.raises(Corrupt, match=r"main/a is not what was written there"):
        two.pull(stored)
    assert two.files.names("a") == []
    assert two.files.sweep() == []


def test_a_missing_object_and_a_missing_file(tmp_path: Path, address: str) -> None:
    depot = depot_at(tmp_path / "one", address)
    with pytest.raises(NotFound, match="none does not exist"):
        depot.pull(Stored("none", 1, "0"))
    with pytest.raises(NotFound, match="a does not exist"):
        depot.push("a")


def test_a_failed_push_leaves_no_note(
    tmp_path: Path,
    gated_bucket: str,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_up_at_once(monkeypatch)
    depot = depot_at(tmp_path / "one", gated_bucket)
    depot.files.write("a", b"text")
    gate.refuse(1)
    with pytest.raises(StorageAway):
        depot.push("a")
    assert depot.shrink(0, idle_seconds=0) == []  # it is no copy: nothing else has it
    depot.push("a")
    age(depot, "a", DAY)
    assert depot.shrink(0) == ["a"]


def test_processes_that_pull_one_file_at_once_fetch_it_once(
    tmp_path: Path,
    gated_bucket: str,
    gate: Gate,
    start: Callable[..., subprocess.Popen[str]],
) -> None:
    one = depot_at(tmp_path / "one", gated_bucket)
    one.files.write("a", b"text" * 100_000)
    stored = one.push("a")
    gate.asked.clear()
    script = """
import sys
from periplus.storage import Database, Depot, LocalFiles, Stored, open_objects, remove_orphans, retirement
depot = Depot(LocalFiles(sys.argv[1]), open_objects(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
data = depot.pull(Stored(sys.argv[3], int(sys.argv[4]), sys.argv[5])).read_bytes()
print(data == b"text" * 100_000, flush=True)
"""
    told = (str(tmp_path / "two"), gated_bucket, stored.name, str(stored.bytes), stored.digest)
    pulling = [start(script, *told) for _ in range(3)]
    for process in pulling:
        assert process.stdout.readline() == "ready\n"
    for process in pulling:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in pulling:
        assert process.communicate(timeout=30)[0] == "True\n"
    assert [method for method, _ in gate.asked] == ["HEAD", "GET"]


def test_the_copy_stays_within_its_bound(tmp_path: Path, address: str) -> None:
    depot = depot_at(tmp_path / "one", address)
    for number, name in enumerate(("a", "b", "c", "d"), 1):
        depot.files.write(f"copies/{name}", name.encode() * 100)
        depot.push(f"copies/{name}")
        age(depot, f"copies/{name}", DAY * number)
    depot.files.write("local", b"0" * 1000)
    assert depot.shrink(400) == []
    assert depot.shrink(250, keep={"copies/d"}) == ["copies/c", "copies/b"]
    assert depot.files.names() == [
        ".depot/copies/a.json",
        ".depot/copies/d.json",
        *depot.files.names(".depot/locks/"),
        "copies/a",
        "copies/d",
        "local",
    ]
    assert depot.shrink(0) == ["copies/d", "copies/a"]


def test_a_copy_that_was_looked_for_just_now_stays(tmp_path: Path, address: str) -> None:
    depot = depot_at(tmp_path / "one", address)
    depot.files.write("a", b"text")
    stored = depot.push("a")
    age(depot, "a", DAY)
    depot.pull(stored)
    assert depot.shrink(0) == []
    age(depot, "a", DAY)
    assert depot.shrink(0) == ["a"]
    assert depot.pull(stored).read_bytes() == b"text"


def test_copies_that_no_row_names_go_at_once(tmp_path: Path, address: str) -> None:
    depot = depot_at(tmp_path / "one", address)
    for name in ("links/a", "links/b", "documents/a"):
        depot.files.write(name, name.encode())
        depot.push(name)
    depot.files.write("links/staged", b"not pushed yet")
    assert depot.retain("links/", {"links/b"}) == ["links/a"]
    assert depot.files.names("links/") == ["links/b", "links/staged"]
    assert depot.files.exists("documents/a")


def test_orphans_wait_for_a_store_that_is_away(
    tmp_path: Path, gated_bucket: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_at_once(monkeypatch)
    monkeypatch.setattr(retirement, "ORPHAN_SECONDS", -60.0)  # so that what is uploaded now is old
    depot = depot_at(tmp_path / "one", gated_bucket)
    for name in ("named", "orphan"):
        depot.objects.put(f"archive/{name}", b"text")
    with Database.open(tmp_path / "state.db") as database:
        gate.close()
        assert remove_orphans(database, depot, "archive/", lambda: {"archive/named"}) == []
        gate.open()
        assert remove_orphans(database, depot, "archive/", lambda: {"archive/named"}) == ["archive/orphan"]
        assert depot.objects.names() == ["archive/named"]
        assert remove_orphans(database, depot, "archive/", set) == []  # looked at lately
