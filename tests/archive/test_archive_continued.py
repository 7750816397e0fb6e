"""A writer goes on with a file that an earlier one closed, and never with one that somebody needs as it is."""

from __future__ import annotations

import fcntl
import os
import resource
from pathlib import Path

import pytest
from archive_samples import exchange

from periplus import archive
from periplus.archive import ArchiveWriter
from periplus.errors import StorageFull

URLS = [f"https://port.example/{number}" for number in range(6)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in files(folder)}


def written(folder: Path, *urls: str, **options: int) -> None:
    with ArchiveWriter(folder, settled=lambda: sizes(folder), **options) as writer:
        for url in urls:
            writer.append(exchange(url=url))


def read(folder: Path) -> list[str]:
    return [found.url for path in files(folder) for _, found in archive.iterate(path)]


def test_many_writers_leave_one_file(tmp_path: Path) -> None:
    for url in URLS:
        written(tmp_path, url)
    assert len(files(tmp_path)) == 1
    assert read(tmp_path) == URLS
    assert archive.repair(tmp_path) == []
    assert not list(tmp_path.glob("*.open"))


def test_a_place_in_a_continued_file_is_read(tmp_path: Path) -> None:
    written(tmp_path, URLS[0])
    with ArchiveWriter(tmp_path, settled=lambda: sizes(tmp_path)) as writer:
        place = writer.append(exchange(url=URLS[1]))
    assert archive.read(tmp_path, place).url == URLS[1]


def test_a_full_file_is_left_and_a_new_one_begun(tmp_path: Path) -> None:
    for url in URLS[:4]:
        written(tmp_path, url, rotate_bytes=1_500)
    assert len(files(tmp_path)) == 2
    assert sorted(read(tmp_path)) == URLS[:4]


def test_two_writers_at_once_have_a_file_each(tmp_path: Path) -> None:
    written(tmp_path, URLS[0])
    with ArchiveWriter(tmp_path, settled=lambda: sizes(tmp_path)) as first:
        first.append(exchange(url=URLS[1]))
        written(tmp_path, URLS[2])
    assert len(files(tmp_path)) == 2
    assert sorted(read(tmp_path)) == URLS[:3]


@pytest.mark.parametrize("reason", ["unsettled", "open", "held", "torn", "gone"])
def test_a_file_that_is_needed_as_it_is_is_left_alone(tmp_path: Path, reason: str) -> None:
    written(tmp_path, URLS[0])
    known, path = sizes(tmp_path), files(tmp_path)[0]
    with path.open("r+b") as file:
        if reason == "unsettled":
            known = {path.name: known[path.name] - 1}  # a crash left records that nobody has judged yet
        elif reason == "open":
            Path(f"{path}.open").touch()
        elif reason == "held":
            fcntl.flock(file, fcntl.LOCK_EX)
        elif reason == "torn":
            file.seek(-4, 2)
            file.write(b"torn")
        else:
            known = {"periplus-19990101000000-00001.warc.gz": 700}
        file.flush()
        before = path.read_bytes()
        with ArchiveWriter(tmp_path, settled=lambda: known) as writer:
            writer.append(exchange(url=URLS[1]))
    assert path.read_bytes() == before
    assert len(files(tmp_path)) == 2


def test_after_a_crash_only_what_the_last_writer_added_is_judged(tmp_path: Path) -> None:
    """Damage in what was there before must not take along all that follows it."""
    written(tmp_path, *URLS[:3])
    writer = ArchiveWriter(tmp_path, settled=lambda: sizes(tmp_path))
    writer.append(exchange(url=URLS[4]))
    writer.flush()
    path = files(tmp_path)[0]
    whole = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(600)
        file.write(b"\xff\xff\xff")
        file.seek(0, 2)
        file.write(path.read_bytes()[:100])
    os.close(writer._descriptor)  # as a kill does: its file stays marked
    (cut,) = archive.repair(tmp_path)
    assert (cut.kept, cut.removed) == (whole, 100)


def test_a_full_disk_leaves_a_continued_file_as_it_was(tmp_path: Path) -> None:
    written(tmp_path, URLS[0])
    before, path = files(tmp_path)[0].read_bytes(), files(tmp_path)[0]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = ArchiveWriter(tmp_path, settled=lambda: sizes(tmp_path))
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(StorageFull):
            writer.append(exchange(url=URLS[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.open"))
    writer.append(exchange(url=URLS[1]))
    writer.close()
    assert sorted(read(tmp_path)) == URLS[:2]
