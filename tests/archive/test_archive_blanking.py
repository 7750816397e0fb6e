"""Records taken out of files: lengths and offsets stay, others' tools still read them, crashes do no harm."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from archive.archive_samples import exchange
from periplus import archive
from periplus.archive import ArchiveWriter, Revisit, blanking
from periplus.errors import Corrupt, NotFound, StorageError
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from pathlib import Path

URLS = [f"http://example.org/{number}" for number in range(6)]


def _filled(folder: Path) -> dict[str, ArchiveLocation]:
    with ArchiveWriter(folder) as writer:
        places = {url: writer.append(exchange(url=url, payload=url.encode() * 50)) for url in URLS}
        writer.append(exchange(url=URLS[1], payload=b"", status=304), Revisit(URLS[1], 1.0, places[URLS[1]]))
    return places


def _readable(path: Path) -> list[str]:
    """Types and addresses of all records, by another reader, which checks digests."""
    found = []
    with path.open("rb") as file:
        for one in ArchiveIterator(file, check_digests="raise"):
            one.content_stream().read()
            found.append(f"{one.rec_type} {one.rec_headers.get_header('WARC-Target-URI') or ''}".strip())
    return found


@given(st.integers(blanking.LEAST, 200_000))
def test_a_blank_member_has_any_length(length: int) -> None:
    packed = blanking.blank_member(length)
    assert len(packed) == length
    assert gzip.decompress(packed).startswith(b"WARC/1.1\r\nWARC-Type: metadata\r\n")


@pytest.mark.parametrize("length", range(65_535 + 15, 65_535 + 45))
def test_a_blank_member_at_the_edge_of_a_block(length: int) -> None:
    packed = blanking.blank_member(length)
    assert (len(packed), gzip.decompress(packed)[-4:]) == (length, b"\r\n\r\n")


def test_a_page_is_gone_and_all_others_stay(tmp_path: Path) -> None:
    places = _filled(tmp_path)
    path = next(tmp_path.glob("*.warc.gz"))
    size = path.stat().st_size
    found = archive.places_of(tmp_path, lambda url: url == URLS[1])
    assert len(found) == 4  # a response, a revisit, and the request of each
    assert archive.blank(tmp_path, found) == 4
    assert path.stat().st_size == size
    assert URLS[1].encode() not in gzip.decompress(path.read_bytes())
    assert [text for text in _readable(path) if text.startswith("response")] == [
        f"response {url}" for url in URLS if url != URLS[1]
    ]
    assert _readable(path).count("metadata") == 4
    with pytest.raises(NotFound, match="taken down"):
        archive.read(tmp_path, places[URLS[1]])
    for url in (URLS[0], URLS[2], URLS[5]):
        assert archive.read(tmp_path, places[url]).payload == url.encode() * 50
    assert [one.url for _, one in archive.iterate(path)] == [url for url in URLS if url != URLS[1]]
    assert archive.repair(tmp_path) == []
    assert archive.places_of(tmp_path, lambda url: url == URLS[1]) == []


def test_a_crash_in_the_middle_is_made_good_before_the_file_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = _filled(tmp_path)
    path = next(tmp_path.glob("*.warc.gz"))

    def torn(path: Path, planned: list[ArchiveLocation]) -> None:
        with path.open("r+b") as file:
            file.seek(planned[0].offset)
            file.write(blanking.blank_member(planned[0].length)[:20])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(blanking, "overwrite", torn)
        archive.blank(tmp_path, archive.places_of(tmp_path, lambda url: url == URLS[2]))
    (tmp_path / (path.name + ".open")).touch()  # as if its writer had died: it is read through
    assert archive.repair(tmp_path) == []
    assert archive.read(tmp_path, places[URLS[5]]).url == URLS[5]
    assert URLS[2].encode() not in gzip.decompress(path.read_bytes())
    assert not (tmp_path / blanking.PLAN).exists()


@pytest.mark.parametrize("old", [b'"offset":', b'"xxh3"', b"1"])
def test_a_plan_that_is_damaged_is_not_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bytes) -> None:
    """Another offset in it would overwrite a record that nobody took down."""
    _filled(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(blanking, "_carry_out", lambda *_: None)
        archive.blank(tmp_path, archive.places_of(tmp_path, lambda url: url == URLS[2]))
    plan = tmp_path / blanking.PLAN
    plan.write_bytes(plan.read_bytes().replace(old, old[:-1] + b"2", 1))
    before = next(tmp_path.glob("*.warc.gz")).read_bytes()
    for carried_out in (archive.repair, archive.check_plan):
        with pytest.raises(StorageError, match=r"blanking\.json cannot be read"):
            carried_out(tmp_path)
    assert next(tmp_path.glob("*.warc.gz")).read_bytes() == before


def test_a_file_that_is_being_written(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path) as writer:
        first = writer.append(exchange(url=URLS[0]))
        assert archive.blank(tmp_path, archive.places_of(tmp_path, lambda url: url == URLS[0])) == 2
        second = writer.append(exchange(url=URLS[1]))
    assert archive.read(tmp_path, second).url == URLS[1]
    with pytest.raises(NotFound):
        archive.read(tmp_path, first)
    assert _readable(tmp_path / second.file) == [
        "warcinfo", "metadata", "metadata", f"response {URLS[1]}", f"request {URLS[1]}",
    ]  # fmt: skip


def test_a_record_that_is_too_small_is_refused_before_anything_is_planned(tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="too small"):
        archive.blank(tmp_path, [ArchiveLocation("others.warc.gz", 0, 100)])
    assert archive.repair(tmp_path) == []


def test_nothing_to_do(tmp_path: Path) -> None:
    assert archive.blank(tmp_path, []) == 0
    assert archive.blank(tmp_path, [ArchiveLocation("periplus-gone.warc.gz", 0, 400)]) == 1
