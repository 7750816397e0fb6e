"""Generations that many machines share: rows that a lease fences, and objects that rows name."""

from __future__ import annotations

import threading

import pytest

from periplus.errors import LeaseLost, NotFound, StorageBusy
from periplus.storage import Catalogs, Depot, Leases, LocalFiles, kept_lease, kept_leases, open_objects
from periplus.storage import catalog as catalog_module


class Machine:
    """A folder of its own, the database and the object store of all."""

    def __init__(self, folder, objects, database, grace=catalog_module.GRACE):
        self.files = LocalFiles(folder)
        self.catalogs = Catalogs(database, Depot(self.files, objects), grace)
        self.index = self.catalogs.index

    def write(self, name, text):
        self.files.write(f"index/{name}", text.encode())

    def read(self, name):
        return self.files.read(f"index/{name}").decode()

    def publish(self, number, *names):
        with self.index.writing():
            self.index.publish(number, f"manifest {number}".encode(), names)


@pytest.fixture
def objects(tmp_path):
    return open_objects(f"file://{tmp_path}/objects")


@pytest.fixture
def machine(tmp_path, objects, database):
    return lambda name, database=database, grace=catalog_module.GRACE: Machine(
        tmp_path / name, objects, database, grace
    )


@pytest.fixture
def a(machine):
    return machine("a")


@pytest.fixture
def b(machine, other):
    return machine("b", other)


def test_what_one_machine_publishes_another_sees_and_pulls(a, b):
    assert b.index.current() is None
    assert b.index.newest() == 0
    a.write("one", "first")
    a.write("two", "second")
    a.publish(1, "one", "two")

    entry = b.index.current()
    assert (entry.number, entry.manifest, sorted(entry.files)) == (1, b"manifest 1", ["one", "two"])
    assert b.index.newest() == 1
    b.index.pull(entry, lambda name: name == "one")

    assert b.read("one") == "first"
    assert not b.files.exists("index/two")
    assert b.index.is_here(entry, lambda name: name == "one")
    assert not b.index.is_here(entry, lambda name: True)


def test_files_that_are_published_already_are_not_uploaded_again(a, b, objects):
    a.write("one", "first")
    a.publish(1, "one")
    uploaded = objects.names()
    b.index.pull(b.index.current())
    b.write("two", "second")
    b.publish(2, "one", "two")

    entry = a.index.current()
    assert entry.number == 2
    assert set(uploaded) < set(objects.names())
    assert len(objects.names()) == 2
    a.index.pull(entry)
    assert a.read("two") == "second"


def test_a_second_writer_is_refused_in_one_line(a, b):
    with a.index.writing(), pytest.raises(StorageBusy, match="is writing the index of this collection") as refused:
        b.index.writing().__enter__()

    assert "\n" not in str(refused.value)
    with b.index.writing():
        pass


def test_a_second_one_who_indexes_is_refused(a, b):
    message = r"another process is indexing or ranking this collection \(.*, process \d+\); wait for it or stop it"
    with a.catalogs.alone("indexing or ranking"), pytest.raises(StorageBusy, match=message):
        b.catalogs.alone("indexing or ranking").__enter__()


def test_a_writer_waits_for_the_publication_of_a_merge(a, b, monkeypatch):
    monkeypatch.setattr(kept_leases, "POLL", 0.01)
    asked = threading.Event()
    order = []

    def write():
        asked.set()
        with b.index.writing():
            order.append("written")

    with a.index.publishing():
        thread = threading.Thread(target=write)
        thread.start()
        asked.wait()
        order.append("merged")
    thread.join()

    assert order == ["merged", "written"]


def test_a_writer_does_not_wait_for_a_merge_for_ever(a, b, monkeypatch):
    monkeypatch.setattr(catalog_module, "PUBLISHING_TIME", 0.0)
    with a.index.publishing(), pytest.raises(StorageBusy, match="publishing a merge in this collection"):
        b.index.writing().__enter__()


def test_one_merger_at_a_time(a, b):
    with a.index.merging() as first, b.index.merging() as second:
        assert (first, second) == (True, False)
    with b.index.merging() as again:
        assert again


def test_a_writer_whose_lease_was_taken_cannot_publish(a, b, database):
    """As after a freeze: its lease expired, another took it, and it goes on where it was."""
    with a.index.writing():
        a.write("one", "late")
        known = next(lease for lease in Leases(database).held() if lease.name == "index.writer")
        taken = Leases(database).take_over(known, "b", 60, dead=True)
        assert taken is not None

        with pytest.raises(LeaseLost):
            a.index.publish(1, b"manifest", ["one"])
    assert b.index.current() is None


def test_whoever_lost_the_right_to_index_cannot_publish(a, database):
    with a.catalogs.alone("indexing or ranking"), a.index.writing():
        known = next(lease for lease in Leases(database).held() if lease.name == "building")
        Leases(database).take_over(known, "b", 60, dead=True)
        a.write("one", "late")
        with pytest.raises(LeaseLost):
            a.index.publish(1, b"manifest", ["one"])
    assert a.index.newest() == 0


def test_nobody_publishes_without_a_lease_or_an_older_number(a):
    a.write("one", "first")
    with pytest.raises(LeaseLost, match="take its lease"):
        a.index.publish(1, b"manifest", ["one"])
    a.publish(2, "one")
    with pytest.raises(LeaseLost, match="generation 2 of the index was published meanwhile"):
        a.publish(2, "one")


def test_objects_stay_for_the_grace_and_while_they_are_held(machine, objects):
    a, b = machine("a", grace=-1.0), machine("b")
    a.write("old", "first")
    a.publish(1, "old")
    entry = b.index.current()
    with b.index._holding(1):
        a.write("new", "second")
        a.publish(2, "new")
        with a.index.writing():
            assert a.index.sweep() == []
        b.index.pull(entry)
    patient = machine("c")
    with patient.index.writing():
        assert patient.index.sweep() == []  # half an hour has not passed
    with a.index.writing():
        assert a.index.sweep() == [entry.files["old"].name]

    assert b.read("old") == "first"
    assert len(objects.names()) == 1
    with pytest.raises(NotFound, match="generation 1 of the index is no longer kept"):
        machine("d").index.pull(entry)


def test_objects_that_a_newer_generation_has_too_stay(machine):
    a = machine("a", grace=-1.0)
    a.write("both", "x")
    a.write("old", "y")
    a.publish(1, "both", "old")
    a.publish(2, "both")
    with a.index.writing():
        assert [name.rpartition("/")[2] for name in a.index.sweep()] == ["old"]
    b = machine("b")
    b.index.pull(b.index.current())
    assert b.read("both") == "x"


def test_what_a_writer_left_is_swept_by_the_next(a, b, objects):
    a.write("one", "first")
    a.write("two", "lost")
    with a.index.writing():
        a.index.publish(1, b"manifest", ["one"])
        a.index._depot.push("index/two", f"{a.index._uploads}/two")
        assert b.index.current().number == 1
        assert a.index.sweep_leftovers() == []  # may still be published
    with b.index.writing():
        assert [name.rpartition("/")[2] for name in b.index.sweep_leftovers()] == ["two"]
    assert len(objects.names()) == 1


def test_what_a_merge_uploads_stays_until_another_merges(a, b, objects):
    a.write("merging/x", "merged")
    with a.index.merging():
        a.index.stage("merging/x", "segments/x")
        with b.index.writing():
            assert b.index.sweep_leftovers() == []
        with a.index.publishing():
            a.index.publish(1, b"manifest", ["segments/x"])
    b.index.pull(b.index.current())
    assert b.read("segments/x") == "merged"
    assert len(objects.names()) == 1


def test_a_lease_is_kept_up_while_the_work_lasts(database, other, monkeypatch):
    monkeypatch.setattr(kept_leases, "POLL", 0.01)
    renewed = threading.Event()
    renew = Leases.renew

    def noticed(self, lease, seconds=None):
        found = renew(self, lease, seconds)
        renewed.set()
        return found

    monkeypatch.setattr(Leases, "renew", noticed)
    with kept_lease(database, "long", "working on", seconds=0.4) as lease:
        first = lease._lease.expires
        renewed.wait(20)
        assert lease._lease.expires > first
        with other.write() as tx:
            lease.check(tx)


def test_the_lease_of_a_dead_process_of_this_machine_is_taken_at_once(address, database, start):
    script = """
import os, sys
from periplus.storage import Database, kept_lease
database = Database.open(sys.argv[1])
lease = kept_lease(database, "work", "working on")
lease.__enter__()
print("held", flush=True)
sys.stdin.read()
"""
    process = start(script, address)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(StorageBusy, match="another process is working on this collection"):
        kept_lease(database, "work", "resting in").__enter__()
    process.kill()
    process.wait()

    with kept_lease(database, "work", "resting in") as lease:
        assert lease.token == 2
