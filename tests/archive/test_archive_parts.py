"""Archive files that travel: cut with each commit, uploaded whole, read by ranges, and replaced by takedowns."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from archive.archive_samples import exchange
from periplus import addresses, archive
from periplus.archive import ArchivePart, ArchiveParts, ArchiveWriter, Revisit, parts
from periplus.errors import NotFound, StorageBusy
from periplus.storage import Database, Depot, LocalFiles, open_objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.records import ArchiveLocation


class Machine:
    """One that crawls: what it cuts becomes part of the archive."""

    def __init__(self, folder: Path, database: Database, store: str) -> None:
        self.folder = folder / "archive"
        self.database = database
        self.depot = Depot(LocalFiles(folder), open_objects(store))
        self.parts = ArchiveParts(database, self.depot)
        self.writer = ArchiveWriter(self.folder, part_of=folder.name)

    def add(self, *urls: str, hosts: bool = True) -> list[ArchiveLocation]:
        places = [self.writer.append(exchange(url=url, payload=url.encode() * 50)) for url in urls]
        self.publish({addresses.host_key(addresses.host(url)) for url in urls} if hosts else set())
        return places

    def publish(self, hosts: set[int]) -> None:
        self.writer.cut()
        for path in sorted(self.folder.glob("*.warc.gz")):
            if not self.parts.knows(path.name):
                part = ArchivePart(path.name, self.parts.push(path.name), 7, frozenset(hosts))
                with self.database.write() as tx:
                    archive.write_parts(tx, [part])
                    archive.write_parts(tx, [part])  # once
                self.writer.let_go(path.name)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[list[Machine]]:
    with Database.open(tmp_path / "state.db") as database:
        made = [Machine(tmp_path / name, database, f"file://{tmp_path}/store") for name in ("one", "two")]
        yield made
        for machine in made:
            machine.writer.close()


def test_files_that_are_no_part_of_the_archive_are_found_by_few_questions(
    machines: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machines[0]
    for number in range(5):
        one.add(f"http://a.test/{number}")
    known = sorted(path.name for path in one.folder.glob("*.warc.gz"))
    assert len(known) == 5
    names = ["a.warc.gz", *known[:3], "b.warc.gz", *known[3:], "c.warc.gz"]
    for together in (1, 2, 3, 100):
        monkeypatch.setattr(parts, "LOOKED_UP", together)
        assert one.parts.unknown(names) == ["a.warc.gz", "b.warc.gz", "c.warc.gz"]
    assert one.parts.unknown([]) == []


def wanted(url: str) -> bool:
    return url.startswith("http://a.test/secret")


def test_each_cut_begins_a_file_of_its_own_and_other_files_go_on(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path / "parts", part_of="w1-ab") as writer:
        first = writer.append(exchange())
        again = writer.append(exchange())
        writer.cut()
        writer.cut()
        second = writer.append(exchange())
    assert first.file == again.file != second.file
    assert all("-w1-ab-" in place.file for place in (first, second))
    with ArchiveWriter(tmp_path / "whole") as writer:
        first = writer.append(exchange())
        writer.cut()
        assert writer.append(exchange()).file == first.file


def test_a_part_is_locked_and_marked_until_it_is_let_go(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path, part_of="one") as writer:
        name = writer.append(exchange()).file
        writer.cut()
        marker = tmp_path / f"{name}.open"
        assert marker.exists()
        with (tmp_path / name).open("ab") as file:
            file.write(b"torn")
        assert archive.repair_file(tmp_path / name) is None  # it is somebody's
        writer.let_go(name)
        assert not marker.exists()
        writer.let_go(name)
    assert archive.repair_file(tmp_path / name).removed == 4


def test_a_large_part_is_ended_and_stays_locked_too(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path, rotate_bytes=1, part_of="one") as writer:
        names = [writer.append(exchange()).file for _ in range(3)]
        assert len(set(names)) == 3
        assert all((tmp_path / f"{name}.open").exists() for name in names)


def test_records_are_read_on_another_machine_by_ranges_or_from_a_copy(machines: list[Machine]) -> None:
    one, two = machines
    urls = [f"http://a.test/{number}" for number in range(5)]
    places = one.add(*urls)
    for url, place in zip(urls, places, strict=True):
        found = archive.read(two.parts, place)
        assert (found.url, found.payload) == (url, url.encode() * 50)
        assert found.request_headers
    assert not two.folder.exists()
    whole = two.parts.path(places[0].file)
    assert [place for place, _ in archive.iterate(whole)] == places
    two.depot.objects.remove(f"archive/{places[0].file}")
    assert archive.read(two.parts, places[3]).url == urls[3]  # of the copy
    with pytest.raises(NotFound):
        two.parts.opened("periplus-none.warc.gz")


def test_a_repetition_is_read_with_the_payload_of_another_part(machines: list[Machine]) -> None:
    one, two = machines
    (first,) = one.add("http://a.test/")
    later = two.writer.append(
        exchange(url="http://a.test/", payload=b"http://a.test/" * 50), Revisit("http://a.test/", 1.0, first)
    )
    two.publish(set())
    assert archive.read(one.parts, later).payload == b"http://a.test/" * 50
    path = one.parts.path(later.file)
    assert [found.payload for _, found in archive.iterate(path, others=one.parts)] == [b"http://a.test/" * 50]


def test_what_is_not_settled_is_known_by_its_worker(machines: list[Machine]) -> None:
    one, _ = machines
    first, second = one.add("http://a.test/1", "http://a.test/2")
    assert one.parts.unsettled() == one.parts.unsettled([6, 7]) == [(first.file, 0)]
    assert one.parts.unsettled([8]) == one.parts.unsettled([]) == []
    with one.database.write() as tx:
        archive.settle_parts(tx, {first.file: second.offset})
    assert one.parts.unsettled() == [(first.file, second.offset)]
    with one.database.write() as tx:
        archive.settle_all(tx)
    assert one.parts.unsettled() == []


def test_a_takedown_replaces_the_objects_that_hold_it_and_no_others(machines: list[Machine]) -> None:
    one, two = machines
    secret, other = one.add("http://a.test/secret", "http://a.test/other")
    (foreign,) = two.add("http://b.test/")
    (unknown,) = two.add("http://a.test/secret/2", hosts=False)  # of a file whose hosts are not known
    stored = {part.name: part.stored for part in one.parts.parts()}
    one.parts.path(unknown.file)
    before = {place: archive.read(one.parts, place) for place in (other, foreign)}
    hosts = {addresses.host_key("a.test")}
    found = two.parts.blank(wanted, hosts)
    assert {place.file for place in found} == {secret.file, unknown.file}
    assert len(found) == 4  # each with its request
    for machine in machines:
        for place in (secret, unknown):
            with pytest.raises(NotFound, match="taken down"):
                archive.read(machine.parts, place)
        assert {place: archive.read(machine.parts, place) for place in before} == before
    names = set(one.depot.objects.names())
    assert stored[foreign.file].name in names
    assert not {stored[secret.file].name, stored[unknown.file].name} & names
    assert len(names) == 3
    assert b"secret" not in b"".join(gzip.decompress(one.depot.objects.get(name)) for name in names)
    assert {part.name: part.stored.bytes for part in one.parts.parts()} == {
        name: one.bytes for name, one in stored.items()
    }
    assert two.parts.blank(wanted, hosts) == []
    notes = [name for name in two.depot.files.names(".depot/") if not name.startswith(".depot/locks/")]
    assert all(name.startswith(".depot/archive/") for name in notes)  # nothing of the work is left


def test_of_two_takedowns_of_one_file_the_later_begins_again(
    machines: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = machines
    one.add("http://a.test/secret", "http://a.test/secret/2")
    hosts = {addresses.host_key("a.test")}
    overwrite = parts.overwrite
    with monkeypatch.context() as racing:

        def late(*arguments: object) -> None:
            racing.setattr(parts, "overwrite", overwrite)
            two.parts.blank(lambda url: url.endswith("/2"), hosts)
            overwrite(*arguments)

        racing.setattr(parts, "overwrite", late)
        with pytest.raises(StorageBusy, match="another process changed"):
            one.parts.blank(lambda url: url.endswith("/secret"), hosts)
    assert len(one.depot.objects.names()) == 1
    assert len(one.parts.blank(wanted, hosts)) == 2
    assert two.parts.blank(wanted, hosts) == []


def test_a_takedown_that_dies_is_finished_by_the_next(machines: list[Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = machines
    one.add("http://a.test/secret")
    with monkeypatch.context() as dying:
        dying.setattr(parts, "remove_retired", lambda *_, **__: None)
        one.parts.blank(wanted, {addresses.host_key("a.test")})
    assert len(one.depot.objects.names()) == 2
    two.parts.blank(wanted, {addresses.host_key("a.test")})
    assert len(one.depot.objects.names()) == 1
