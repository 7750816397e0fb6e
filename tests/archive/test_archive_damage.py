"""Torn tails, full disks, flipped bits and others' damaged files: whole records stay, the rest is refused clearly."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from archive_samples import exchange
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.archive import ArchiveWriter, iterate, read, repair, write_again
from periplus.errors import Corrupt, PeriplusError, StorageError, StorageFull, Truncated


def sample(number: int):
    return exchange(url=f"http://example.org/{number}", headers=(), request_headers=(), payload=b"tides", body=b"tides")


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, list]:
    with ArchiveWriter(tmp_path / "whole") as writer:
        places = [writer.append(sample(number)) for number in range(3)]
    return tmp_path / "whole" / places[0].file, places


def member_ends(data: bytes) -> list[int]:
    ends, at = [], 0
    while at < len(data):
        decoder = zlib.decompressobj(31)
        decoder.decompress(data[at:])
        at = len(data) - len(decoder.unused_data)
        ends.append(at)
    return ends


def test_cut_at_every_byte_and_repaired(small, tmp_path: Path, monkeypatch) -> None:
    path, places = small
    data = path.read_bytes()
    ends = member_ends(data)
    torn = tmp_path / "torn" / path.name
    torn.parent.mkdir()
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # thousands of them would only test the disk
    for size in range(len(data)):
        torn.write_bytes(data[:size])
        kept = max([end for end in ends if end <= size], default=0)
        found = repair(torn.parent)
        assert [(item.kept, item.removed) for item in found] == ([] if size and kept == size else [(kept, size - kept)])
        assert (torn.read_bytes() if torn.exists() else b"") == data[:kept]
        if kept:
            urls = [item.url for _, item in iterate(torn)]
            assert urls == [
                f"http://example.org/{n}" for n, place in enumerate(places) if place.offset + place.length <= kept
            ]


def test_a_cut_record_is_truncated_and_a_flipped_bit_is_corrupt(small, tmp_path: Path) -> None:
    path, places = small
    data = path.read_bytes()
    last = places[-1]
    for size in range(last.offset + 1, last.offset + last.length, 7):
        path.write_bytes(data[:size])
        with pytest.raises(Truncated):
            read(path.parent, last)
    for at in range(last.offset, last.offset + last.length):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            found = read(path.parent, last)
        except Corrupt:
            continue
        assert found == sample(2)  # a bit that carries nothing: operating system, time


def test_digests_are_checked_behind_the_checksum(small) -> None:
    path, places = small
    data = path.read_bytes()
    place = places[0]
    record = gzip.decompress(data[place.offset : place.offset + place.length])
    forged = gzip.compress(record.replace(b"tides", b"tiles"), mtime=0)
    path.write_bytes(data[: place.offset] + forged)
    with pytest.raises(Corrupt, match="digest"):
        next(iterate(path, place.offset))


def test_damage_keeps_what_stands_before_it(small) -> None:
    path, places = small
    data = path.read_bytes()
    path.write_bytes(data[: places[2].offset + 40])
    found = iterate(path)
    assert [next(found)[1].url, next(found)[1].url] == ["http://example.org/0", "http://example.org/1"]
    with pytest.raises(Truncated, match=str(places[2].offset)):
        next(found)


def test_repair_leaves_a_file_in_use_alone(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path) as writer:
        place = writer.append(exchange())
        path = tmp_path / place.file
        with path.open("ab") as file:
            file.write(b"\x1f\x8b half")
        size = path.stat().st_size
        assert repair(tmp_path) == []
        assert path.stat().st_size == size
    [found] = repair(tmp_path)
    assert (found.file, found.removed) == (place.file, 7)
    assert read(tmp_path, place) == exchange()


def test_repair_of_nothing(tmp_path: Path) -> None:
    assert repair(tmp_path) == []
    assert repair(tmp_path / "absent") == []


WRITE_FOREVER = """
import sys
from periplus.archive import ArchiveWriter
from archive_samples import exchange
writer = ArchiveWriter(sys.argv[1])
for number in range(10**9):
    place = writer.append(exchange(url=f"http://example.org/{number}"))
    if number % 10 == 9:
        writer.flush()
        print(number, place.file, flush=True)
"""


def test_killed_writer_loses_nothing_flushed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_FOREVER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for _ in range(5):
            line = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    number, name = line.split()
    repair(tmp_path)
    urls = [item.url for _, item in iterate(tmp_path / name)]
    assert urls[: int(number) + 1] == [f"http://example.org/{n}" for n in range(int(number) + 1)]
    assert repair(tmp_path) == []
    assert list(tmp_path.glob("*.open")) == []


def test_full_disk_keeps_whole_records_and_the_writer_goes_on(tmp_path: Path, monkeypatch) -> None:
    writer = ArchiveWriter(tmp_path)
    first = writer.append(exchange())
    whole = (tmp_path / first.file).stat().st_size
    real = os.write

    def half_then_full(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return real(descriptor, data[:100])
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "write", half_then_full)
    with pytest.raises(StorageFull, match="make room"):
        writer.append(exchange())
    monkeypatch.undo()
    assert (tmp_path / first.file).stat().st_size == whole
    second = writer.append(exchange(url="http://example.org/2"))
    writer.close()
    assert [item.url for _, item in iterate(tmp_path / first.file)] == [
        "http://example.org/a?b=c",
        "http://example.org/2",
    ]
    assert read(tmp_path, second).url == "http://example.org/2"


def test_full_disk_at_the_first_record_leaves_no_file(tmp_path: Path, monkeypatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space")

    writer = ArchiveWriter(tmp_path)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageFull):
        writer.append(exchange())
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    assert read(tmp_path, writer.append(exchange())) == exchange()
    writer.close()


def broken(*_: object) -> None:
    raise OSError(errno.EIO, "broken disk")


def test_a_file_that_could_not_be_synced_is_given_up(tmp_path: Path, monkeypatch) -> None:
    """No later sync vouches for it, what was safe before stays, and the next record begins another file."""
    writer = ArchiveWriter(tmp_path)
    first = writer.append(exchange())
    writer.flush()
    second = writer.append(exchange())

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match="broken disk"):
        writer.flush()
    monkeypatch.undo()
    with pytest.raises(StorageError, match="could not be flushed"):
        writer.sync(first.file)
    third = writer.append(exchange())
    writer.close()
    assert [place for place, _ in iterate(tmp_path / first.file)] == [first, second]
    assert third.file != first.file
    assert [path.name for path in tmp_path.glob("*.open")] == [f"{first.file}.open"]


def test_a_close_that_fails_keeps_what_was_synced_from_elsewhere(tmp_path: Path, monkeypatch) -> None:
    writer = ArchiveWriter(tmp_path)
    first = writer.append(exchange())
    writer.sync(first.file)
    writer.append(exchange())
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match="broken disk"):
        writer.close()
    monkeypatch.undo()
    assert read(tmp_path, first) == exchange()
    assert list(tmp_path.glob("*.open"))
    writer.close()


def test_nothing_is_synced_twice(tmp_path: Path, monkeypatch) -> None:
    writer = ArchiveWriter(tmp_path)
    place = writer.append(exchange())
    writer.sync(place.file)
    monkeypatch.setattr(os, "fsync", broken)
    writer.sync(place.file)
    writer.close()
    assert read(tmp_path, place) == exchange()


def test_a_file_that_cannot_be_cut_back_is_left_to_repair(tmp_path: Path, monkeypatch) -> None:
    writer = ArchiveWriter(tmp_path)
    first = writer.append(exchange())
    real, begun = os.write, []

    def torn(descriptor: int, data: bytes) -> int:
        if begun:
            broken()
        begun.append(descriptor)
        return real(descriptor, data[:10])

    monkeypatch.setattr(os, "ftruncate", broken)
    monkeypatch.setattr(os, "write", torn)
    with pytest.raises(StorageError, match="broken disk"):
        writer.append(exchange())
    monkeypatch.undo()
    second = writer.append(exchange())
    writer.close()
    assert second.file != first.file
    assert [found.file for found in repair(tmp_path)] == [first.file]
    assert [place for place, _ in iterate(tmp_path / first.file)] == [first]


def test_a_second_file_that_cannot_be_begun_is_not_made_as_long_as_the_first(tmp_path: Path, monkeypatch) -> None:
    with ArchiveWriter(tmp_path) as writer:
        first = writer.append(exchange())
    size = (tmp_path / first.file).stat().st_size
    writer = ArchiveWriter(tmp_path, rotate_bytes=size + 1, settled=lambda: {first.file: size})
    assert writer.append(exchange()).file == first.file
    monkeypatch.setattr(Path, "touch", broken)
    with pytest.raises(StorageError, match="broken disk"):
        writer.append(exchange())
    assert [path.name for path in tmp_path.iterdir()] == [first.file]


def test_what_is_written_again_is_as_it_was(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[write_again.__module__], "PIECE", 100)
    with ArchiveWriter(tmp_path) as writer:
        place = writer.append(exchange())
    path = tmp_path / place.file
    before = path.read_bytes()
    write_again(path, place.offset)
    assert path.read_bytes() == before
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match="broken disk"):
        write_again(path, place.offset)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        ArchiveWriter(tmp_path / "file" / "archive").append(exchange())


@pytest.mark.shared_data
def test_others_files_are_read_or_refused_clearly(shared_data: Path) -> None:
    outcome = {}
    for path in sorted((shared_data / "warc").iterdir()):
        count = 0
        try:
            for _, item in iterate(path):
                count += 1
                assert item.url.startswith("http")
                assert item.status
            outcome[path.name] = str(count)
        except PeriplusError as error:
            one_line = str(error).startswith(f"{path} at ") and "\n" not in str(error)
            outcome[path.name] = f"{count} {type(error).__name__}" if one_line else str(error)
    expected = {
        "example.warc": "2",
        "example.warc.gz": "2",
        "post-test.warc.gz": "3",
        "pywb-iana.warc.gz": "171",
        "example-iana.org-chunked.warc": "1",
        "example.arc": "0 Incompatible",
        "example-bad-non-chunked.warc.gz": "0 Incompatible",
        "example-trunc.warc": "0 Corrupt",
        "example-wrong-chunks.warc.gz": "0 Truncated",
    }
    assert {name: outcome[name] for name in expected} == expected


@pytest.mark.shared_data
def test_chunks_of_others_files_are_removed(shared_data: Path) -> None:
    [(_, found)] = iterate(shared_data / "warc" / "example-iana.org-chunked.warc")
    assert found.body.lstrip().lower().startswith(b"<!doctype html")
    assert found.body.rstrip().endswith(b"</html>")


@pytest.mark.shared_data
def test_requests_before_their_response_are_joined_too(shared_data: Path) -> None:
    found = [item for _, item in iterate(shared_data / "warc" / "post-test.warc.gz")]
    assert [item.method for item in found] == ["POST"] * 3
    assert all(item.request_headers for item in found)


@pytest.mark.parametrize("content", [b"", b"\r\n\r\n"])
def test_an_empty_file_has_no_records(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty.warc").write_bytes(content)
    assert list(iterate(tmp_path / "empty.warc")) == []


@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        b"WARC",
        b"WARC/1.1\r\nno colon\r\n\r\n",
        b"WARC/1.1\r\nWARC-Type: response\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: -5\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: 99\r\n\r\nshort",
        b"WARC/1.1\r\n" + b"X: y\r\n" * 20_000,
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00junkjunkjunk",
        gzip.compress(b"not a record", mtime=0),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.warc"
    path.write_bytes(content)
    with pytest.raises(Corrupt):
        list(iterate(path))


PLAIN = (
    b"WARC/1.0\nWARC-Type: request\nWARC-Record-ID: <a>\nWARC-Target-URI: http://example.org/\n"
    b"Content-Type: application/http\nContent-Length: 18\n\nGET / HTTP/1.1\r\n\r\n\r\n\r\n"
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <b>\r\nWARC-Concurrent-To: <a>\r\nWARC-Target-URI:\r\n"
    b" http://example.org/\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: 74\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\ntides\r\n3;x=y\r\n go\r\n0\r\n\r\n\r\n\r\n"
)


def test_others_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "plain.warc"
    path.write_bytes(PLAIN)
    [(place, found)] = iterate(path)
    assert (found.url, found.method, found.body, found.started) == (
        "http://example.org/",
        "GET",
        b"tides go",
        1577836800,
    )
    assert read(tmp_path, place).body == b"tides go"


@given(data=st.data(), packed=st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_either_read_or_refused(tmp_path: Path, data, packed: bool) -> None:
    content = bytearray(gzip.compress(PLAIN[:158]) + gzip.compress(PLAIN[158:]) if packed else PLAIN)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path / "damaged.warc"
    path.write_bytes(content)
    with suppress(PeriplusError):
        assert all(item.url for _, item in iterate(path))
