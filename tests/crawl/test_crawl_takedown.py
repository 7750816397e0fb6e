"""Takedown: gone from the address table, the archive and the batches; and nothing of it comes back."""

from __future__ import annotations

import gzip
import threading
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawl.voyages import settings_for
from mockweb.faults import BODY, HTML, Gate
from periplus import archive
from periplus.crawl import Crawler, inspect, remove
from periplus.crawl.frontier.removed import removed_targets
from periplus.crawl.keeping import takedown
from periplus.documents import BatchLog
from periplus.errors import UsageError
from periplus.storage import LocalFiles

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb
    from periplus.records import Document

SECRET = "the harbourmaster's private letter"


def _log(voyage: Voyage) -> BatchLog:
    return BatchLog(LocalFiles(voyage.folder), voyage.database)


def _all_rows(voyage: Voyage) -> list[Document]:
    log = _log(voyage)
    return [document for number in log.numbers() for document in log.documents(number, links=True)]


def _archived(voyage: Voyage) -> bytes:
    return b"".join(gzip.decompress(path.read_bytes()) for path in (voyage.folder / "archive").glob("*.warc.gz"))


def _take_down(voyage: Voyage, target: str) -> takedown.Removal:
    return remove(voyage.database, target, _log(voyage), voyage.folder)


def _check_with_another_reader(voyage: Voyage) -> None:
    for path in (voyage.folder / "archive").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()


def test_a_page_leaves_every_file(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    mock_web.page("http://a.test/", links=["/letter", "/other", "/old"])
    mock_web.page("http://a.test/letter", f"<p>First words of {SECRET}.", links=[("/other", SECRET)])
    mock_web.page("http://a.test/other", "<p>Nothing private.", links=["/letter"])
    mock_web.redirect("http://a.test/old", "/letter", 301)
    voyage.run(mock_web, "http://a.test/")
    mock_web.page("http://a.test/letter", f"<p>Later words of {SECRET}.")
    voyage.run(mock_web, recrawl=True)
    before = {row.url: row for row in _all_rows(voyage) if row.url.endswith("/other")}
    assert SECRET.encode() in _archived(voyage)
    removal = _take_down(voyage, "http://a.test/letter")
    assert (removal.addresses, removal.is_host, removal.documents) == (("http://a.test/letter",), False, 2)
    assert len(removal.archived) == 4  # two versions, each with its request
    assert SECRET.encode() not in _archived(voyage)
    rows = _all_rows(voyage)
    assert not any(SECRET in str(row) for row in rows)
    assert {row.refusal for row in rows if row.url.endswith("/letter")} == {"removed"}
    assert {row.url: row for row in rows if row.url.endswith("/other")} == before
    for row in rows:
        if row.archive is not None:
            assert archive.read(voyage.folder / "archive", row.archive).url == row.url
    _check_with_another_reader(voyage)
    # never again, by any way
    mock_web.log.clear()
    voyage.run(mock_web, "http://a.test/letter", recrawl=True)
    assert "/letter" not in mock_web.paths("a.test")
    assert voyage.documents()["http://a.test/letter"] == "removed"
    assert inspect(voyage.database, "http://a.test/letter", settings_for(()))[1].reason == "removed"
    assert _take_down(voyage, "http://a.test/letter").documents == 0  # nothing is left to do


def test_a_host_leaves_every_file(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.site("a.test", 3)
    mock_web.site("b.test", 3, words=SECRET)
    mock_web.site("sub.b.test", 2)
    voyage.run(mock_web, "http://a.test/", "http://b.test/", "http://sub.b.test/")
    removal = _take_down(voyage, "B.test")
    assert (removal.target, removal.is_host, len(removal.addresses)) == ("b.test", True, 4)
    assert SECRET.encode() not in _archived(voyage)
    assert not any(SECRET in str(row) for row in _all_rows(voyage))
    assert voyage.rows("SELECT queued, pages FROM hosts WHERE name = 'b.test'") == [(0, 0)]
    kept = {row.url for row in _all_rows(voyage) if not row.refusal}
    assert kept == {*(f"http://a.test/{n}" for n in ("", 0, 1, 2)), *(f"http://sub.b.test/{n}" for n in ("", 0, 1))}
    _check_with_another_reader(voyage)


def test_a_page_under_way_does_not_come_back(voyage: Voyage, mock_web: MockWeb) -> None:
    page = f"<title>Letter</title><p>{SECRET} <a href='/child'>more</a>".encode()
    gate = Gate(reply=type(Gate().reply)(200, page + BODY, HTML))
    mock_web.page("http://a.test/", links=["/letter"])
    mock_web.at("http://a.test/letter", gate)
    crawler = Crawler(voyage.folder, voyage.database, settings_for(mock_web.resolve))
    thread = threading.Thread(target=lambda: crawler.run(["http://a.test/"]))
    thread.start()
    mock_web.log.wait_for(1, "a.test", "/letter")
    _take_down(voyage, "http://a.test/letter")
    gate.open()
    thread.join(timeout=20)
    assert SECRET.encode() not in _archived(voyage)
    assert not any(SECRET in str(row) for row in _all_rows(voyage))
    assert voyage.url("http://a.test/letter")["reason"] == "removed"
    assert voyage.rows("SELECT queued, pages FROM hosts") == [(0, 1)]
    assert voyage.rows("SELECT file FROM urls WHERE reason = 'removed'") == [("",)]
    assert "/child" not in mock_web.paths("a.test")
    _check_with_another_reader(voyage)


def test_a_document_that_waits_for_its_batch_does_not_come_back(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The takedown comes after the commit of the page and before its batch is written."""
    mock_web.page("http://a.test/", f"<p>{SECRET}", links=["/1"])
    mock_web.page("http://a.test/1", "<p>Other words.")
    append = BatchLog.append
    taken: list[str] = []

    def slow(log: BatchLog, documents: list[Document]) -> int:
        if not taken and any(SECRET in document.text for document in documents):
            taken.append("once")
            remove(voyage.database, "http://a.test/", _log(voyage), voyage.folder)
        return append(log, documents)

    monkeypatch.setattr(BatchLog, "append", slow)
    voyage.run(mock_web, "http://a.test/")
    assert taken
    assert not any(SECRET in str(row) for row in _all_rows(voyage))
    assert voyage.documents()["http://a.test/"] == "removed"
    assert SECRET.encode() not in _archived(voyage)


def test_a_takedown_that_was_interrupted_is_finished_by_the_next_crawl(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_web.page("http://a.test/", f"<p>{SECRET}", links=["/1"])
    mock_web.page("http://a.test/1", "<p>Other words.")
    voyage.run(mock_web, "http://a.test/")
    for broken in ("periplus.archive.places_of", "periplus.crawl.keeping.takedown._write_refusals"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(broken, _interrupt)
            _take_down(voyage, "http://a.test/")
    voyage.run(mock_web)
    assert SECRET.encode() not in _archived(voyage)
    assert not any(SECRET in str(row) for row in _all_rows(voyage))
    assert voyage.documents()["http://a.test/"] == "removed"
    assert voyage.rows("SELECT key FROM meta WHERE key LIKE 'takedown%'") == []


def test_a_crash_between_the_files_of_a_batch(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_web.page("http://a.test/", f"<p>{SECRET}", links=[("/1", SECRET)])
    mock_web.page("http://a.test/1", "<p>Other words.", links=["/"])
    voyage.run(mock_web, "http://a.test/")
    number = next(n for n in _log(voyage).numbers() if "http://a.test/" in _log(voyage).addresses(n))
    links = _log(voyage).links(number).num_rows
    move = BatchLog._move

    def failing(log: BatchLog, name: str, target: str, *, new: bool = False) -> None:
        if target == f"documents/{number:08d}.parquet":
            raise KeyboardInterrupt
        move(log, name, target, new=new)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(BatchLog, "_move", failing)
        _take_down(voyage, "http://a.test/")
    assert any(SECRET in str(row) for row in _all_rows(voyage))
    assert _take_down(voyage, "http://a.test/").documents == 1
    assert not any(SECRET in str(row) for row in _all_rows(voyage))
    assert _log(voyage).links(number).num_rows == links
    assert not list(voyage.folder.rglob("*.tmp*"))


def test_unknown_targets_and_wrong_ones(voyage: Voyage, mock_web: MockWeb) -> None:
    removal = _take_down(voyage, "https://never.test/page")
    assert (removal.addresses, removal.archived, removal.documents) == ((), (), 0)
    for wrong in ("not a host/at all", "", "ftp://a.test/"):
        with pytest.raises(UsageError):
            _take_down(voyage, wrong)
    mock_web.page("http://a.test/", links=["https://never.test/page"])
    voyage.run(mock_web, "http://a.test/")
    assert mock_web.requests("never.test", "/page") == []


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_both_schemes_of_an_address_and_of_a_host_go_together(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", links=["/letter"])
    mock_web.page("http://a.test/letter", f"<p>First words of {SECRET}.")
    voyage.run(mock_web, "http://a.test/")
    removal = _take_down(voyage, "https://a.test/letter")
    assert removal.addresses == ("http://a.test/letter",)
    assert SECRET.encode() not in _archived(voyage)
    assert removed_targets(voyage.database) == {"https://a.test/letter", "http://a.test/letter"}
    assert takedown.spellings("http://a.test:8080/x") == ("http://a.test:8080/x",)
    assert takedown.spellings("a.test") == ("a.test",)
    voyage.run(mock_web, recrawl=True)
    assert len(mock_web.requests("a.test", "/letter")) == 1
    told = [text for (text,) in voyage.rows("SELECT text FROM events ORDER BY id")]
    assert "https://a.test/letter is taken down: 1 addresses" in told
    assert set(_take_down(voyage, "a.test").addresses) == {"http://a.test/"}
