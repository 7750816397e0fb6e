"""The log of batches: round trips, order, crashes, damage."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.addresses import key
from periplus.documents import BatchLog, parse
from periplus.documents.batches import tables_of
from periplus.errors import Corrupt, NotFound, StorageError
from periplus.records import ArchiveLocation, Document, Heading, Link, Page
from periplus.storage import Database, LocalFiles


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


def document(url, text="words", links=()):
    return Document(url=url, key=key(url), fetched=1.0, text=text, links=tuple(links))


TIDES = document("https://example.org/tides", links=[Link("https://example.org/bar", "the bar", "Bar", ("ugc",))])
GONE = Document(
    url="https://example.org/old", key=key("https://example.org/old"), fetched=2.0, status=404, refusal="gone"
)


def test_batches_are_numbered_and_read_back_in_order(log):
    assert log.numbers() == []
    assert [log.append([TIDES]), log.append([GONE, TIDES]), log.append([])] == [1, 2, 3]
    assert log.numbers() == [1, 2, 3]
    assert log.numbers(after=1) == [2, 3]
    assert log.documents(2, links=True) == [GONE, TIDES]
    assert log.documents(3) == []


def test_a_stream_has_the_same_documents_with_the_fields_asked_for(log):
    rows = [document(f"https://example.org/{number}", text=f"words {number}") for number in range(600)]
    log.append([])
    log.append([*rows, GONE])
    assert list(log.stream(1, ("url", "key"))) == []
    streamed = list(log.stream(2, ("url", "key", "fetched", "refusal", "text")))
    assert streamed == log.documents(2, fields=("url", "key", "fetched", "refusal", "text"))
    assert [one.url for one in streamed] == [one.url for one in [*rows, GONE]]


def test_a_staged_batch_counts_when_it_is_published(log, files):
    first, second, third = (log.reader.stage(tables_of([one])) for one in (TIDES, GONE, TIDES))
    assert log.numbers() == []
    assert [log.publish(second), log.publish(first)] == [1, 2]
    assert [log.documents(1), log.documents(2, links=True)] == [[GONE], [TIDES]]
    log.discard(third)
    log.discard(first)  # nothing is left to discard
    assert log.numbers() == [1, 2]
    assert not [path for path in files.root.rglob("*") if path.name.startswith(".tmp")]


def test_fields_that_are_not_asked_for_have_their_defaults(log):
    log.append([TIDES, GONE])
    some = log.documents(1, fields=("url", "key", "fetched", "refusal"))
    assert [(one.url, one.refusal, one.text, one.status) for one in some] == [
        (TIDES.url, "", "", 200),
        (GONE.url, "gone", "", 200),
    ]


def test_documents_come_without_links_unless_asked(log):
    log.append([TIDES])
    assert log.documents(1)[0].links == ()
    assert log.documents(1, links=True)[0].links == TIDES.links


def test_links_as_a_table(log):
    log.append([GONE, TIDES])
    table = log.links(1)
    assert table.select(["source_key", "source", "target", "text", "title", "rel", "place", "row"]).to_pylist() == [
        {
            "source_key": TIDES.key,
            "source": TIDES.url,
            "target": "https://example.org/bar",
            "text": "the bar",
            "title": "Bar",
            "rel": ["ugc"],
            "place": "content",
            "row": 1,
        }
    ]
    assert table.schema.field("source_key").type == pa.int64()


def test_single_columns_as_a_table(log):
    log.append([TIDES, GONE])
    table = log.document_table(1, ["key", "refusal"])
    assert table.column_names == ["key", "refusal"]
    assert table.column("refusal").to_pylist() == ["", "gone"]


def test_the_same_address_twice_keeps_its_links_apart(log):
    other = document(TIDES.url, "newer", [Link("https://example.org/new", "new")])
    log.append([TIDES, other])
    assert log.documents(1, links=True) == [TIDES, other]


def test_a_parsed_page_survives(log):
    body = b"""<title>T</title><meta property="og:title" content="G"><link rel=alternate hreflang=de href=/de>
    <script type="application/ld+json">{"@type":"Place","geo":{"latitude":1.5,"n":[1,true,"x"]}}</script>
    <h1>Heading</h1><p>Words <a href=/a>a</a><img src=p.png alt=pic>"""
    found = parse(Page("https://example.org/", body, "text/html", fetched=1.7e9))
    log.append([found])
    assert log.documents(1, links=True) == [found]


signed = st.integers(-(2**63), 2**63 - 1)
moments = st.floats(0, 4e9)
scalars = st.one_of(st.text(max_size=8), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e6, 1e6))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
short = st.text(max_size=20)
documents = st.builds(
    Document,
    url=short,
    key=signed,
    fetched=moments,
    status=st.integers(100, 599),
    content_type=short,
    refusal=short,
    title=short,
    headings=st.lists(st.builds(Heading, st.integers(1, 6), short), max_size=3).map(tuple),
    text=st.text(max_size=200),
    boilerplate=short,
    description=short,
    language=short,
    charset_sure=st.booleans(),
    published=moments,
    author=short,
    feeds=st.lists(short, max_size=2).map(tuple),
    hreflang=st.dictionaries(short, short, max_size=2),
    structured=st.lists(st.dictionaries(short, values, max_size=3), max_size=2).map(tuple),
    images=st.lists(st.tuples(short, short), max_size=2).map(tuple),
    links=st.lists(
        st.builds(
            Link, short, short, short, st.lists(st.sampled_from(["nofollow", "ugc"]), max_size=2).map(tuple), short
        ),
        max_size=3,
    ).map(tuple),
    noindex=st.booleans(),
    content_hash=signed,
    fingerprint=signed,
    word_count=st.integers(0, 2**31 - 1),
    signals=st.dictionaries(short, st.floats(-1e9, 1e9), max_size=3),
    archive=st.none() | st.builds(ArchiveLocation, short, st.integers(0, 2**40), st.integers(0, 2**40)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.lists(documents, max_size=3))
def test_any_document_survives_parquet(log, batch):
    number = log.append(batch)
    assert log.documents(number, links=True) == batch


# Crashes and damage


def test_a_failure_before_the_commit_leaves_nothing_visible(log, files, database, monkeypatch):
    log.append([TIDES])

    def broken(*_, **__):
        raise StorageError("the disk said no")

    monkeypatch.setattr(BatchLog, "_move", broken)
    with pytest.raises(StorageError):
        log.append([GONE])
    monkeypatch.undo()
    assert log.numbers() == [1]
    assert files.names("documents/") == ["documents/00000001.parquet"]
    assert not [path.name for path in files.path("documents/x").parent.iterdir() if path.name.startswith(".")]
    assert log.append([GONE]) == 2
    assert log.documents(2) == [GONE]


@pytest.mark.parametrize("name", ["documents/00000001.parquet", "links/00000001.parquet"])
def test_a_number_whose_file_is_there_is_passed_over(log, files, name):
    """Left by a crash, or by a state database that is lost: nobody can tell, so nothing is overwritten."""
    files.write(name, b"of another time")
    assert log.numbers() == []
    assert log.append([TIDES]) == 2
    assert log.documents(2, links=True) == [TIDES]
    assert files.read(name) == b"of another time"


def test_a_failure_beside_the_commit_leaves_no_file_under_its_number(log, files):
    def broken(*_, **__):
        raise StorageError("the disk said no")

    with pytest.raises(StorageError):
        log.append([TIDES], also=broken)
    assert not files.names("documents/") + files.names("links/")
    assert log.append([GONE]) == 1


@pytest.mark.parametrize("damage", [lambda data: data[:-10], lambda data: b"", lambda data: b"x" * len(data)])
@pytest.mark.parametrize("name", ["documents/00000001.parquet", "links/00000001.parquet"])
def test_damage_names_the_file(log, files, name, damage):
    log.append([TIDES])
    files.write(name, damage(files.read(name)))
    with pytest.raises(Corrupt, match=name):
        log.documents(1, links=True)


def test_flipped_bytes_are_corrupt_or_harmless_never_another_error(log, files):
    log.append([TIDES] * 20)
    name = "documents/00000001.parquet"
    data = files.read(name)
    for place in range(0, len(data), max(1, len(data) // 60)):
        files.write(name, data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        with suppress(Corrupt):
            log.documents(1)


def test_a_batch_without_a_newer_field_is_read_with_its_default(log, files):
    log.append([TIDES])
    name = "documents/00000001.parquet"
    table = pq.read_table(pa.BufferReader(files.read(name)), use_threads=False).drop_columns(["author", "signals"])
    with files.create(name) as path:
        pq.write_table(table, path)
    assert log.documents(1, links=True) == [TIDES]


def test_a_batch_that_is_not_there_is_not_found(log):
    with pytest.raises(NotFound):
        log.documents(7)


def test_many_threads_append_without_gaps(files, database):
    def append(number):
        return BatchLog(files, database).append([document(f"https://example.org/{number}")])

    with ThreadPoolExecutor(4) as pool:
        given_numbers = list(pool.map(append, range(12)))
    log = BatchLog(files, database)
    assert sorted(given_numbers) == log.numbers() == list(range(1, 13))
    for number, batch in enumerate(given_numbers):
        assert log.documents(batch)[0].url == f"https://example.org/{number}"
