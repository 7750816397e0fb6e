"""Stretches of an archive: read one by one they are the whole; a wrong cut shows itself."""

from __future__ import annotations

import gzip

import pytest
from archive_samples import exchange
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.archive import ArchiveWriter, can_be_cut, contents, cutting, stretches
from periplus.errors import Corrupt, Truncated


def written(folder, bodies):
    with ArchiveWriter(folder) as writer:
        for number, body in enumerate(bodies):
            writer.append(exchange(url=f"http://example.org/{number}", payload=body, body=body))
    (path,) = folder.glob("*.warc.gz")
    return path


def read(cut):
    return list(contents(cut.path, cut.start, cut.end, is_last=cut.is_last))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bodies=st.lists(st.binary(min_size=1, max_size=3_000), min_size=1, max_size=12),
    length=st.integers(min_value=1, max_value=9_000),
)
def test_the_stretches_of_a_file_are_the_file(tmp_path_factory, bodies, length):
    path = written(tmp_path_factory.mktemp("archive"), bodies)
    cuts = list(stretches(path, lambda _left: length))
    assert [cut.start for cut in cuts] == [0, *(cut.end for cut in cuts[:-1])]
    assert (cuts[-1].end, [cut.is_last for cut in cuts]) == (path.stat().st_size, [False] * (len(cuts) - 1) + [True])
    assert [page for cut in cuts for page in read(cut)] == list(contents(path))


def test_lengths_follow_what_is_left(tmp_path):
    path = written(tmp_path, [bytes([number]) * 50 for number in range(40)])
    asked = []
    cuts = list(stretches(path, lambda left: asked.append(left) or left // 3))
    assert asked == [path.stat().st_size - cut.start for cut in cuts]
    assert len(cuts) > 3


def test_an_archive_inside_a_record_is_cut_wrongly_and_the_stretch_before_it_says_so(tmp_path):
    inner = written(tmp_path / "inner", [b"a page of another archive"] * 3).read_bytes()
    path = tmp_path / "outer.warc.gz"
    block = b"HTTP/1.1 200 OK\r\nContent-Type: application/warc\r\n\r\n" + inner
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/archive\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    stored = gzip.compress(head.encode() + block + b"\r\n\r\n", compresslevel=0)
    path.write_bytes(stored)
    first, *_ = list(stretches(path, lambda _left: len(stored) - len(inner) // 2))
    assert not first.is_last
    with pytest.raises((Truncated, Corrupt)):
        read(first)
    assert [page.body for page in contents(path)] == [inner]


def test_a_file_without_further_members_is_left_to_others(tmp_path, monkeypatch):
    path = written(tmp_path, [b"tides"] * 30)
    one = tmp_path / "one.warc.gz"
    one.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=0))
    monkeypatch.setattr(cutting, "SEARCHED", 2_000)
    monkeypatch.setattr(cutting, "_STEP", 500)
    assert list(stretches(one, lambda _left: 100)) == [None]
    assert can_be_cut(one)


@pytest.mark.parametrize(
    "content",
    [b"", b"WARC/1.0\r\n", gzip.compress(b"words", mtime=0), b"\x1f\x8b\x08 and then nothing"],
    ids=["empty", "plain", "words", "torn"],
)
def test_what_does_not_begin_with_a_packed_record_cannot_be_cut(tmp_path, content):
    path = tmp_path / "some.warc"
    path.write_bytes(content)
    assert not can_be_cut(path)
