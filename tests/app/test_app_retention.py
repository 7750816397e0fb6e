"""A bounded archive in a whole collection: everything else goes on as if nothing had left it."""

from __future__ import annotations

import json
import random
import shutil
import zipfile

import pytest

from periplus import Collection, addresses, archive
from periplus.app.backups import back_up, open_store, restore
from periplus.app.doctor import examine, repair
from periplus.app.pages.page_content import page_content
from periplus.cli.main import run
from periplus.crawl.frontier.rows import FETCHED
from periplus.crawl.keeping.retention import BETWEEN, DAY
from periplus.documents import BatchLog
from periplus.jobs import damaged_batches
from support.played_crawl import PlayedCrawl

KEEP = 4
PAGES = [f"http://a.test/{number}" for number in range(6)]
COPY = "http://a.test/copy"
ROBOTS = "http://a.test/robots.txt"


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Three weeks of a small site in a collection that is indexed; what left the archive left it."""
    folder = tmp_path / "c"
    with Collection(folder).create() as collection:
        (folder / "periplus.toml").write_text(f"[archive]\nkeep_days = {KEEP}\n", encoding="utf-8")
        crawl = PlayedCrawl(folder, collection.database, monkeypatch, KEEP)
        play(crawl, collection)
        yield crawl, collection


def play(crawl, collection):
    chance = random.Random(5)
    crawl.crawl((ROBOTS, 200, "User-agent: *\nDisallow: /no"), *((url, 200, f"tide {url[-1]}") for url in PAGES))
    crawl.crawl((COPY, 200, "tide 0"))
    for day in range(20):
        crawl.now += DAY
        said = [(url, 200, f"tide {url[-1]} of {day}") for url in PAGES[:2] if chance.random() < 0.8]
        said += [(PAGES[2], 304, ""), (PAGES[3], 200, "tide 3"), (COPY, 200, "tide 0")]
        said += [(PAGES[4], 404, "")] if day > 3 else []
        crawl.crawl(*said, (ROBOTS, 200, "User-agent: *\nDisallow: /no"))
        collection.index()
    crawl.now += KEEP * DAY * BETWEEN
    collection.index()


def answers(collection):
    return {(hit.url, hit.title) for hit in collection.search("tide", k=50)}


def documents(collection):
    """The newest row of each address in the log."""
    log = BatchLog(collection.files, collection.database)
    return {doc.url: (doc.refusal, doc.text, doc.archive) for n in log.numbers() for doc in log.documents(n)}


def failures(findings):
    return [finding for finding in findings if finding.state == "failed"]


def test_the_archive_is_bounded_and_all_else_is_as_it_was(played):
    crawl, collection = played
    said, held = len(crawl.said), crawl.held()
    assert len(held) < said / 3
    for url, place in crawl.named().items():
        assert archive.read(crawl.archive, place).url == url
    for refusal, text, place in documents(collection).values():
        assert refusal == "gone" if place is None else archive.read(crawl.archive, place).status == 200, text
    assert failures(examine(collection)) == []
    assert {url for url, _ in answers(collection)} >= {PAGES[0], PAGES[1], PAGES[2], PAGES[3]}
    assert page_content(collection, PAGES[2]).links is not None


def test_a_lost_state_is_built_again_from_what_is_left(played):
    crawl, collection = played
    before, stored = answers(collection), documents(collection)
    named = crawl.named()
    collection.close()
    for path in collection.folder.glob("state.db*"):
        path.unlink()
    with Collection(collection.folder) as again:
        assert failures(repair(again)) == []
        assert failures(examine(again)) == []
        assert answers(again) == before
        assert documents(again) == stored
        with again.database.read() as tx:
            rows = tx.rows(f"SELECT url, file, place FROM urls WHERE state = {FETCHED} AND kind = 0")
            rules = tx.value("SELECT body FROM robots")
        assert {url: (file, place) for url, file, place in rows} == {
            url: (place.file, place.offset) for url, place in named.items() if not url.endswith(".txt")
        }
        assert "/no" in rules


def test_pages_of_a_damaged_batch_are_made_again(played):
    _, collection = played
    before = answers(collection)
    for name in collection.files.names("documents/"):
        path = collection.files.path(name)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)
    assert damaged_batches(BatchLog(collection.files, collection.database), collection.database)
    assert failures(repair(collection)) == []
    assert failures(examine(collection)) == []
    assert answers(collection) == before


def test_backups_of_before_and_after_are_whole(played, tmp_path):
    crawl, collection = played
    crawl.now += DAY
    crawl.crawl((PAGES[0], 200, "tide 0 once more"))
    collection.index()
    store = open_store(str(tmp_path / "kept"))
    back_up(collection, store)
    wanted = [(place, archive.read(crawl.archive, place)) for place in crawl.named().values()]
    before = answers(collection)
    for _ in range(2):
        crawl.now += KEEP * DAY * BETWEEN
        collection.index()
    back_up(collection, store)
    for number in (1, 2):
        folder = tmp_path / f"restored{number}"
        restore(store, folder, number=number)
        with Collection(folder) as restored:
            assert failures(examine(restored)) == []
            assert answers(restored) == before
            for place, exchange in wanted:
                assert archive.read(folder / "archive", place) == exchange


def test_exports_are_right(played, tmp_path):
    crawl, collection = played
    folder = ["--dir", str(collection.folder)]
    assert run(["export", "warc", "--site", "a.test", "--out", str(tmp_path / "some.warc.gz"), *folder]) == 0
    some = [exchange.url for _, exchange in archive.iterate(tmp_path / "some.warc.gz")]
    assert sorted(some) == sorted(crawl.named())
    assert run(["export", "cdxj", "--out", str(tmp_path / "index.cdxj"), *folder]) == 0
    for line in (tmp_path / "index.cdxj").read_text().splitlines():
        told = json.loads(line.split(" ", 2)[2])
        with (crawl.archive / told["filename"]).open("rb") as file:
            file.seek(int(told["offset"]))
            alone = tmp_path / "alone.warc.gz"
            alone.write_bytes(file.read(int(told["length"])))
        ((_, exchange),) = archive.iterate(alone)
        assert exchange.url == told["url"]
    assert run(["export", "wacz", "--out", str(tmp_path / "all.wacz"), *folder]) == 0
    shutil.unpack_archive(tmp_path / "all.wacz", tmp_path / "all", "zip")
    with zipfile.ZipFile(tmp_path / "all.wacz") as package:
        assert package.testzip() is None
    held = [one.url for path in sorted((tmp_path / "all/archive").iterdir()) for _, one in archive.iterate(path)]
    assert len(held) == len(crawl.held())


def test_a_page_is_taken_down_everywhere(played):
    crawl, collection = played
    collection.remove(PAGES[3])
    assert not archive.places_of(crawl.archive, PAGES[3].__eq__)
    crawl.now += KEEP * DAY * BETWEEN
    collection.index()
    assert PAGES[3] not in {url for url, _ in answers(collection)}
    assert failures(examine(collection)) == []
    assert crawl.row(PAGES[3]).reason == "removed"
    assert addresses.key(PAGES[3]) == crawl.row(PAGES[3]).key


def test_a_file_that_lost_its_end_is_told_and_forgotten(played):
    crawl, collection = played
    thinned = []
    for path in sorted(crawl.archive.glob("*.warc.gz")):
        with path.open("rb") as file:
            thinned += [path] if archive.is_thinned(file) else []
    path = thinned[0]
    path.write_bytes(path.read_bytes()[:-60])
    assert any(path.name in finding.detail for finding in failures(examine(collection)))
    repair(collection)
    assert failures(examine(collection)) == []
    path.unlink()
    assert any("is missing" in finding.detail for finding in failures(examine(collection)))
    repair(collection)
    assert failures(examine(collection)) == []
