"""Compaction keeps the meaning of the log: whoever folds it, from whatever number on, comes to the same state."""

from __future__ import annotations

import math
import os
import random
import resource
import signal

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.addresses import key
from periplus.documents import BatchLog, spans
from periplus.documents.compaction import FAN, FULL_DOCUMENTS, RETIRED_SECONDS, Batch, Compaction, due
from periplus.documents.spans import Span
from periplus.errors import StorageFull
from periplus.records import Document, Link
from periplus.storage import Database, LocalFiles
from support.kills import killed_at


@pytest.fixture
def files(tmp_path):
    return LocalFiles(tmp_path)


@pytest.fixture
def database(tmp_path):
    with Database.open(tmp_path / "state.db") as opened:
        yield opened


@pytest.fixture
def log(files, database):
    return BatchLog(files, database)


def document(place, text="words", refusal=""):
    url = f"https://example.org/{place}"
    links = (Link(f"https://example.org/{text}", text),) if not refusal else ()
    return Document(url=url, key=key(url), fetched=1.0, text=text, refusal=refusal, links=links)


def folded(log, after=0, state=None):
    """The state that a reader has who takes in the batches after a number, with links; later rows win."""
    found = dict(state or {})
    for number in log.numbers(after):
        found.update((one.key, one) for one in log.documents(number, links=True))
    return found


def age(files):
    """As if all were written long ago."""
    for name in (*files.names("documents/"), *files.names("links/")):
        os.utime(files.path(name), (0, 0))


def compact(log, files, database, upto=10**8):
    return Compaction(log, files, database).run(upto)


def append_many(log, count, seed=1, places=12):
    chance = random.Random(seed)
    for number in range(count):
        rows = [
            document(chance.randrange(places), f"{number}-{row}", chance.choice(("", "", "", "gone")))
            for row in range(chance.randrange(4))
        ]
        log.append(rows)


def test_a_reader_at_any_number_comes_to_the_same_state(log, files, database):
    append_many(log, 20)
    states = {number: folded_to(log, number) for number in range(21)}
    whole = folded(log)
    assert compact(log, files, database) > 12
    assert folded(log) == whole
    for number, state in states.items():
        assert folded(log, number, state) == whole
    assert log.numbers()[-1] == 20
    assert log.append([document(1, "newest")]) == 21


def folded_to(log, last):
    found = {}
    for number in range(1, last + 1):
        found.update((one.key, one) for one in log.documents(number, links=True))
    return found


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), steps=st.lists(st.integers(1, 12), min_size=1, max_size=3))
def test_appending_and_compacting_in_any_order(tmp_path_factory, seed, steps):
    folder = tmp_path_factory.mktemp("log")
    with Database.open(folder / "state.db") as database:
        files = LocalFiles(folder)
        log, expected = BatchLog(files, database), {}
        chance = random.Random(seed)
        for step in steps:
            for _ in range(step):
                rows = [document(chance.randrange(9), str(chance.random())) for _ in range(chance.randrange(3))]
                log.append(rows)
                expected.update((one.key, one) for one in rows)
            compact(log, files, database, upto=chance.choice((10**8, log.numbers()[-1] - 1)))
            age(files)
            assert folded(BatchLog(files, database)) == expected


def test_a_reader_that_had_listed_them_finds_them_and_later_what_holds_them(log, files, database):
    append_many(log, 20)
    reader = BatchLog(files, database)
    numbers, expected = reader.numbers(), folded(log)

    def read_on():
        found = {}
        for number in numbers:
            found.update((one.key, one) for one in reader.documents(number, links=True))
        return found

    compact(log, files, database)
    assert read_on() == expected  # from files that are on their way out
    age(files)
    compact(log, files, database)
    assert read_on() == expected  # from the one that holds them now


def test_merged_files_stay_for_a_while_then_go(log, files, database):
    append_many(log, 2 * FAN)
    compact(log, files, database)
    assert len(spans.stored(files)) > 2 * FAN
    compact(log, files, database)
    assert len(spans.stored(files)) > 2 * FAN  # nothing is RETIRED_SECONDS old
    assert RETIRED_SECONDS > 0
    age(files)
    compact(log, files, database)
    assert {one.last for one in spans.stored(files)} == set(log.numbers())


def test_files_follow_documents_and_not_time():
    """A model: hours of `up` that finds a page now and then, and a crawl of full batches among them."""
    chance = random.Random(5)
    batches, total = [], 0
    most = 0
    for number in range(1, 6_001):
        count = 500 if chance.random() < 0.002 else chance.randrange(1, 4)
        total += count
        batches.append(Batch(Span(number, number), count, 0, 0.0, 100 * count))
        while group := next(due(batches), None):
            at = batches.index(group[0])
            span = Span(group[0].span.first, group[-1].span.last)
            joined = Batch(span, sum(one.documents for one in group), 0, 0.0, sum(one.size for one in group))
            assert joined.documents <= FULL_DOCUMENTS
            batches[at : at + len(group)] = [joined]
        most = max(most, len(batches) - total * FAN // FULL_DOCUMENTS)
    assert sum(one.documents for one in batches) == total
    assert most <= FAN * (1 + math.log(FULL_DOCUMENTS, FAN))


def test_a_file_without_a_row_is_not_merged_over(log, files, database):
    append_many(log, FAN - 1)
    for folder in ("documents", "links"):
        files.write(f"{folder}/{FAN:08d}.parquet", b"of a crash, or newer than the table")
    append_many(log, FAN - 1, seed=2)
    compact(log, files, database)
    age(files)
    compact(log, files, database)
    assert files.exists(f"documents/{FAN:08d}.parquet")
    assert log.numbers() == [*range(1, FAN), *range(FAN + 1, 2 * FAN)]
    append_many(log, 1)
    expected = folded(log)
    compact(log, files, database)
    assert len(log.numbers()) == FAN
    assert folded(log) == expected


def test_batches_of_before_get_the_defaults_of_newer_fields(log, files, database):
    append_many(log, FAN, seed=3)
    expected = folded(log)
    name = Span(1, 1).documents
    table = pq.read_table(files.path(name), use_threads=False).drop_columns(["author", "signals"])
    with files.create(name) as path:
        pq.write_table(table, path)
    assert compact(log, files, database) == FAN - 1
    assert folded(log) == expected


def test_what_a_newer_version_wrote_is_left_alone(log, files, database):
    append_many(log, FAN)
    name = Span(2, 2).documents
    table = pq.read_table(files.path(name), use_threads=False)
    with files.create(name) as path:
        pq.write_table(table.append_column("colour", table.column("url")), path)
    assert compact(log, files, database) == 0
    assert log.numbers() == list(range(1, FAN + 1))


def test_a_takedown_finds_what_was_compacted_and_leaves_no_older_file(log, files, database):
    append_many(log, FAN - 1)
    secret = document("secret", "told to nobody")
    log.append([secret])
    compact(log, files, database)
    log.forget_merged()
    holder = log.holder(FAN)
    rows = [row for row, url in enumerate(log.addresses(holder)) if url == secret.url]
    log.replace(holder, {row: document("secret", "", "removed") for row in rows})
    assert "told to nobody" not in {one.text for one in log.documents(holder)}
    assert {one.last for one in spans.stored(files)} == {holder}


def test_killed_at_every_step_the_log_says_the_same(tmp_path):
    with Database.open(tmp_path / "state.db") as database:
        append_many(BatchLog(LocalFiles(tmp_path), database), 2 * FAN)
        expected = folded(BatchLog(LocalFiles(tmp_path), database))

    def work():
        with Database.open(tmp_path / "state.db") as database:
            files = LocalFiles(tmp_path)
            compact(BatchLog(files, database), files, database)
            age(files)
            compact(BatchLog(files, database), files, database)

    step = 1
    while killed_at(step, work):
        with Database.open(tmp_path / "state.db") as database:
            assert folded(BatchLog(LocalFiles(tmp_path), database)) == expected
        step += 1
        assert step < 300
    with Database.open(tmp_path / "state.db") as database:
        files = LocalFiles(tmp_path)
        log = BatchLog(files, database)
        files.sweep()
        assert folded(log) == expected
        assert {one.last for one in spans.stored(files)} == set(log.numbers())
        assert len(log.numbers()) < FAN
    assert step > 10


def test_a_limit_on_file_size_leaves_the_log_as_it_was(log, files, database):
    """As a full disk: the merged file cannot be written to its end."""
    append_many(log, FAN)
    expected, before = folded(log), files.names("documents/") + files.names("links/")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
        try:
            compact(log, files, database)
        except StorageFull as error:
            os._exit(42 if "no space left" in str(error) else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    assert files.names("documents/") + files.names("links/") == before
    assert folded(log) == expected
    assert compact(log, files, database) == FAN - 1
    assert folded(log) == expected
