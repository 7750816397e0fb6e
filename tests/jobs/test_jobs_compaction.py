"""Compaction by the pipeline: fewer files, and the same answers and ranks as from the log as it was written."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from periplus import addresses
from periplus.app import Collection
from periplus.app.doctor import repair
from periplus.documents import BatchLog, spans
from periplus.graph import RankStore, refresh_ranks
from periplus.records import Document, Link
from support.postgres import postgres_address  # noqa: F401 (a fixture)

WORDS = ("tide", "harbour", "pilot", "chart", "lead", "sound")
BATCHES = 24


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c").create() as collection:
        yield collection


def rows(chance, number):
    """A few pages, some of them again, some gone."""
    for _ in range(chance.randrange(1, 4)):
        url = f"http://h{chance.randrange(4)}.test/{chance.randrange(12)}"
        refusal = "gone" if chance.random() < 0.2 else ""
        text = "" if refusal else f"{chance.choice(WORDS)} {chance.choice(WORDS)} version {number}"
        links = [Link(f"http://h{chance.randrange(4)}.test/{chance.randrange(12)}", "see") for _ in range(3)]
        yield Document(
            url=url, key=addresses.key(url), fetched=float(number), title=text[:20], text=text, language="en",
            refusal=refusal, links=() if refusal else tuple(links),
        )  # fmt: skip


def answers(collection):
    return {word: [(hit.url, hit.title) for hit in collection.search(word, k=50)] for word in WORDS}


def test_what_is_found_and_ranked_is_the_same(collection, tmp_path):
    chance = random.Random(11)
    log = BatchLog(collection.files, collection.database)
    with Collection(tmp_path / "plain").create() as plain:
        other = BatchLog(plain.files, plain.database)
        for number in range(BATCHES):
            documents = list(rows(chance, number))
            log.append(documents)
            other.append(documents)
            if number % 5 == 4:
                collection.index()
        collection.rank()
        collection.index()
        expected = refresh_ranks(other, RankStore(tmp_path / "ranks"))
        plain.rank()
        plain.index(rebuild=True)
        assert len(log.numbers()) < BATCHES // 2
        ranks = collection.rank()
        table = RankStore(collection.folder / "ranks").current()
        assert ranks.pages == expected.pages
        np.testing.assert_array_equal(table.page_keys, expected.page_keys)
        np.testing.assert_allclose(table.page_ranks, expected.page_ranks, atol=1e-8)
        assert {word: set(found) for word, found in answers(collection).items()} == {
            word: set(found) for word, found in answers(plain).items()
        }
        runs = list((collection.folder / "ranks" / "runs").iterdir())
        assert len(runs) == len(log.numbers())
        collection.index(rebuild=True)
        assert {word: set(found) for word, found in answers(collection).items()} == {
            word: set(found) for word, found in answers(plain).items()
        }


def test_files_of_merged_batches_go_also_when_nothing_new_comes(collection):
    chance = random.Random(15)
    log = BatchLog(collection.files, collection.database)
    for number in range(BATCHES):
        log.append(list(rows(chance, number)))
    collection.index()
    assert len(spans.stored(collection.files)) > len(log.numbers())
    for name in (*collection.files.names("documents/"), *collection.files.names("links/")):
        os.utime(collection.files.path(name), (0, 0))
    collection.pipeline.tidy()
    assert {one.last for one in spans.stored(collection.files)} == set(log.numbers())


def test_a_lost_state_finds_the_compacted_batches_by_their_names(collection):
    chance = random.Random(12)
    log = BatchLog(collection.files, collection.database)
    for number in range(BATCHES):
        log.append(list(rows(chance, number)))
    collection.index()
    with collection.database.read() as tx:
        batches = tx.rows("SELECT number, first, documents, links FROM batches ORDER BY number")
    found = answers(collection)
    assert any(first for _, first, _, _ in batches)
    assert len(spans.stored(collection.files)) > len(batches)  # merged ones are there for a while
    folder = collection.folder
    collection.close()
    (folder / "state.db").unlink()
    with Collection(folder) as again:
        assert not [finding for finding in repair(again) if finding.state == "failed"]
        with again.database.read() as tx:
            assert tx.rows("SELECT number, first, documents, links FROM batches ORDER BY number") == batches
        again.index(rebuild=True)
        assert answers(again) == found


def test_a_state_of_before_the_compaction_is_told_from_its_files(collection):
    chance = random.Random(13)
    log = BatchLog(collection.files, collection.database)
    for number in range(BATCHES):
        log.append(list(rows(chance, number)))
    with collection.database.read() as tx:
        before = tx.rows("SELECT number, documents, links, created FROM batches")
    collection.index()
    log.forget_merged()
    with collection.database.write() as tx:
        tx.execute("DELETE FROM batches")
        tx.executemany("INSERT INTO batches (number, documents, links, created) VALUES (?, ?, ?, ?)", before)
    collection.close()
    assert "older than the stored files (batches were compacted since)" in collection.status().notice
    assert not [finding for finding in repair(collection) if finding.state == "failed"]
    assert len(BatchLog(collection.files, collection.database).numbers()) < BATCHES


@pytest.mark.postgres
def test_on_postgresql(tmp_path, postgres_address):  # noqa: F811 (the fixture)
    chance = random.Random(14)
    with Collection(tmp_path / "c", flags={"storage.database": postgres_address}).create() as collection:
        log = BatchLog(collection.files, collection.database)
        expected = {}
        for number in range(BATCHES):
            documents = list(rows(chance, number))
            log.append(documents)
            expected.update((document.key, document) for document in documents)
        collection.index()
        assert len(log.numbers()) < BATCHES // 2
        found = {}
        for number in log.numbers():
            found.update((document.key, document) for document in log.documents(number, links=True))
        assert found == expected
