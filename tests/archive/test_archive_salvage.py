"""Damaged archives: every record that is whole is found again, nothing is made up, and each hole is named."""

from __future__ import annotations

import gzip
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import zstandard

from periplus.archive import Damaged, contents, salvage
from periplus.errors import Corrupt
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNT = 12


def body_of(number: int) -> bytes:
    """Words that pack badly, of different lengths; a line in them that almost begins a record."""
    rng = random.Random(number)
    words = " ".join(f"{rng.getrandbits(40):x}" for _ in range(rng.randrange(1, 60)))
    return f"<title>{number}</title>\nWARC/1.0 is the name\n<p>{words}".encode()


def warc_record(number: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body_of(number)
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://harbour.example/{number}\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def arc_record(number: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body_of(number)
    head = f"http://harbour.example/{number} 192.0.2.7 20240506070809 text/html {len(block)}\n"
    return head.encode() + block + b"\n"


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@dataclass
class Sample:
    """A file, and for each record where the bytes stand that it needs."""

    name: str
    data: bytes
    spans: list[tuple[int, int]]


def sample(name: str, record: Callable[[int], bytes], pack: Callable[[bytes], bytes]) -> Sample:
    parts = [pack(record(number)) for number in range(COUNT)]
    ends = [sum(map(len, parts[: place + 1])) for place in range(COUNT)]
    return Sample(name, b"".join(parts), list(zip([0, *ends[:-1]], ends, strict=True)))


def checked(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


SAMPLES = [
    sample("members.warc.gz", warc_record, packed),
    sample("frames.warc.zst", warc_record, checked),
    sample("plain.warc", warc_record, bytes),
    sample("members.arc.gz", arc_record, packed),
    sample("plain.arc", arc_record, bytes),
]
each_sample = pytest.mark.parametrize("whole", SAMPLES, ids=lambda sample: sample.name)


def read(path: Path) -> tuple[dict[int, bytes], list[Damaged]]:
    try:
        found = list(contents(path))
    except Corrupt:
        return {}, []
    known = re.compile(r"http://harbour\.example/(\d+)")
    whole = [page for page in found if isinstance(page, Page) and known.fullmatch(page.url)]
    pages = {int(page.url.rpartition("/")[2]): page.body for page in whole}
    return pages, [hole for hole in found if isinstance(hole, Damaged)]


def check(folder: Path, whole: Sample, data: bytes, kept: set[int]) -> list[Damaged]:
    """All of ``kept`` are there, and whatever else is found is as it was written, or in a hole."""
    path = folder / whole.name
    path.write_bytes(data)
    pages, holes = read(path)
    assert kept <= pages.keys()
    if not whole.name.startswith("plain"):  # which has no checksum
        assert all(body_of(number) == body for number, body in pages.items())
    for hole in holes:
        if hole.place.within is None:
            assert 0 <= hole.place.offset <= hole.place.offset + hole.place.length <= len(data)
    return holes


def untouched(whole: Sample, start: int, end: int) -> set[int]:
    return {number for number, (first, last) in enumerate(whole.spans) if last <= start or first >= end}


@each_sample
def test_a_file_cut_at_every_byte_gives_all_records_before_the_cut(tmp_path, whole):
    step = 1 if whole.name == "members.warc.gz" else 7
    for cut in range(0, len(whole.data), step):
        kept = {n for n, (_, end) in enumerate(whole.spans) if end <= cut}
        holes = check(tmp_path, whole, whole.data[:cut], kept)
        is_torn = kept and cut not in [end for _, end in whole.spans] and whole.data[cut - 1] not in b"\r\n"
        assert not is_torn or len(holes) == 1


@each_sample
@pytest.mark.parametrize("filling", ["zeros", "noise", "nothing"])
def test_what_follows_a_hole_is_read(tmp_path, whole, filling):
    rng = random.Random(5)
    for _ in range(40):
        start = rng.randrange(len(whole.data))
        end = min(len(whole.data), start + rng.choice([1, 2, 20, 300, 1_500]))
        fill = {"zeros": bytes(end - start), "noise": rng.randbytes(end - start), "nothing": b""}[filling]
        check(tmp_path, whole, whole.data[:start] + fill + whole.data[end:], untouched(whole, start, end))


@pytest.mark.parametrize("whole", SAMPLES[:4], ids=lambda sample: sample.name)
def test_swapped_stretches_cost_the_records_that_they_cut(tmp_path, whole):
    """In plain ARC half a line before a record becomes part of its address: nothing tells them apart."""
    rng = random.Random(7)  # with 6 a torn record of the plain file ends by chance where another one does
    for _ in range(40):
        a, b, c, d = sorted(rng.randrange(len(whole.data)) for _ in range(4))
        data = whole.data
        cuts = (a, b, c, d)
        kept = {n for n, (first, last) in enumerate(whole.spans) if not any(first < cut < last for cut in cuts)}
        check(tmp_path, whole, data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:], kept)


def test_a_hole_is_told_with_its_place_and_length(tmp_path):
    whole = SAMPLES[0]
    first, last = whole.spans[4][0], whole.spans[6][1]
    path = tmp_path / whole.name
    path.write_bytes(whole.data[:first] + bytes(last - first) + whole.data[last:])
    pages, (hole,) = read(path)
    assert hole.place == (first, last - first, None)
    assert sorted(pages) == [0, 1, 2, 3, *range(7, COUNT)]


def test_records_of_one_member_are_found_behind_one_that_is_damaged_before_it_was_packed(tmp_path):
    path = tmp_path / "one.warc.gz"
    records = [warc_record(number) for number in range(COUNT)]
    start = len(b"".join(records[:3]))
    broken = records[3].replace(b"Content-Length: ", b"Content-Length; ")
    path.write_bytes(packed(b"".join((*records[:3], broken, *records[4:]))))
    pages, (hole,) = read(path)
    assert sorted(pages) == [0, 1, 2, *range(4, COUNT)]
    assert hole.place == (start, len(broken), 0)


def test_a_record_that_goes_on_in_the_next_member_is_read(tmp_path):
    """As programs write that pack in blocks of a fixed size."""
    path = tmp_path / "blocks.warc.gz"
    data = b"".join(warc_record(number) for number in range(COUNT))
    path.write_bytes(b"".join(packed(data[at : at + 700]) for at in range(0, len(data), 700)))
    pages, holes = read(path)
    assert (sorted(pages), holes) == (list(range(COUNT)), [])


def test_a_member_that_ends_too_soon_does_not_take_the_next_one_with_it(tmp_path):
    path = tmp_path / "short.warc.gz"
    records = [warc_record(number) for number in range(COUNT)]
    records[5] = records[5][:-60]
    path.write_bytes(b"".join(map(packed, records)))
    pages, (hole,) = read(path)
    assert sorted(pages) == [*range(5), *range(6, COUNT)]
    assert "ends too soon" in hole.what
    assert hole.place == (len(b"".join(map(packed, records[:5]))), len(packed(records[5])), None)


def test_the_search_for_a_next_record_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(salvage, "TRIES", 50)
    whole = SAMPLES[0]
    path = tmp_path / whole.name
    path.write_bytes(whole.data + b"\x1f\x8b\x08" * 49 + whole.data)
    assert len(read(path)[1]) == 1
    path.write_bytes(whole.data + b"\x1f\x8b\x08" * 60 + whole.data)
    pages, (hole,) = read(path)
    assert sorted(pages) == list(range(COUNT))
    assert hole.place == (len(whole.data), 180 + len(whole.data), None)


def test_fields_that_never_end_count_as_many_tries(tmp_path, monkeypatch):
    monkeypatch.setattr(salvage, "TRIES", 300)
    whole = SAMPLES[2]
    path = tmp_path / whole.name
    path.write_bytes(whole.data + b"WARC/1.0\r\nFoo:" * 20_000)
    pages, (hole,) = read(path)
    assert sorted(pages) == list(range(COUNT))
    assert hole.place.offset + hole.place.length == path.stat().st_size


def test_many_empty_lines_are_passed_over(tmp_path):
    whole = SAMPLES[2]
    path = tmp_path / whole.name
    path.write_bytes(whole.data + b"\r\n" * 1_500_000 + whole.data)
    pages, holes = read(path)
    assert (sorted(pages), holes) == (list(range(COUNT)), [])
