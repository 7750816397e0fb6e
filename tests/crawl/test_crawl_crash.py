"""kill -9 in the middle of a crawl: nothing lost, nothing asked twice without need, no gap broken."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawl.crash_soak import soak
from crawl.voyages import settings_for
from mockweb.faults import Drop, Hang
from periplus import archive
from periplus.crawl import Crawler
from periplus.demo import html
from periplus.errors import StorageError
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.demo import Reply, Request

KILLS = 2
SCRIPT = Path(__file__).with_name("crawl_process.py")


def start(voyage: Voyage, web: MockWeb, *seeds: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(SCRIPT), str(voyage.folder), *web.resolve, *seeds])


def kill_after(process: subprocess.Popen[bytes], web: MockWeb, requests: int) -> int:
    seen = len(web.log.wait_for(requests, timeout=30))
    process.kill()
    process.wait()
    assert seen >= requests
    return len(web.requests())


def test_kills_at_several_moments(voyage: Voyage, mock_web: MockWeb) -> None:
    hosts = [f"h{number}.test" for number in range(4)]
    pages = {url for host in hosts for url in mock_web.site(host, 25)}
    mock_web.robots("h0.test", "User-agent: *\nCrawl-delay: 0.06")
    seeds = [f"http://{host}/" for host in hosts]
    seen = 0
    for _ in range(KILLS):
        seen = kill_after(start(voyage, mock_web, *seeds), mock_web, seen + 22)
    result = voyage.run(mock_web, *seeds)
    assert voyage.fetched() == pages
    assert result.pages == len(pages)  # the figures of the interrupted crawl go on
    assert set(voyage.documents()) == pages
    asked = Counter(record.url for record in mock_web.requests() if not record.url.endswith("robots.txt"))
    twice = [url for url, count in asked.items() if count > 1]
    assert len(twice) <= KILLS * len(hosts)  # at most what was under way at a kill
    archived = Counter(exchange.url for path in archive_files(voyage) for _, exchange in archive.iterate(path))
    assert {url for url in pages if archived[url] > 1} == set()
    gaps = mock_web.gaps("h0.test")
    slow = [gap for gap in gaps[1:] if gap < 0.05]
    assert not slow, slow


def test_what_is_archived_but_not_committed_is_replayed(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 6)
    voyage.run(mock_web, pages[0])
    asked = len(mock_web.requests())
    with voyage.database.write() as tx:  # as if the last commits had not happened
        tx.execute("UPDATE urls SET state = 0, fetched_at = 0, tried_at = 0, file = '', body_hash = 0, pending = 0")
        tx.execute("DELETE FROM archive_marks")
        tx.execute("DELETE FROM robots")
        tx.execute("DELETE FROM journal")
        tx.execute("UPDATE hosts SET queued = 7, pages = 0, active = 1")
    voyage.run(mock_web)
    assert len(mock_web.requests()) == asked
    assert voyage.fetched() == set(pages)
    assert voyage.rows("SELECT COUNT(*) FROM journal") == [(8,)]
    assert voyage.rows("SELECT queued, pages FROM hosts") == [(0, 7)]


def test_sitemaps_of_a_replayed_robots_txt_are_read(voyage: Voyage, mock_web: MockWeb) -> None:
    """They are announced once: who knows the rules does not read them again."""
    mock_web.page("http://a.test/")
    mock_web.page("http://a.test/from-map")
    mock_web.robots("a.test", "Sitemap: /map.xml")
    urls = "<urlset><url><loc>http://a.test/from-map</loc></url></urlset>"
    mock_web.text("http://a.test/map.xml", urls, "application/xml")
    voyage.run(mock_web, "http://a.test/")
    everything = voyage.fetched()
    assert "http://a.test/from-map" in everything
    with voyage.database.write() as tx:  # as if the commit with the rules had not happened, nor any after it
        tx.execute("DELETE FROM urls WHERE url <> 'http://a.test/'")
        tx.execute("UPDATE urls SET state = 0, fetched_at = 0, tried_at = 0, file = '', body_hash = 0, pending = 0")
        tx.execute("DELETE FROM archive_marks")
        tx.execute("DELETE FROM robots")
        tx.execute("DELETE FROM journal")
        tx.execute("UPDATE hosts SET queued = 1, pages = 0, active = 1")
    voyage.run(mock_web)
    assert voyage.fetched() == everything


def test_documents_that_reached_no_batch_are_parsed_again(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 4)
    voyage.run(mock_web, pages[0])
    with voyage.database.write() as tx:
        tx.execute("DELETE FROM batches")
        tx.execute("UPDATE urls SET pending = 1, batch = 0")
    assert voyage.documents() == {}
    asked = len(mock_web.requests())
    voyage.run(mock_web)
    assert set(voyage.documents()) == set(pages)
    assert len(mock_web.requests()) == asked


def test_a_torn_archive_is_mended_and_what_was_lost_is_asked_again(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 4)
    voyage.run(mock_web, pages[0])
    (path,) = archive_files(voyage)
    with voyage.database.write() as tx:
        last, place = tx.row("SELECT url, place FROM urls ORDER BY place DESC LIMIT 1") or ("", 0)
        tx.execute("UPDATE urls SET pending = 1 WHERE url = ?", (last,))
        tx.execute("DELETE FROM archive_marks")
    path.write_bytes(path.read_bytes()[: place + 40])
    mock_web.log.clear()
    voyage.run(mock_web)
    assert [record.url for record in mock_web.requests()] == [last]
    assert voyage.fetched() == set(pages)


def test_damage_in_what_was_not_committed_keeps_no_crawl_from_beginning(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = mock_web.site("a.test", 4)
    voyage.run(mock_web, pages[0])
    (path,) = archive_files(voyage)
    lost = {url for url, place in voyage.rows("SELECT url, place FROM urls ORDER BY place")[2:]}
    place = voyage.rows("SELECT place FROM urls ORDER BY place LIMIT 1 OFFSET 2")[0][0]
    with voyage.database.write() as tx:  # as if the last commits had not happened
        marks = ", ".join("?" * len(lost))
        tx.execute(f"UPDATE urls SET state = 0, next_at = 0, file = '', body_hash = 0 WHERE url IN ({marks})", [*lost])
        tx.execute("UPDATE archive_marks SET place = ?", (place,))
        tx.execute("UPDATE hosts SET queued = ?, active = 1", (len(lost),))
    data = path.read_bytes()
    path.write_bytes(data[:place] + b"damage!!" + data[place + 8 :])
    mock_web.log.clear()
    voyage.run(mock_web)
    assert {record.url for record in mock_web.requests()} == lost
    assert voyage.fetched() == set(pages)
    assert [text for (text,) in voyage.rows("SELECT text FROM events WHERE level = 'error'") if path.name in text]


def test_a_file_of_the_archive_that_was_restored_is_not_replayed(voyage: Voyage, mock_web: MockWeb) -> None:
    """It was cut off while a crawl ran, which closed the archive with it."""
    pages = mock_web.site("a.test", 4)
    voyage.run(mock_web, pages[0])
    (newest,) = archive_files(voyage)
    whole = newest.read_bytes()
    path = newest.with_name("periplus-20200101000000-00001.warc.gz")  # which no crawl goes on with
    path.write_bytes(whole)
    with voyage.database.write() as tx:
        tx.execute("INSERT INTO archive_marks (file, place) VALUES (?, ?)", (path.name, len(whole)))

    def tear(_: Request) -> Reply:
        path.write_bytes(whole[: len(whole) // 2 + 1])
        return html("<p>A storm.")

    mock_web.at("http://b.test/", tear)
    voyage.run(mock_web, "http://b.test/")
    path.write_bytes(whole)
    mock_web.page("http://c.test/", "<p>Calm again.")
    voyage.run(mock_web, "http://c.test/")
    assert voyage.fetched() == {*pages, "http://b.test/", "http://c.test/"}
    assert voyage.rows("SELECT text FROM events WHERE level = 'error'") == []


def test_a_host_that_was_active_waits_its_full_delay(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/")
    mock_web.robots("a.test", "User-agent: *\nCrawl-delay: 0.7")
    mock_web.at("http://a.test/", Hang())
    process = start(voyage, mock_web, "http://a.test/")
    mock_web.log.wait_for(1, "a.test", "/", timeout=30)
    process.kill()
    process.wait()
    assert voyage.rows("SELECT active, delay FROM hosts") == [(1, 0.7)]
    mock_web.page("http://a.test/", "<p>Now it answers.")
    restarted = time_of_start(voyage, mock_web)
    first = mock_web.requests("a.test")[2]
    assert first.time - restarted >= 0.69


def time_of_start(voyage: Voyage, web: MockWeb) -> float:
    began = time.time()
    voyage.run(web, "http://a.test/")
    return began


def test_a_full_disk_is_one_clear_error(voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = mock_web.site("a.test", 10)
    real = os.fsync
    calls = []

    def failing(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr("periplus.archive.writer.os.fsync", failing)
    with pytest.raises(StorageError, match="no space left"):
        Crawler(voyage.folder, voyage.database, settings_for(mock_web.resolve, commit_seconds=0.05)).run([pages[0]])
    monkeypatch.undo()
    voyage.run(mock_web)
    assert voyage.fetched() == set(pages)


class DroppingDisk:
    """A disk that fails one sync: what it did not write is shown until ``lose_power``, and later syncs succeed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
        self.synced: dict[Path, int] = {}  # sizes
        self.lost: dict[Path, tuple[int, int]] = {}
        self._left = fails_at
        self._real = os.fsync, os.pwrite
        monkeypatch.setattr(os, "fsync", self._fsync)
        monkeypatch.setattr(os, "pwrite", self._pwrite)

    def _fsync(self, descriptor: int) -> None:
        path, size = Path(f"/proc/self/fd/{descriptor}").readlink(), os.fstat(descriptor).st_size
        if not path.name.endswith(".warc.gz"):
            self._real[0](descriptor)
            return
        self._left -= 1
        before, self.synced[path] = self.synced.get(path, 0), size
        if not self._left:
            self.lost[path] = before, size
            raise OSError(errno.EIO, "Input/output error")

    def _pwrite(self, descriptor: int, data: bytes, place: int) -> int:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        low, high = self.lost.get(path, (0, 0))
        if low >= place and high <= place + len(data):
            self.lost.pop(path, None)
        return self._real[1](descriptor, data, place)

    def lose_power(self) -> None:
        """What was never written is not there any more."""
        for path, (low, high) in self.lost.items():
            with path.open("r+b") as file:
                file.seek(low)
                file.write(bytes(min(high, path.stat().st_size) - low))


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_after_a_failed_sync_no_later_one_vouches(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The kernel tells a failed sync once, and may drop what it could not write: it has to be written again."""
    pages = mock_web.site("a.test", 10)
    disk = DroppingDisk(monkeypatch, fails_at)
    with pytest.raises(StorageError, match="cannot be written: Input/output error"):
        Crawler(voyage.folder, voyage.database, settings_for(mock_web.resolve, commit_seconds=0.05)).run([pages[0]])
    assert disk.lost
    check_records(voyage)
    voyage.run(mock_web)
    disk.lose_power()
    check_records(voyage)
    assert voyage.fetched() == set(pages)


def test_what_a_crawl_acknowledged_stays_when_its_archive_cannot_be_closed(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = mock_web.site("a.test", 3)
    real = archive.ArchiveWriter.close

    def close(writer: archive.ArchiveWriter) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            real(writer)

    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(archive.ArchiveWriter, "close", close)
    voyage.run(mock_web, pages[0])
    check_records(voyage)
    assert voyage.fetched() == set(pages)


def test_an_error_of_the_disk_after_the_last_commit_is_told(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that left is ended in the roster, as one is that others healed: its error must not be taken for that."""
    pages = mock_web.site("a.test", 3)

    def close(writer: archive.ArchiveWriter) -> None:
        raise StorageError("the disk is gone")

    monkeypatch.setattr(archive.ArchiveWriter, "close", close)
    with pytest.raises(StorageError, match="the disk is gone"):
        voyage.run(mock_web, pages[0])


def test_a_lock_that_cannot_be_opened_is_an_error_of_ours(voyage: Voyage, mock_web: MockWeb) -> None:
    (voyage.folder / "crawl.workers.lock").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"crawl\.workers\.lock cannot be opened: Is a directory"):
        voyage.run(mock_web, "http://a.test/")


def check_records(voyage: Voyage) -> None:
    """Every address that counts as fetched has its record."""
    for url, file, place, length in voyage.rows("SELECT url, file, place, length FROM urls WHERE state = 1"):
        assert archive.read(voyage.folder / "archive", ArchiveLocation(file, place, length)).url == url


def archive_files(voyage: Voyage) -> list[Path]:
    return sorted((voyage.folder / "archive").glob("*.warc.gz"))


def test_kills_at_random_moments_with_one_and_two_workers(tmp_path: Path) -> None:
    figures = soak(tmp_path, kills=2, pages=8, seed=3)
    assert figures["kills"] >= 2


def test_a_connection_that_breaks_is_not_asked_again_at_once(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/torn"])
    mock_web.at("http://a.test/torn", [Drop("request"), html("<p>An answer after all.")])
    voyage.run(mock_web, "http://a.test/")
    first, second = mock_web.requests("a.test", "/torn")
    assert second.monotonic - first.monotonic >= 0.1  # five delays
