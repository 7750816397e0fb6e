"""What is appended is read back, by place and in order, by us and by others' readers."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard
from archive_samples import exchange
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from periplus.archive import ArchiveWriter, Revisit, iterate, read
from periplus.errors import Corrupt, NotFound, Truncated
from periplus.records import ArchiveLocation

TOKEN = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789", min_size=1, max_size=12).map(
    lambda name: "X" + name
)
VALUE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Zs"]), max_size=20)
HEADERS = st.lists(st.tuples(TOKEN, VALUE), max_size=4).map(tuple)


def write(folder: Path, *exchanges, **options) -> list[ArchiveLocation]:
    with ArchiveWriter(folder, **options) as writer:
        return [writer.append(item) for item in exchanges]


@given(
    payload=st.binary(max_size=300),
    headers=HEADERS,
    request_headers=HEADERS,
    framing=st.sampled_from([(), (("Transfer-Encoding", "chunked"),), (("content-length", "7"),)]),
    status=st.integers(200, 299),
    reason=st.sampled_from(["", "OK", "Not What You Think"]),
    started=st.integers(0, 4_000_000_000_000_000).map(lambda micros: micros / 1e6),
    elapsed=st.integers(0, 100_000).map(lambda millis: millis / 1000),
    truncated=st.sampled_from(["", "length", "time", "disconnect"]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_exchange_comes_back(tmp_path: Path, payload, headers, framing, started, **parts) -> None:
    sent = exchange(payload=payload, body=payload, headers=(*headers, *framing), started=started, **parts)
    [location] = write(tmp_path, sent)
    found = read(tmp_path, location)
    assert abs(found.started - started) < 2e-6
    assert found == exchange(
        payload=payload, body=payload, headers=(*headers, *framing), started=found.started, **parts
    )
    assert list(iterate(tmp_path / location.file)) == [(location, found)]


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
        ("identity", bytes),
        ("unheard-of", bytes),
    ],
)
def test_content_encoding_is_undone_in_the_body_only(tmp_path: Path, name, pack) -> None:
    body = b"<p>tides and currents</p>" * 400
    sent = exchange(payload=pack(body), body=body, headers=(("Content-Encoding", name),))
    [location] = write(tmp_path, sent)
    assert read(tmp_path, location) == sent


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_cut_at_the_bound(tmp_path: Path, name) -> None:
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstandard.compress}[name]
    sent = exchange(payload=pack(bytes(20_000_000)), headers=(("Content-Encoding", name),))
    [location] = write(tmp_path, sent)
    found = read(tmp_path, location, max_unpacked=1_000_000)
    assert (len(found.body), found.truncated) == (1_000_000, "length")


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_not_encoded_after_all_is_given_as_it_is(tmp_path: Path, name) -> None:
    sent = exchange(payload=b"\xff plain", headers=(("Content-Encoding", name),))
    [location] = write(tmp_path, sent)
    assert read(tmp_path, location).body == b"\xff plain"


def test_a_body_cut_short_gives_what_there_is(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(range(256)) * 400)
    sent = exchange(payload=packed[: len(packed) // 2], headers=(("Content-Encoding", "gzip"),), truncated="length")
    [location] = write(tmp_path, sent)
    found = read(tmp_path, location)
    assert found.truncated == "length"
    assert found.body
    assert (bytes(range(256)) * 400).startswith(found.body)


def test_line_breaks_in_headers_cannot_forge_records(tmp_path: Path) -> None:
    sent = exchange(headers=(("X-A", "b\r\n\r\nWARC/1.1\r\nWARC-Type: response"), ("X-C\r\nD", "e")), ip="::1\r\nX: y")
    [location] = write(tmp_path, sent)
    found = read(tmp_path, location)
    assert [name for name, _ in found.headers] == ["X-A", "X-C D"]
    assert len(list(iterate(tmp_path / location.file))) == 1


def revisits(folder: Path) -> tuple[ArchiveLocation, ArchiveLocation, ArchiveLocation]:
    with ArchiveWriter(folder) as writer:
        first = writer.append(exchange())
        again = writer.append(
            exchange(started=1_800_000_000.5), Revisit("http://example.org/a?b=c", 1_700_000_000.0, first)
        )
        unchanged = writer.append(
            exchange(status=304, reason="Not Modified", headers=(("ETag", '"x"'),), payload=b"", body=b"")
        )
    return first, again, unchanged


def test_a_revisit_of_the_same_payload_is_small_and_read_with_that_payload(tmp_path: Path) -> None:
    first, again, _ = revisits(tmp_path)
    assert again.length < first.length + 100
    assert read(tmp_path, again) == exchange(started=1_800_000_000.5)


def test_iterating_gives_a_repeated_payload_where_it_is_at_hand(tmp_path: Path) -> None:
    first, again, _ = revisits(tmp_path)
    found = dict(iterate(tmp_path / first.file))
    assert found[again] == exchange(started=1_800_000_000.5)
    with ArchiveWriter(tmp_path / "other") as writer:
        alone = writer.append(exchange(), Revisit(location=ArchiveLocation("absent.warc.gz", 0, 1)))
    [(_, lonely)] = iterate(tmp_path / "other" / alone.file)
    assert (lonely.payload, lonely.truncated) == (b"", "unspecified")
    with pytest.raises(NotFound):
        read(tmp_path / "other", alone)


def test_not_modified_has_no_payload(tmp_path: Path) -> None:
    *_, unchanged = revisits(tmp_path)
    assert (read(tmp_path, unchanged).status, read(tmp_path, unchanged).payload) == (304, b"")


def test_records_carry_what_the_standard_asks(tmp_path: Path) -> None:
    first, *_ = revisits(tmp_path)
    with (tmp_path / first.file).open("rb") as file:
        records = [(item.rec_type, item.rec_headers, item.http_headers) for item in ArchiveIterator(file)]
    assert [kind for kind, *_ in records] == ["warcinfo", *["response", "request"], *["revisit", "request"] * 2]
    _, response, http = records[1]
    assert response["WARC-IP-Address"] == "127.0.0.1"
    assert response["WARC-Date"] == "2023-11-14T22:13:20.000000Z"
    assert response["WARC-Payload-Digest"].startswith("sha1:")
    assert response["WARC-Block-Digest"].startswith("sha1:")
    assert http["Content-Length"] == str(len(exchange().payload))
    assert http["Transfer-Encoding"] is None
    assert records[2][1]["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    same, not_modified = records[3][1], records[5][1]
    assert same["WARC-Profile"].endswith("/revisit/identical-payload-digest")
    assert same["WARC-Payload-Digest"] == response["WARC-Payload-Digest"]
    assert same["WARC-Refers-To-Target-URI"] == "http://example.org/a?b=c"
    assert not_modified["WARC-Profile"].endswith("/revisit/server-not-modified")


def test_others_accept_the_file(tmp_path: Path) -> None:
    first, *_ = revisits(tmp_path)
    path = tmp_path / first.file
    checker = Path(sys.executable).with_name("warcio")
    checked = subprocess.run([checker, "check", "-v", path], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "fail" not in checked.stdout
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised by the package itself as it loads
        from fastwarc.warc import ArchiveIterator as FastIterator
    with path.open("rb") as file:
        fast = [
            (item.headers["WARC-Type"], item.verify_block_digest(consume=False))
            for item in FastIterator(file, parse_http=False)
        ]
    assert [name for name, _ in fast] == ["warcinfo", "response", "request", "revisit", "request", "revisit", "request"]
    assert all(good for _, good in fast)


def test_each_record_is_a_gzip_member_of_its_own(tmp_path: Path) -> None:
    first, *_ = revisits(tmp_path)
    data = (tmp_path / first.file).read_bytes()
    assert gzip.decompress(data[first.offset : first.offset + first.length]).startswith(b"WARC/1.1\r\n")


@pytest.mark.parametrize("size", [100, 2047, 2048, 65_535, 70_000, 300_000])
def test_a_body_that_came_packed_is_stored_as_it_came(tmp_path: Path, size: int) -> None:
    payload = gzip.compress(random.Random(size).randbytes(size), 9)
    sent = exchange(payload=payload, body=gzip.decompress(payload), headers=(("Content-Encoding", "gzip"),))
    location, other = write(tmp_path, sent, exchange())
    data = (tmp_path / location.file).read_bytes()
    member = data[location.offset : location.offset + location.length]
    assert (payload[:2000] in member) == (len(payload) >= 2048)
    assert payload in gzip.decompress(member)
    assert [read(tmp_path, place).payload for place in (location, other)] == [payload, exchange().payload]
    checker = Path(sys.executable).with_name("warcio")
    checked = subprocess.run([checker, "check", tmp_path / location.file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_files_rotate_by_size_and_names_never_clash(tmp_path: Path) -> None:
    one, other = ArchiveWriter(tmp_path, rotate_bytes=1), ArchiveWriter(tmp_path, rotate_bytes=1)
    places = [writer.append(exchange()) for writer in (one, other, one, other)]
    one.close()
    other.close()
    assert len({place.file for place in places}) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(place.file for place in places)
    assert all(read(tmp_path, place) == exchange() for place in places)


def test_iterating_from_an_offset(tmp_path: Path) -> None:
    first, again, unchanged = revisits(tmp_path)
    found = [place for place, _ in iterate(tmp_path / first.file, again.offset)]
    assert found == [again, unchanged]


def test_wrong_places_are_told_apart(tmp_path: Path) -> None:
    first, *_ = revisits(tmp_path)
    with pytest.raises(NotFound):
        read(tmp_path, ArchiveLocation("absent.warc.gz", 0, 1))
    with pytest.raises(Truncated):
        read(tmp_path, ArchiveLocation(first.file, 10**9, 1))
    with pytest.raises(Corrupt):
        read(tmp_path, ArchiveLocation(first.file, first.offset + 1, first.length))
    with pytest.raises(Corrupt, match="no response record"):
        read(tmp_path, ArchiveLocation(first.file, 0, 0))
    with pytest.raises(Corrupt, match="bytes, not"):
        read(tmp_path, ArchiveLocation(first.file, first.offset, first.length - 1))
