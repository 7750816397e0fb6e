"""One protocol over a folder and over an S3 server, and what is said when the server refuses or is away."""

from __future__ import annotations

import pickle
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.errors import AlreadyThere, NotFound, SettingError, StorageAway, StorageError, Truncated, UsageError
from periplus.storage import Objects, objects, open_objects
from support.object_store import HALF, LOST, UNSAID

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.object_store import Gate, ObjectServer


@pytest.fixture(params=["file", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "file":
        return open_objects(f"file://{tmp_path}/a%20store")
    return open_objects(request.getfixturevalue("bucket"))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives up soon."""
    monkeypatch.setattr(objects, "RETRIES", 2)
    monkeypatch.setattr(objects, "RETRY_SECONDS", 0.3)
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)


def test_objects_are_kept_read_listed_and_removed(store: Objects) -> None:
    store.check()
    store.put("archive/one", b"abc")
    store.put("archive/other", b"")
    store.put("ark", b"d")
    assert store.get("archive/one") == b"abc"
    assert store.get("archive/other") == b""
    assert store.size("archive/one") == 3
    assert store.get_range("archive/one", 1, 2) == b"bc"
    assert store.names() == ["archive/one", "archive/other", "ark"]
    assert store.names("archive/o") == ["archive/one", "archive/other"]
    assert store.names("archive/on") == ["archive/one"]
    assert store.names("ar") == store.names()
    assert [(one.name, one.bytes) for one in store.entries("ark")] == [("ark", 1)]
    assert abs(store.entries("ark")[0].modified - time.time()) < 60
    store.remove("archive/one")
    store.remove("archive/one")
    assert store.names("archive/") == ["archive/other"]


def test_a_large_file_goes_in_parts(store: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "PART_BYTES", 5 << 20)  # the least that S3 takes
    content = bytes(range(251)) * 50_000
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(content)
    store.put("segments/large", source)
    store.download("segments/large", copy)
    assert copy.read_bytes() == content
    assert store.get_range("segments/large", 5_000_000, 10) == content[5_000_000:5_000_010]


def test_what_is_not_there_is_not_found(store: Objects, tmp_path: Path) -> None:
    for ask in (
        lambda: store.get("none"),
        lambda: store.size("none"),
        lambda: store.get_range("none", 0, 1),
        lambda: store.download("none", tmp_path / "copy"),
    ):
        with pytest.raises(NotFound, match="none does not exist"):
            ask()


def test_a_range_behind_the_end_is_truncated(store: Objects) -> None:
    store.put("short", b"abc")
    with pytest.raises(Truncated, match="short"):
        store.get_range("short", 2, 5)
    with pytest.raises(Truncated, match="short"):
        store.get_range("short", 7, 5)
    with pytest.raises(UsageError, match="range begins at 0"):
        store.get_range("short", -1, 5)


def test_a_store_can_be_sent_to_another_process(store: Objects) -> None:
    store.put("one", b"1")
    assert pickle.loads(pickle.dumps(store)).get("one") == b"1"


def test_a_folder_keeps_the_first_content_of_a_name(tmp_path: Path) -> None:
    store = open_objects(f"file://{tmp_path}/store")
    store.put("one", b"1")
    store.put("one", b"1")  # a second try of the same put
    with pytest.raises(AlreadyThere):
        store.put("one", b"2")
    assert store.get("one") == b"1"


@pytest.mark.parametrize(
    "address", ["", "s3://", "file://host/folder", "file://", "file:///", "gs://bucket", "/folder"]
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(SettingError, match="write s3://bucket/prefix or file:///folder"):
        open_objects(address)


# Faults


def test_wrong_credentials_are_said_at_once(bucket: str, object_server: ObjectServer) -> None:
    store = open_objects(bucket)
    object_server.allow_all(0)
    try:
        for ask in (store.check, lambda: store.put("one", b"1"), lambda: store.get("one"), store.names):
            with pytest.raises(StorageError, match=r"refused us s3://.* check AWS_ACCESS_KEY_ID") as refusal:
                ask()
            assert not isinstance(refusal.value, StorageAway)
    finally:
        object_server.allow_all(10**9)


def test_a_missing_bucket_is_said_at_once(bucket: str) -> None:
    store = open_objects("s3://not-there/main")
    for ask in (store.check, lambda: store.put("one", b"1"), lambda: store.get("one"), store.names):
        with pytest.raises(StorageError, match="there is no bucket 'not-there' at http://127.0.0.1"):
            ask()


def test_a_refused_connection_is_tried_again_and_then_said(
    bucket: str,
    soon: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(StorageAway, match=rf"http://127.0.0.1:{port} cannot be connected to"):
        open_objects(bucket).put("one", b"1")


def test_a_server_in_trouble_is_asked_again(gated_bucket: str, gate: Gate, soon: None) -> None:
    store = open_objects(gated_bucket)
    gate.refuse(2)
    store.put("one", b"1")
    assert len(gate.asked) == 3
    gate.refuse(2, status=500)
    assert store.get("one") == b"1"
    gate.refuse(100)
    with pytest.raises(StorageAway, match=r"one: http://127.0.0.1:\d+ answers 503 Service Unavailable; tried again"):
        store.put("one", b"1")
    gate.refuse(0)
    assert store.names() == ["one"]


@pytest.mark.parametrize("fault", [HALF, LOST, UNSAID])
def test_an_answer_that_breaks_off_is_asked_for_again(gated_bucket: str, gate: Gate, soon: None, fault: str) -> None:
    store = open_objects(gated_bucket)
    questions = (
        lambda: store.put("one", b"1"),
        lambda: store.get("one"),
        lambda: store.get_range("one", 0, 1),
        lambda: store.size("one"),
        store.names,
        lambda: store.remove("one"),
    )
    answers = []
    for ask in questions:
        faults = iter([fault, fault])
        gate.fault = lambda method, path, faults=faults: next(faults, None)
        answers.append(ask())
    assert answers == [None, b"1", b"1", 1, ["one"], None]
    assert store.names() == []


def test_answers_that_always_break_off_are_a_store_that_is_away(gated_bucket: str, gate: Gate, soon: None) -> None:
    gate.fault = lambda method, path: HALF
    with pytest.raises(StorageAway, match=r"breaks off its answers; tried again for 0\.3 s in vain"):
        open_objects(gated_bucket).names()


def test_a_silent_server_is_away(bucket: str, soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "REQUEST_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(StorageAway, match="does not answer in time"):
            open_objects(bucket).get("one")


def test_a_copy_of_a_process_that_used_the_store_says_so(
    bucket: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    script = """
import os, sys
from periplus.errors import StorageError
from periplus.storage import may_fork, open_objects
store = open_objects(sys.argv[1])
before = may_fork()
store.put("one", b"1")
print(before, may_fork(), flush=True)
if os.fork() == 0:
    try:
        store.get("one")
    except StorageError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    said = start(script, bucket).communicate(timeout=60)[0].splitlines()
    assert said[0] == "True False"
    assert "a copy of one that used s3://" in said[1]
