"""Crawls whose archive and batches are objects: machines with a folder each, one database, one store."""

from __future__ import annotations

import gzip
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from crawl.machines import Machines, wait_until
from crawl.voyages import Voyage, settings_for
from mockweb.growing import Growing
from periplus import addresses, archive
from periplus.crawl import Backlog, Crawler, audit, remove, status
from periplus.crawl.working import ledger, uploads
from periplus.documents import BatchLog
from periplus.errors import NotFound, StorageAway, StorageError
from periplus.records import ArchiveLocation
from periplus.settings import CrawlSettings
from periplus.storage import Database, Depot, LocalFiles, SharedCopies, open_objects
from support.object_store import give_up_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mockweb.mock_web import MockWeb
    from periplus.records import CrawlStatus, Document
    from support.object_store import Gate

SECRET = "the harbourmaster's private letter"
DELAY = 0.02


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"file://{tmp_path}/store"


@pytest.fixture
def parted(tmp_path: Path, database: Database, store: str) -> Iterator[Voyage]:
    """A crawl whose files are objects."""
    made = Voyage(tmp_path / "one", database, store)
    yield made
    made.prove_polite()


def elsewhere(voyage: Voyage, folder: Path) -> Voyage:
    """The same collection on another machine."""
    return Voyage(folder, voyage.database, voyage.depot.objects.address)


def archived(voyage: Voyage, *, whole: bool = False) -> dict[str, bytes]:
    """What the archive holds of each address, read on this machine, where it may have ``whole`` files."""
    source = archive.ArchiveParts(voyage.database, voyage.depot)
    for part in source.parts() if whole else ():
        source.path(part.name)
    rows = voyage.rows("SELECT url, file, place, length FROM urls WHERE state = 1")
    return {url: archive.read(source, ArchiveLocation(*place)).body for url, *place in rows}


def test_a_crawl_that_starts_while_the_object_store_is_away_waits_for_it(
    tmp_path: Path, mock_web: MockWeb, gated_bucket: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_at_once(monkeypatch)
    pages = mock_web.site("a.test", 3)
    settings = settings_for(mock_web.resolve)
    with Database.open(tmp_path / "state.db") as database:
        depot = Depot(LocalFiles(tmp_path / "c"), open_objects(gated_bucket))
        told: list[CrawlStatus] = []
        crawler = Crawler(tmp_path / "c", database, settings, told.append, depot=depot)
        gate.close()
        with ThreadPoolExecutor() as threads:
            crawl = threads.submit(crawler.run, ["http://a.test/"])
            wait_until(lambda: told)
            assert (told[0].state, told[0].reason[:25]) == ("stalled", "it waits and begins by it")
            gate.open()
            assert crawl.result().pages == len(pages)
            said = [text for text in events(database) if "object store" in text]
            assert [text.partition(": ")[0] for text in said] == [
                "a crawl waits for the object store before it begins",
                "a crawl begins",
            ]
            gate.close()
            crawl = threads.submit(crawler.run)
            wait_until(lambda: told[-1].state == "stalled")
            crawler.stop()
            with pytest.raises(StorageAway, match="cannot be connected to|breaks off"):  # a connection that was kept
                crawl.result()
        gate.open()


def content(voyage: Voyage) -> bytes:
    """All that the store has of the archive and of texts."""
    found = b""
    for name in voyage.depot.objects.names():
        data = voyage.depot.objects.get(name)
        found += gzip.decompress(data) if name.endswith(".gz") else data
    return found + b"".join(_texts(voyage))


def _texts(voyage: Voyage) -> Iterator[bytes]:
    log = BatchLog(LocalFiles(voyage.folder), voyage.database, voyage.depot)
    for number in log.numbers():
        yield from (str(document).encode() for document in log.documents(number, links=True))


def test_the_archive_and_the_batches_are_objects_and_are_read_elsewhere(
    parted: Voyage, mock_web: MockWeb, tmp_path: Path
) -> None:
    pages = mock_web.site("a.test", 12) + mock_web.site("b.test", 3)
    mock_web.page("http://a.test/3", links=["http://b.test/"])
    result = parted.run(mock_web, "http://a.test/")
    assert result.pages == len(pages) == result.documents
    names = parted.depot.objects.names("archive/")
    assert len(names) == parted.rows("SELECT COUNT(*) FROM archive_parts WHERE settled = bytes")[0][0]
    assert parted.rows("SELECT COUNT(*) FROM archive_marks") == [(0,)]
    shutil.rmtree(parted.folder)
    other = elsewhere(parted, tmp_path / "two")
    assert set(archived(other)) == set(pages) == set(other.documents())
    assert not list((other.folder / "archive").glob("*"))  # single records are read by ranges
    for name in names:
        whole = archive.ArchiveParts(other.database, other.depot).path(name.removeprefix("archive/"))
        assert list(archive.iterate(whole))
    again = other.run(mock_web, recrawl=True)
    assert again.unchanged + again.pages == len(pages)
    assert set(archived(parted)) == set(pages)


def test_documents_left_for_later_are_made_on_another_machine(
    parted: Voyage, mock_web: MockWeb, tmp_path: Path
) -> None:
    pages = mock_web.site("a.test", 8)
    parted.run(mock_web, "http://a.test/", documents="later")
    other = elsewhere(parted, tmp_path / "two")
    log = BatchLog(LocalFiles(other.folder), other.database, other.depot)
    assert Backlog(other.folder, other.database, log, CrawlSettings()).work() == len(pages)
    assert set(parted.documents()) == set(pages)


def test_a_takedown_leaves_nothing_in_the_store_nor_on_any_machine(
    parted: Voyage, mock_web: MockWeb, tmp_path: Path
) -> None:
    mock_web.page("http://a.test/", links=["/letter", "/other"])
    mock_web.page("http://a.test/letter", f"<p>First words of {SECRET}.", links=[("/other", SECRET)])
    mock_web.page("http://a.test/other", "<p>Nothing private.")
    pages = mock_web.site("b.test", 3)
    parted.run(mock_web, "http://a.test/", "http://b.test/")
    other = elsewhere(parted, tmp_path / "two")
    source = archive.ArchiveParts(other.database, other.depot)
    for part in source.parts():
        source.path(part.name)
    assert SECRET.encode() in content(parted)
    before = archived(parted)
    foreign = [part.stored for part in source.parts() if not part.may_hold({addresses.host_key("a.test")})]
    assert other.documents()
    log = BatchLog(LocalFiles(parted.folder), parted.database, parted.depot)
    removal = remove(parted.database, "http://a.test/letter", log, parted.folder)
    assert len(removal.archived) == 2  # with its request
    assert removal.documents == 1
    assert SECRET.encode() not in content(parted)
    assert parted.rows("SELECT COUNT(*) FROM retired_objects") == [(0,)]
    assert {stored.name for stored in foreign} <= set(parted.depot.objects.names())  # others were not touched
    for voyage in (parted, other):
        SharedCopies(voyage.database, voyage.depot).forget()
        for path in (voyage.folder / "archive").glob("*.warc.gz"):
            assert SECRET.encode() not in gzip.decompress(path.read_bytes())
        assert set(archived(voyage)) == {"http://a.test/", "http://a.test/other", *pages}
    assert archived(other).items() <= before.items()
    with pytest.raises(NotFound):
        archive.read(source, removal.archived[0])


# Many machines


@pytest.fixture
def shared(postgres_address: str) -> Iterator[Database]:
    with Database.open(postgres_address) as opened:
        yield opened


@pytest.fixture
def growing(mock_web: MockWeb) -> Growing:
    return Growing(mock_web, 12)


@pytest.fixture
def machines(
    tmp_path: Path, shared: Database, mock_web: MockWeb, growing: Growing, gated_bucket: str
) -> Iterator[Machines]:
    made = Machines(tmp_path, shared, mock_web, growing.seeds, **Growing.SETTINGS)
    made.files = gated_bucket
    yield made
    made.close()


def reader(machines: Machines) -> Voyage:
    """A machine that took no part."""
    return Voyage(machines.folder / "reader", machines.database, machines.files)


def prove(machines: Machines, growing: Growing) -> None:
    """All that was asked for is in the archive and in the batches, wherever it was fetched, and nothing impolitely."""
    voyage = reader(machines)
    assert voyage.fetched() == set(growing.asked) == set(archived(voyage, whole=True))
    assert set(voyage.documents()) == set(growing.asked)
    assert voyage.rows("SELECT COUNT(*) FROM hosts WHERE active > 0") == [(0,)]
    assert voyage.rows("SELECT COUNT(*) FROM archive_parts WHERE settled < bytes") == [(0,)]
    assert audit(machines.database).violations == ()
    machines.prove_polite(DELAY)


def events(database: Database) -> list[str]:
    with database.read() as tx:
        return [str(text) for (text,) in tx.rows("SELECT text FROM events ORDER BY id")]


@pytest.mark.postgres
def test_two_machines_share_a_crawl_and_one_that_is_killed_loses_nothing_acknowledged(
    machines: Machines, growing: Growing
) -> None:
    first, second = machines.start("one"), machines.start("two")
    for machine in (first, second):
        machine.wait_for(20)
    acknowledged = reader(machines).fetched()
    second.kill()
    shutil.rmtree(machines.folder / "two")  # its disk is lost, too
    first.wait_for(20)
    third = machines.start("three")
    third.wait_for(10)
    growing.end()
    first.join()
    third.join()
    assert status(machines.database).state == "done"
    assert acknowledged <= reader(machines).fetched()
    prove(machines, growing)
    assert len([url for url, count in growing.asked.items() if count > 1]) <= 4 * growing.hosts  # not acknowledged yet


@pytest.mark.postgres
def test_what_a_dead_machine_had_not_uploaded_is_judged_when_it_comes_back(
    machines: Machines, growing: Growing, gate: Gate
) -> None:
    machines.options["retries"] = 1
    first = machines.start("one")
    first.wait_for(20)
    gate.refuse(10**9)
    wait_until(lambda: any("waits for the object store" in text for text in events(machines.database)))
    first.kill()
    left = {path.name for path in (machines.folder / "one" / "archive").glob("*.warc.gz")}
    known = {name for (name,) in reader(machines).rows("SELECT name FROM archive_parts")}
    assert left - known  # not uploaded, or not committed
    gate.refuse(0)
    growing.end()
    machines.start("one").join()
    again = {name for (name,) in reader(machines).rows("SELECT name FROM archive_parts")}
    assert left <= again
    prove(machines, growing)
    assert len([url for url, count in growing.asked.items() if count > 1]) <= growing.hosts  # what was under way


@pytest.mark.postgres
def test_a_crawl_waits_for_its_object_store_and_keeps_its_hosts(
    machines: Machines, growing: Growing, gate: Gate
) -> None:
    machines.options["retries"] = 1
    first, second = machines.start("one"), machines.start("two")
    for machine in (first, second):
        machine.wait_for(20)
    gate.close()  # refuses connections
    wait_until(lambda: sum("waits for the object store" in text for text in events(machines.database)) >= 2)
    wait_until(lambda: any("stalls: it waits and goes on by itself" in text for text in events(machines.database)))
    gate.open()
    for machine in (first, second):
        machine.wait_for(10)
    assert sum("the object store answers again" in text for text in events(machines.database)) >= 2
    growing.end()
    for machine in (first, second):
        machine.join()
    assert machines.numbers("ended") == [1, 2]  # nobody lost its lease
    prove(machines, growing)
    assert max(growing.asked.values()) == 1


@pytest.mark.postgres
def test_machines_find_the_same_pages_and_documents_as_an_embedded_crawl(
    tmp_path: Path, shared: Database, mock_web: MockWeb, bucket: str
) -> None:
    names = [f"h{number}.test" for number in range(6)]
    for place, name in enumerate(names):
        mock_web.site(name, 12, f"Words of {name} alone, {'calm ' * place}sea.")
        mock_web.page(f"http://{name}/3", f"<p>On to {name}'s neighbour", links=[f"http://{names[place - 1]}/"])
    mock_web.redirect("http://h0.test/4", "http://h1.test/5", 301)
    mock_web.page("http://h2.test/5", "<meta name=robots content=noindex><p>Not to be found.")
    with Database.open(tmp_path / "state.db") as own:
        embedded = Voyage(tmp_path / "embedded", own)
        embedded.run(mock_web, "http://h0.test/")
        expected = {document.url: _said(document) for document in documents(embedded)}
        fetched = embedded.fetched()
    assert len(expected) > 70
    mock_web.log.clear()
    machines = Machines(tmp_path, shared, mock_web, ["http://h0.test/"])
    machines.files = bucket
    started = [machines.start(name) for name in ("one", "two")]
    for machine in started:
        machine.join()
    found = reader(machines)
    assert found.fetched() == fetched
    assert {document.url: _said(document) for document in documents(found)} == expected
    assert set(archived(found, whole=True)) == fetched
    machines.prove_polite(DELAY)


def documents(voyage: Voyage) -> list[Document]:
    log = BatchLog(LocalFiles(voyage.folder), voyage.database, voyage.depot)
    return [document for number in log.numbers() for document in log.documents(number, links=True)]


def _said(document: Document) -> tuple[object, ...]:
    return document.title, document.text, document.refusal, document.canonical, document.links


def test_worker_processes_of_one_machine_upload_too(parted: Voyage, mock_web: MockWeb) -> None:
    pages = [page for number in range(6) for page in mock_web.site(f"h{number}.test", 20)]
    seeds = [f"http://h{number}.test/" for number in range(6)]
    parted.run(mock_web, *seeds, workers=2)
    assert set(archived(parted, whole=True)) == set(pages) == set(parted.documents())
    writers = {name.split("-")[2] for (name,) in parted.rows("SELECT name FROM archive_parts")}
    assert len(writers) == 2


@pytest.mark.postgres
def test_a_takedown_reaches_the_copies_of_a_machine_that_crawls(
    machines: Machines, growing: Growing, mock_web: MockWeb
) -> None:
    url = "http://letter.test/"
    mock_web.page(url, f"<p>Words of {SECRET}.")
    machines.seeds.append(url)
    first = machines.start("one")
    voyage = reader(machines)
    wait_until(lambda: url in voyage.fetched() and url in voyage.documents())
    folder = machines.folder / "one"
    assert any(SECRET.encode() in gzip.decompress(path.read_bytes()) for path in held(folder))
    log = BatchLog(LocalFiles(voyage.folder), voyage.database, voyage.depot)
    removal = remove(machines.database, url, log, voyage.folder)
    gone = {folder / "archive" / place.file for place in removal.archived}
    wait_until(lambda: not gone & set(held(folder)))
    growing.end()
    first.join()
    assert not any(SECRET.encode() in gzip.decompress(path.read_bytes()) for path in held(folder))
    assert SECRET.encode() not in content(voyage)


def held(folder: Path) -> list[Path]:
    """Archive files that are whole on a machine: those that no writer has marked."""
    paths = sorted((folder / "archive").glob("*.warc.gz"))
    return [path for path in paths if not path.with_name(f"{path.name}.open").exists()]


# Faults of the store in one process


def test_a_bundle_that_waits_is_bounded_and_a_stop_does_not_wait_for_ever(
    tmp_path: Path,
    gated_bucket: str,
    gate: Gate,
    mock_web: MockWeb,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_up_at_once(monkeypatch)
    monkeypatch.setattr(ledger, "MOST_PAGES", 10)
    monkeypatch.setattr(uploads, "PAUSE", 0.05)
    monkeypatch.setattr(uploads, "LAST_SECONDS", 0.5)
    hosts = ("a.test", "b.test", "c.test")
    pages = [page for name in hosts for page in mock_web.site(name, 90)]
    seeds = [f"http://{name}/" for name in hosts]
    with Database.open(tmp_path / "state.db") as database:
        voyage = Voyage(tmp_path / "one", database, gated_bucket)
        crawler = Crawler(voyage.folder, database, settings_for(mock_web.resolve, delay=0.01), depot=voyage.depot)
        failed: list[Exception] = []

        def run() -> None:
            try:
                crawler.run(seeds)
            except StorageAway as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: len(voyage.fetched()) >= 10)
        gate.fault = lambda method, path: 503 if method == "PUT" else None
        wait_until(lambda: any("waits for the object store" in text for text in events(database)))
        tries = len(gate.asked) + 40
        wait_until(lambda: len(gate.asked) >= tries)
        committed = voyage.fetched()
        crawler.stop()
        thread.join()
        asked = {record.url for record in mock_web.requests()} & set(pages)
        assert "answers 503" in str(failed[0])
        assert committed < asked < set(pages)
        gate.refuse(0)
        Voyage(voyage.folder, database, gated_bucket).run(mock_web)
        assert voyage.fetched() == set(archived(voyage)) == set(voyage.documents()) == set(pages)
        urls = [record.url for record in mock_web.requests() if record.url in asked]
        assert len(urls) == len(asked)  # what was archived here was judged, not asked for again


def test_a_store_that_refuses_us_is_said_before_anything_is_asked(
    parted: Voyage, mock_web: MockWeb, bucket: str
) -> None:
    refused = Voyage(parted.folder, parted.database, "s3://not-there/main")
    mock_web.site("a.test", 3)
    with pytest.raises(StorageError, match="there is no bucket 'not-there'"):
        refused.run(mock_web, "http://a.test/")
    assert mock_web.requests() == []
