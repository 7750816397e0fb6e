"""``doctor --repair`` builds a lost state again: as it was, as far as the stored files can tell."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from periplus import Collection
from periplus.app.doctor import repair
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.errors import StateLost
from periplus.storage import Database
from support.kills import killed_at

URLS = (
    "SELECT url, kind, state, reason, status, refusal, pending, batch > 0, body_hash, fingerprint, file, place,"
    " length, etag, next_at, same_as, visits FROM urls ORDER BY url"
)
HOSTS = "SELECT name, site, queued, pages, requests, linked FROM hosts ORDER BY name"
REST = (
    "SELECT number, documents, links FROM batches ORDER BY number",
    "SELECT file, place FROM archive_marks ORDER BY file",
    "SELECT origin, status, body FROM robots ORDER BY origin",
    "SELECT at, url, outcome, status, bytes FROM journal ORDER BY at, url",
    "SELECT target FROM removed ORDER BY target",
)


@pytest.fixture(scope="module")
def web():
    with DemoWeb() as running:
        yield running


@pytest.fixture(scope="module")
def sound(web, tmp_path_factory):
    """A crawl that is not at its end, ranked and indexed."""
    folder = tmp_path_factory.mktemp("rebuilding") / "c"
    with Collection(folder) as collection:
        collection.crawl(web.seeds(), max_pages=40, delay=0.01, resolve=web.resolve)
        collection.rank()
        collection.index()
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "c")


def picture(collection):
    """What there is to compare, row by row; numbers as the engines of both databases give them."""
    with collection.database.read() as tx:
        rows = [row for sql in (URLS, HOSTS, *REST) for row in tx.rows(sql)]
    return {tuple(_comparable(value) for value in row) for row in rows}


def _comparable(value):
    """Moments to a tenth of a second: the archive writes them to the microsecond, the journal a little finer."""
    if not isinstance(value, bool | int | float):
        return value
    return round(float(value), 1) if isinstance(value, float) else float(value)


def found(collection):
    return [[(hit.url, round(hit.score, 6)) for hit in collection.search(words, k=50)] for words in ("tide", "harbour")]


def mended(findings):
    return [finding.detail for finding in findings if finding.check == "database" and finding.state == "mended"]


def failures(findings):
    return [finding for finding in findings if finding.state == "failed"]


def test_a_lost_state_is_built_again_as_it_was(folder, web):
    with Collection(folder) as collection:
        before, answers = picture(collection), found(collection)
        story = collection.inspect(web.seeds()[0])
    (folder / "state.db").unlink()
    with Collection(folder) as collection:
        findings = repair(collection)
        assert not failures(findings)
        said = " ".join(mended(findings))
        assert "built again: " in said
        assert "not known again: " in said
        assert picture(collection) ^ before == set()
        assert found(collection) == answers
        assert collection.politeness().clean
        again = collection.inspect(web.seeds()[0])
        assert [(step.step, step.state, step.reason) for step in again.steps] == [
            (step.step, step.state, step.reason) for step in story.steps
        ]
        assert not mended(repair(collection))  # nothing is left to do


def test_a_crawl_goes_on_where_it_was_and_asks_for_nothing_twice(folder, web):
    (folder / "state.db").unlink()
    with Collection(folder) as collection:
        repair(collection)
        with collection.database.read() as tx:
            fetched = {url for (url,) in tx.rows("SELECT url FROM urls WHERE state > 0")}
            pages = tx.value("SELECT SUM(pages) FROM hosts")
        asked = len(web.requests)
        collection.crawl(max_pages=pages + 5, delay=0.01, resolve=web.resolve)
        with collection.database.read() as tx:
            assert tx.value("SELECT SUM(pages) FROM hosts") == pages + 5
            new = tx.rows("SELECT url FROM journal ORDER BY id DESC LIMIT ?", (len(web.requests) - asked,))
        assert not fetched & {url for (url,) in new}
        assert collection.politeness().clean
        collection.index()
        assert collection.status().index.documents > 0


def test_what_was_taken_down_stays_out(folder, web):
    with Collection(folder) as collection:
        target = next(hit.url for hit in collection.search("tide") if hit.url not in web.seeds())
        collection.remove(target)
        answers = found(collection)
    (folder / "state.db").unlink()
    with Collection(folder) as collection:
        assert not failures(repair(collection))
        assert found(collection) == answers
        assert target not in {url for one in answers for url, _ in one}
        assert any(step.reason == "removed" for step in collection.inspect(target).steps)
        asked = len(web.requests)
        collection.crawl(max_pages=45, delay=0.01, resolve=web.resolve)
        assert len(web.requests) > asked
        with collection.database.read() as tx:
            assert not tx.value("SELECT 1 FROM urls WHERE url = ? AND state <> 3", (target,))


def damage(path):
    """Pages of the table of addresses are overwritten; others can still be read."""
    data = bytearray(path.read_bytes())
    pages = [start for start in range(0, len(data), 4096) if data.count(b".warc.gz", start, start + 4096) > 3]
    for start in pages:
        data[start : start + 200] = bytes(range(200))
    assert pages
    path.write_bytes(data)


def test_what_can_be_read_of_a_damaged_state_is_taken_over_and_the_old_file_is_kept(folder, web):
    with Database.open(folder / "state.db") as database, database.write() as tx:
        tx.execute("INSERT INTO removed (target, at) VALUES ('whole.test', 1)")  # a host: no batch tells
        tx.execute("INSERT INTO meta (key, value) VALUES ('told', 'scope=host')")
    damage(folder / "state.db")
    old = (folder / "state.db").read_bytes()
    with Collection(folder) as collection:
        assert not failures(repair(collection))
        with collection.database.read() as tx:
            assert tx.value("SELECT value FROM meta WHERE key = 'told'") == "scope=host"
            assert tx.value("SELECT 1 FROM removed WHERE target = 'whole.test'")
            assert {url for (url,) in tx.rows("SELECT url FROM seeds")} == set(web.seeds())
    assert (folder / "state.db.kept-1").read_bytes() == old


def test_a_state_of_another_collection_is_kept_aside_and_nothing_of_it_is_taken(folder):
    with Collection(folder.parent / "other") as other:
        other.create()
        with other.database.write() as tx:
            tx.execute("INSERT INTO removed (target, at) VALUES ('strange.test', 1)")
    (folder / "state.db").unlink()
    shutil.copy(folder.parent / "other" / "state.db", folder / "state.db")
    with Collection(folder) as collection:
        assert not failures(repair(collection))
        with collection.database.read() as tx:
            assert not tx.value("SELECT 1 FROM removed WHERE target = 'strange.test'")
    assert (folder / "state.db.kept-1").exists()


def test_an_older_state_is_brought_up_to_the_files(folder):
    with Collection(folder) as collection:
        before = picture(collection)
    with Database.open(folder / "state.db") as database, database.write() as tx:
        tx.execute("DELETE FROM batches")
        tx.execute("UPDATE counters SET value = 0 WHERE name = 'batches'")
        tx.execute("DELETE FROM urls WHERE fetched_at > 0")
    with Collection(folder) as collection:
        assert "older than the stored files" in collection.status().notice
        assert not failures(repair(collection))
        assert picture(collection) ^ before == set()


def test_pages_without_documents_get_them_from_the_archive(folder):
    with Collection(folder) as collection:
        answers = found(collection)
    shutil.rmtree(folder / "documents")
    shutil.rmtree(folder / "links")
    shutil.rmtree(folder / "index")
    shutil.rmtree(folder / "ranks")
    (folder / "state.db").unlink()
    with Collection(folder) as collection:
        assert not failures(repair(collection))
        collection.rank()
        collection.index()
        assert [sorted(url for url, _ in one) for one in found(collection)] == [
            sorted(url for url, _ in one) for one in answers
        ]


def test_a_damaged_batch_is_left_out_and_its_pages_are_made_again(folder):
    batch = max((folder / "documents").iterdir(), key=lambda path: path.stat().st_size)
    batch.write_bytes(batch.read_bytes()[:-200])
    damaged = batch.read_bytes()
    (folder / "state.db").unlink()
    with Collection(folder) as collection:
        findings = repair(collection)
        assert any(batch.name in line for line in mended(findings))
        answers = found(collection)
        collection.index(rebuild=True)
        assert [{url for url, _ in one} for one in found(collection)] == [{url for url, _ in one} for one in answers]
    assert (folder / "damaged" / "documents" / batch.name).read_bytes() == damaged  # kept, though not in the way


def test_killed_at_every_step_it_is_begun_again(folder, tmp_path):
    with Collection(folder) as collection:
        before = picture(collection)
    (folder / "state.db").write_bytes(b"damaged" * 1000)

    def work():
        with Collection(folder) as collection:
            repair(collection)

    step = 1
    while killed_at(step, work):
        kept = [path for path in folder.glob("state.db.kept-*") if path.read_bytes() == b"damaged" * 1000]
        assert kept or (folder / "state.db").read_bytes() == b"damaged" * 1000  # it is never gone
        step += 1 + step // 8
        assert step < 500
    with Collection(folder) as collection:
        assert not collection.notice
        assert picture(collection) ^ before == set()


def test_the_verb(folder, capsys):
    (folder / "state.db").unlink()
    assert run(["doctor", "--dir", str(folder)]) == 1
    assert "periplus doctor --repair" in " ".join(capsys.readouterr().out.split())
    assert run(["doctor", "--repair", "--dir", str(folder)]) == 0
    assert run(["doctor", "--dir", str(folder)]) == 0
    with sqlite3.connect(folder / "state.db") as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)


@pytest.mark.postgres
def test_postgresql(folder, postgres_address):
    with Collection(folder) as collection:
        before = picture(collection)
    (folder / "state.db").unlink()
    flags = {"storage.database": postgres_address}
    with Collection(folder, flags=flags) as collection:
        with pytest.raises(StateLost, match="doctor --repair"):
            collection.index()
        assert not failures(repair(collection))
        assert picture(collection) ^ before == set()
        with collection.database.write() as tx:  # as an interrupted repair leaves it
            tx.execute("INSERT INTO meta (key, value) VALUES ('state.unfinished', '1')")
            tx.execute("DELETE FROM batches")
    with Collection(folder, flags=flags) as collection:
        assert "was not built to its end" in collection.status().notice
        assert not failures(repair(collection))
        assert picture(collection) ^ before == set()
