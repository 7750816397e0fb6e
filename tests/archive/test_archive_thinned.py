"""Thinned files: what stays keeps its place, what goes is gone, and others read the file as any other."""

from __future__ import annotations

import gzip
import json
import random
import warnings

import pytest
from archive_samples import exchange
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from periplus import archive
from periplus.archive import ArchiveWriter, KeptRecord, Revisit
from periplus.errors import Corrupt, NotFound, Truncated
from periplus.records import ArchiveLocation
from support.kills import killed_at


def write(folder, count, seed=1):
    """A file of one writer; the exchanges by their places. Every third one repeats an earlier one."""
    chance = random.Random(seed)
    written = {}
    with ArchiveWriter(folder) as writer:
        for number in range(count):
            body = chance.randbytes(chance.randrange(1, 3_000))
            one = exchange(url=f"http://a.test/{number}", payload=body, body=body, started=1e9 + number)
            earlier = None
            if written and number % 3 == 2:
                place = chance.choice([place for place in written if written[place].payload])
                one = exchange(url=f"http://a.test/{number}", payload=written[place].payload, started=1e9 + number)
                earlier = Revisit(written[place].url, written[place].started, place)
            written[writer.append(one, earlier)] = archive.read(folder, place) if earlier else one
    return {place: archive.read(folder, place) for place in written}


def held(path):
    with path.open("rb") as file:
        return list(archive.holdings(file))


def thin(path, offsets):
    kept = [kept for one in held(path) if one.offset in offsets for kept in one.members]
    with archive.closed_file(path) as file:
        return archive.thin(path, file, kept)


def only_file(folder):
    (path,) = folder.glob("*.warc.gz")
    return path


@given(st.integers(1, 25), st.integers(0, 10**6), st.lists(st.sets(st.integers(0, 24)), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_stays_keeps_its_place(tmp_path_factory, count, seed, rounds):
    folder = tmp_path_factory.mktemp("thinned")
    left = write(folder, count, seed)
    path = only_file(folder)
    size, names = path.stat().st_size, list(left)
    for goes in rounds:
        left = {place: one for number, place in enumerate(names) if number not in goes and (one := left.get(place))}
        targets = {earlier.offset for place in left for earlier in archive.references(folder, place)}
        left |= {place: archive.read(folder, place) for place in names if place.offset in targets}
        thin(path, {place.offset for place in left})
        assert {place: archive.read(folder, place) for place in left} == left
        for place in set(names) - set(left):
            with pytest.raises(NotFound):
                archive.read(folder, place)
        assert dict(archive.iterate(path)) == left
        assert archive.extent(path) == size
        assert [one.offset for one in held(path)] == sorted(place.offset for place in left)
        assert archive.repair(folder) == []


def test_others_read_a_thinned_file(tmp_path):
    places = list(write(tmp_path, 9))
    path = only_file(tmp_path)
    stays = [places[0], places[2], places[7]]
    thin(path, {place.offset for place in stays} | {one.offset for one in archive.references(tmp_path, places[2])})
    wanted = [url for _, one in archive.iterate(path) for url in (one.url,)]
    with path.open("rb") as file:
        found = [one.rec_headers for one in WarcioIterator(file, verify_http=False, check_digests="raise")]
    assert [one.get_header("WARC-Type") for one in found[:2]] == ["warcinfo", "metadata"]
    urls = [
        one.get_header("WARC-Target-URI") for one in found if one.get_header("WARC-Type") in ("response", "revisit")
    ]
    assert urls == wanted
    with warnings.catch_warnings():  # of what the reader is built on
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.warc import ArchiveIterator as FastIterator
    with path.open("rb") as file:
        assert sum(1 for _ in FastIterator(file)) == len(found)
    with gzip.open(path) as file:
        assert file.read().count(b"WARC/1.1\r\n") == len(found)
    assert archive.can_be_cut(path) in (True, False)  # read without an error
    assert sum(1 for one in archive.contents(path) if getattr(one, "url", "")) == len(wanted)


def test_a_listing_names_the_bytes_as_they_stand(tmp_path):
    places = list(write(tmp_path / "archive", 12))
    path = only_file(tmp_path / "archive")
    thin(path, {place.offset for place in places[4:] if not archive.references(tmp_path / "archive", place)})
    archive.write_listing(tmp_path / "archive", tmp_path / "index.cdxj")
    lines = [json.loads(line.split(" ", 2)[2]) for line in (tmp_path / "index.cdxj").read_text().splitlines()]
    assert lines
    data = path.read_bytes()
    for line in lines:
        member = data[int(line["offset"]) : int(line["offset"]) + int(line["length"])]
        assert f"WARC-Target-URI: {line['url']}\r\n".encode() in gzip.decompress(member)


def test_records_are_taken_down_in_a_thinned_file(tmp_path):
    places = list(write(tmp_path, 8))
    path = only_file(tmp_path)
    thin(path, {place.offset for place in places if not archive.references(tmp_path, place)} - {places[0].offset})
    url = archive.read(tmp_path, places[4]).url
    found = archive.places_of(tmp_path, url.__eq__)
    assert found[0].offset == places[4].offset
    archive.blank(tmp_path, [*found, ArchiveLocation(path.name, places[0].offset, places[0].length)])
    with pytest.raises(NotFound, match="taken down"):
        archive.read(tmp_path, places[4])
    assert archive.read(tmp_path, places[6]).url.endswith("/6")
    assert url.encode() not in gzip.decompress(path.read_bytes())
    assert places[4].offset not in [one.offset for one in held(path)]


def test_a_takedown_that_was_planned_before_is_carried_out_after(tmp_path, monkeypatch):
    places = list(write(tmp_path, 4))
    path = only_file(tmp_path)
    monkeypatch.setattr("periplus.archive.blanking._carry_out", lambda *_: None)
    archive.blank(tmp_path, archive.places_of(tmp_path, "http://a.test/3".__eq__))
    monkeypatch.undo()
    thin(path, {places[1].offset, places[3].offset})
    archive.repair(tmp_path)
    assert archive.read(tmp_path, places[1]).url == "http://a.test/1"
    with pytest.raises(NotFound, match="taken down"):
        archive.read(tmp_path, places[3])


def test_nobody_writes_to_a_thinned_file(tmp_path):
    places = list(write(tmp_path, 4))
    path = only_file(tmp_path)
    thin(path, {places[1].offset})
    with ArchiveWriter(tmp_path, settled=lambda: {path.name: path.stat().st_size}) as writer:
        assert writer.append(exchange()).file != path.name


def test_a_file_that_is_written_or_was_left_unfinished_is_not_thinned(tmp_path):
    writer = ArchiveWriter(tmp_path)
    writer.append(exchange())
    path = only_file(tmp_path)
    with archive.closed_file(path) as file:
        assert file is None
    writer.close()
    with archive.closed_file(path) as file:
        assert file is not None
    path.with_name(f"{path.name}.open").touch()
    with archive.closed_file(path) as file:
        assert file is None
    with archive.closed_file(tmp_path / "absent.warc.gz") as file:
        assert file is None


def test_files_are_gone_on_with_for_so_long_only(tmp_path, monkeypatch):
    now = 2e9
    monkeypatch.setattr("periplus.archive.writer.time.time", lambda: now)

    def append(writer):
        return writer.append(exchange()).file

    def sizes():
        return {path.name: path.stat().st_size for path in tmp_path.glob("*.warc.gz")}

    with ArchiveWriter(tmp_path, rotate_seconds=100, settled=sizes) as writer:
        first = append(writer)
        now += 99
        assert append(writer) == first
    with ArchiveWriter(tmp_path, rotate_seconds=100, settled=sizes) as writer:
        assert append(writer) == first
        now += 2
        second = append(writer)
        assert second != first
    now += 200
    with ArchiveWriter(tmp_path, rotate_seconds=100, settled=sizes) as writer:
        assert append(writer) not in (first, second)
    with ArchiveWriter(tmp_path, settled=sizes) as writer:
        assert append(writer) in sizes()


def test_a_file_of_which_nothing_stays_is_read_as_an_empty_one(tmp_path):
    places = list(write(tmp_path, 3))
    path = only_file(tmp_path)
    thin(path, set())
    assert list(archive.iterate(path)) == []
    assert list(archive.iterate(path, places[1].offset)) == []
    assert archive.repair(tmp_path) == []


def test_damage_is_told(tmp_path):
    places = list(write(tmp_path, 6))
    path = only_file(tmp_path)
    stays = {place.offset for place in places if not archive.references(tmp_path, place)}
    whole = thin(path, stays)
    data = path.read_bytes()
    path.write_bytes(data[: whole - 40])
    last = max(stays)
    assert archive.extent(path) > last  # its request was lost
    path.write_bytes(data[: whole - 2_000])
    assert archive.extent(path) <= last
    with pytest.raises((Truncated, Corrupt)):
        archive.read(tmp_path, ArchiveLocation(path.name, last, 0))
    at = data.index(b"\x1f\x8b", 20) + 40
    path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
    with pytest.raises(Corrupt, match="list of places"):
        archive.read(tmp_path, places[0])
    with pytest.raises(Corrupt, match="list of places"):
        list(archive.iterate(path))


def test_a_kill_at_any_change_leaves_the_file_before_or_after(tmp_path):
    before = write(tmp_path, 9)
    path = only_file(tmp_path)
    stays = {place: one for place, one in before.items() if not archive.references(tmp_path, place)}
    data = path.read_bytes()
    step, killed = 0, True
    while killed:
        step += 1
        path.write_bytes(data)
        killed = killed_at(step, lambda: thin(path, {place.offset for place in stays}))
        assert dict(archive.iterate(path)) in (before, stays)
        assert archive.repair(tmp_path) == []
    assert step > 2
    assert dict(archive.iterate(path)) == stays


def test_a_record_that_is_not_there_cannot_be_kept(tmp_path):
    write(tmp_path, 2)
    path = only_file(tmp_path)
    with archive.closed_file(path) as file, pytest.raises(Corrupt):
        archive.thin(path, file, [KeptRecord(10**9, 10)])
    assert len(list(archive.iterate(path))) == 2
