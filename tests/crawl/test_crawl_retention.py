"""What leaves the archive, and what never does: compared with a slow oracle, and killed at every step."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from periplus import addresses, archive
from periplus.archive import Revisit
from periplus.crawl import forget_missing, remove
from periplus.crawl.frontier.rows import NEVER, Bundle, FoundAddress
from periplus.crawl.keeping.forgetting import FORGOTTEN_AFTER
from periplus.crawl.keeping.retention import BETWEEN, DAY, SPANS
from periplus.errors import NotFound, StorageBusy
from periplus.storage import Database, folder_lock
from support.kills import killed_at
from support.played_crawl import BEGUN, PlayedCrawl

KEEP = 4
PAGES = [f"http://a.test/{number}" for number in range(5)]
ROBOTS = "http://a.test/robots.txt"
SAYINGS = ((200, "new"), (200, "same"), (304, ""), (404, ""), (410, ""), (301, ""), (500, ""))
WEIGHTS = (6, 5, 3, 2, 1, 1, 1)


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    with Database.open(tmp_path / "state.db") as database:
        yield PlayedCrawl(tmp_path, database, monkeypatch, KEEP)


def live(crawl):
    """The oracle: what must be readable, by going through all that was ever said."""
    newest = {one.url: one for one in crawl.said}
    with crawl.database.read() as tx:
        failed = {url for (url,) in tx.rows("SELECT url FROM urls WHERE state = 2")}
    wanted = {one.place for one in newest.values() if one.url not in failed} | set(crawl.named().values())
    wanted |= {one.place for one in crawl.said if one.at > crawl.now - KEEP * DAY}
    while more := {one.refers_to for one in crawl.said if one.place in wanted and one.refers_to} - wanted:
        wanted |= more
    return wanted


def play(crawl, chance, days):
    """Days of a small site, a look at the archive after each."""
    bodies = dict.fromkeys(PAGES, "first")
    crawl.crawl(*((url, 200, "first") for url in PAGES), (ROBOTS, 200, "User-agent: *"))
    for day in range(days):
        crawl.now += DAY * chance.choice((0.2, 1, 1, 2))
        round_ = []
        for url in PAGES:
            if chance.random() < 0.6:
                status, kind = chance.choices(SAYINGS, WEIGHTS)[0]
                if kind == "new":
                    bodies[url] = f"{url} {day}"
                round_.append((url, status, bodies[url]))
        crawl.crawl(*round_, *([(ROBOTS, 200, "User-agent: *")] if chance.random() < 0.3 else []))
        yield day


@given(st.integers(0, 10**9))
@settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_live_can_be_read_and_the_rest_goes(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("retention")
    with pytest.MonkeyPatch.context() as patch, Database.open(folder / "state.db") as database:
        crawl = PlayedCrawl(folder, database, patch, KEEP)
        texts = {}
        for _ in play(crawl, random.Random(seed), 25):
            texts |= {one.place: archive.read(crawl.archive, one.place) for one in crawl.said if one.place not in texts}
            crawl.retain()
            for place in live(crawl):
                assert archive.read(crawl.archive, place) == texts[place]
        with database.write() as tx:  # no worker has a page that is gone in its memory
            tx.execute("UPDATE urls SET next_at = ? WHERE state > 1", (NEVER,))
        for _ in range(3):
            crawl.now += KEEP * DAY * BETWEEN
            crawl.retain()
        assert crawl.held() == live(crawl)
        with database.read() as tx:
            marks = {name for (name,) in tx.rows("SELECT file FROM archive_marks")}
            looks = {name for (name,) in tx.rows("SELECT file FROM archive_looks")}
            lost = tx.rows("SELECT url FROM urls WHERE state <> 1 AND length > 0")
        assert marks == looks == {path.name for path in crawl.archive.glob("*.warc.gz")}
        assert lost == []


def settle(crawl, looks=3):
    """So many looks at everything."""
    for _ in range(looks):
        crawl.now += KEEP * DAY * BETWEEN
        crawl.retain()


def test_a_response_stays_while_a_revisit_that_stays_goes_back_to_it(crawl):
    url = PAGES[0]
    crawl.crawl((url, 200, "first"))
    first = crawl.said[0].place
    for _ in range(2 * KEEP):
        crawl.now += DAY
        crawl.crawl((url, 200, "first"))
        crawl.retain()
    crawl.now += DAY
    crawl.crawl((url, 200, "second"))
    revisits = [one for one in crawl.said if one.refers_to == first and one.at > crawl.now - KEEP * DAY]
    assert revisits
    crawl.retain()
    crawl.now += DAY
    crawl.retain()
    revisits = [one for one in revisits if one.at > crawl.now - KEEP * DAY]
    assert revisits
    assert [archive.read(crawl.archive, one.place).body for one in revisits] == len(revisits) * [
        archive.read(crawl.archive, first).body
    ]
    settle(crawl)
    assert crawl.held() == {crawl.said[-1].place}


def test_a_page_that_repeats_itself_keeps_the_place_of_its_payload(crawl):
    """Also one that is judged again at each visit, as a duplicate is: no chain of revisits grows."""
    crawl.crawl((PAGES[0], 200, "same"), (PAGES[1], 200, "same"))
    assert crawl.row(PAGES[1]).same_as
    place = crawl.row(PAGES[1]).location
    for _ in range(7):
        crawl.now += DAY
        crawl.crawl((PAGES[1], 200, "same"))
    assert crawl.row(PAGES[1]).location == place
    documents = [one for number in crawl.log.numbers() for one in crawl.log.documents(number) if one.url == PAGES[1]]
    assert {one.archive for one in documents} == {place}
    assert archive.read(crawl.archive, place).body


def test_a_chain_of_revisits_of_an_earlier_version_stays(crawl):
    url = PAGES[0]
    crawl.crawl((url, 200, "first"))
    places = [crawl.said[0].place]
    for _ in range(3):
        crawl.now += DAY
        crawl.crawl((url, 500, ""))
        with archive.ArchiveWriter(crawl.archive) as writer:  # as versions before wrote: each names the one before
            exchange = archive.read(crawl.archive, places[-1])
            places.append(writer.append(exchange, Revisit(url, 1.0, places[-1])))
        path = crawl.archive / places[-1].file
        with crawl.database.write() as tx:
            place = places[-1]
            tx.execute("INSERT INTO archive_marks (file, place) VALUES (?, ?)", (path.name, path.stat().st_size))
            tx.execute("UPDATE urls SET file = ?, place = ?, length = ?", (place.file, place.offset, place.length))
    settle(crawl)
    assert archive.references(crawl.archive, places[-1]) == [
        archive_place(place, length=0) for place in reversed(places[:-1])
    ]
    assert archive.read(crawl.archive, places[-1]).body == archive.read(crawl.archive, places[0]).body


def archive_place(place, length):
    return type(place)(place.file, place.offset, length)


def test_a_page_that_is_gone_goes_after_a_while(crawl):
    url = PAGES[0]
    crawl.crawl((url, 200, "first"), (PAGES[1], 200, "other"))
    place = crawl.row(url).location
    crawl.now += KEEP * DAY
    crawl.crawl((url, 410, ""))
    with crawl.database.write() as tx:
        tx.execute("UPDATE urls SET next_at = ? WHERE url = ?", (crawl.now + 100 * DAY, url))
    crawl.now += DAY
    crawl.retain()
    assert archive.read(crawl.archive, place).status == 200  # it was just found to be gone
    assert crawl.row(url).location == place
    settle(crawl, 2)
    with pytest.raises(NotFound):
        archive.read(crawl.archive, place)
    assert crawl.row(url).location is None
    assert archive.read(crawl.archive, crawl.row(PAGES[1]).location).status == 200
    assert crawl.held() == {crawl.row(PAGES[1]).location}


def test_a_page_that_comes_back_before_is_kept(crawl):
    url = PAGES[0]
    crawl.crawl((url, 200, "first"))
    crawl.now += KEEP * DAY
    crawl.crawl((url, 410, ""))
    crawl.now += DAY
    crawl.retain()
    crawl.crawl((url, 200, "first"))
    settle(crawl)
    assert archive.read(crawl.archive, crawl.row(url).location).body


def test_nothing_goes_where_everything_is_kept(crawl):
    crawl.keep_days = 0
    for _ in play(crawl, random.Random(1), 10):
        pass
    before = crawl.held()
    settle(crawl)
    assert crawl.held() == before == {one.place for one in crawl.said}


def test_a_file_that_the_state_does_not_know_to_its_end_stays(crawl):
    for number in range(3):
        crawl.crawl((PAGES[0], 200, f"version {number}"))
        crawl.now += DAY
    with crawl.database.write() as tx:
        tx.execute("UPDATE archive_marks SET place = place - 1")
    settle(crawl)
    assert len(crawl.held()) == 3
    with crawl.database.write() as tx:
        tx.execute("DELETE FROM archive_marks")
    settle(crawl)
    assert len(crawl.held()) == 3


def test_a_damaged_file_stays_and_is_told(crawl):
    for number in range(3):
        crawl.crawl((PAGES[0], 200, f"version {number}"))
    (path,) = crawl.archive.glob("*.warc.gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    settle(crawl)
    assert path.read_bytes() == data
    with crawl.database.read() as tx:
        assert any("stays as it is" in text for (text,) in tx.rows("SELECT text FROM events"))


def test_a_takedown_is_waited_for_and_leaves_nothing(crawl):
    for number in range(6):
        crawl.crawl(*((url, 200, f"{url} {number}") for url in PAGES[:2]))
        crawl.now += DAY
    crawl.now += KEEP * DAY
    with folder_lock(crawl.folder / "takedown.lock", "taking down"), pytest.raises(StorageBusy):
        crawl.retain()
    crawl.retain()
    remove(crawl.database, PAGES[0], crawl.log, crawl.folder)  # in files of which some are thinned
    settle(crawl)
    assert not any(archive.places_of(crawl.archive, PAGES[0].__eq__))
    assert crawl.held() == {crawl.row(PAGES[1]).location}
    secret = b"http://a.test/0 "
    for path in crawl.archive.glob("*.warc.gz"):
        with path.open("rb") as file:
            assert all(PAGES[0] != one.url for one in archive.holdings(file))
        assert secret not in path.read_bytes()


def test_addresses_that_are_missing_for_good_are_forgotten(crawl, monkeypatch):
    monkeypatch.setattr("periplus.crawl.keeping.forgetting.time.time", lambda: crawl.now)
    crawl.worker.frontier.commit(Bundle(found=[found(url, 1) for url in PAGES[:3]] + [found(PAGES[3], 0)]), crawl.now)
    crawl.crawl(*((url, 200, url) for url in PAGES[:4]))
    asked = 0
    while crawl.row(PAGES[0]):
        crawl.now = max(crawl.now + DAY, crawl.row(PAGES[0]).next_at)
        crawl.crawl(
            (PAGES[0], 404, ""), (PAGES[1], 404 if asked < FORGOTTEN_AFTER - 2 else 200, ""), (PAGES[3], 404, "")
        )
        asked += 1
        forget_missing(crawl.database)
    assert asked == FORGOTTEN_AFTER
    assert crawl.now - BEGUN > 250 * DAY
    assert [bool(crawl.row(url)) for url in PAGES[:4]] == [False, True, True, True]  # one came back, one is a seed
    with crawl.database.read() as tx:
        pages, queued = tx.row("SELECT SUM(pages), SUM(queued) FROM hosts")
        counted = tx.row("SELECT SUM(state = 1), SUM(state = 0) FROM urls")
    assert (pages, queued) == counted
    crawl.now += DAY
    crawl.crawl((PAGES[0], 200, "back"))  # a link leads there again
    assert crawl.row(PAGES[0]).missing == 0
    assert forget_missing(crawl.database) == 0


def test_what_a_worker_may_hold_is_not_forgotten(crawl):
    crawl.crawl((PAGES[0], 404, ""))
    with crawl.database.write() as tx:
        tx.execute("UPDATE urls SET missing = 50, depth = 1, next_at = ?", (time.time(),))
    assert forget_missing(crawl.database) == 0
    with crawl.database.write() as tx:
        tx.execute("UPDATE urls SET next_at = ?", (NEVER,))
    assert forget_missing(crawl.database) == 0  # it was looked today
    with crawl.database.write() as tx:
        tx.execute("DELETE FROM meta WHERE key = 'urls.forgotten'")
    assert forget_missing(crawl.database) == 1
    assert crawl.row(PAGES[0]) is None


def found(url, depth):
    return FoundAddress(addresses.key(url), url, addresses.host(url), depth=depth)


def test_files_are_gone_on_with_for_a_part_of_the_days(crawl):
    for _ in range(4 * KEEP):
        crawl.crawl((PAGES[0], 304 if crawl.said else 200, "first"))
        crawl.now += DAY / 4
    files = list(crawl.archive.glob("*.warc.gz"))
    assert len(files) == SPANS  # two rounds each


def test_work_ends_after_a_while(crawl):
    for number in range(4):
        crawl.crawl((PAGES[0], 200, f"version {number}"))
        crawl.now += KEEP * DAY / SPANS + DAY
    crawl.now += KEEP * DAY
    assert crawl.retain(seconds=0).files == 1
    assert crawl.retain(seconds=0).files == 1
    assert crawl.retain().files == 2


class _Killing:
    """A database whose user is killed around its n-th transaction."""

    def __init__(self, database, step):
        self._database, self._left = database, step

    def read(self):
        return self._database.read()

    @contextmanager
    def write(self):
        self._count()
        with self._database.write() as tx:
            yield tx
        self._count()

    def _count(self):
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("at", ["files", "transactions"])
def test_a_kill_at_any_step_loses_nothing(tmp_path, monkeypatch, at):
    (tmp_path / "made").mkdir()
    with Database.open(tmp_path / "made" / "state.db") as database:
        made = PlayedCrawl(tmp_path / "made", database, monkeypatch, KEEP)
        for day in play(made, random.Random(3), 14):
            if day == 8:
                made.retain()
        wanted = {place: archive.read(made.archive, place) for place in live(made)}
        made.now += KEEP * DAY * (1 + BETWEEN)
        database.checkpoint()
    step, killed = 0, True
    while killed:
        step += 1
        folder = tmp_path / f"{step}"
        shutil.copytree(tmp_path / "made", folder, copy_function=shutil.copy2)

        def work(folder=folder, step=step):
            with Database.open(folder / "state.db") as database:
                crawl = PlayedCrawl(folder, database, monkeypatch, KEEP)
                crawl.now = made.now
                crawl.database = _Killing(database, step) if at == "transactions" else database
                crawl.retain()

        killed = killed_at(step if at == "files" else 10**9, work)
        with Database.open(folder / "state.db") as database:
            crawl = PlayedCrawl(folder, database, monkeypatch, KEEP)
            crawl.now, crawl.said = made.now, made.said
            crawl.retain()
            after = live(crawl)
            assert after
            for place in after:
                assert archive.read(crawl.archive, place) == wanted[place]
            assert archive.repair(crawl.archive) == []
            with database.read() as tx:
                marks = {name for (name,) in tx.rows("SELECT file FROM archive_marks")}
            assert marks <= {path.name for path in crawl.archive.iterdir()}
            assert not list(crawl.archive.glob(".tmp-*"))
        shutil.rmtree(folder)
    assert step > 8
