"""What other programs read of a collection: CIFF, CDXJ, Parquet by DuckDB, tables of PostgreSQL."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import duckdb
import psycopg
import pytest
from ciff_toolkit.read import CiffReader
from warcio.archiveiterator import ArchiveIterator

from periplus import Collection
from periplus.app.exporting.ciff import varint
from periplus.app.exporting.postings import widest_terms
from periplus.app.importing import import_paths
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.index import STRONG_SHARE
from periplus.text import analyze

QUERIES = ("spring tide", "harbour lights", "tides", "pilot's boat", "salt 3.11", "ostrel", "running water")
K1, B = 1.2, 0.75

BM25 = """
WITH asked (word, term) AS (SELECT * FROM unnest(%s::text[], %s::text[])),
words AS (SELECT word, max(l.documents) AS documents FROM asked JOIN export_lexicon AS l USING (term) GROUP BY word),
found AS (
    SELECT word, number, max(p.title) + max(p.body) AS f
    FROM asked JOIN export_postings AS p USING (term) GROUP BY word, number)
SELECT d.id, sum(
    ln(1 + (c.documents - w.documents + 0.5) / (w.documents + 0.5))
    * f * (c.k1 + 1) / (f + c.k1 * (1 - c.b + c.b * d.length / c.average_length))) AS score
FROM found JOIN words AS w USING (word) JOIN export_documents AS d USING (number) CROSS JOIN export_collection AS c
GROUP BY d.id ORDER BY score DESC, d.id
"""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    with DemoWeb() as web:
        flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.workers": 1, "crawl.scope": "any"}
        flags |= {"crawl.allow_private": True, "crawl.resolve": [f"*.localhost=127.0.0.1:{web.port}"]}
        with Collection(tmp_path_factory.mktemp("crawled") / "c", flags=flags) as collection:
            collection.crawl(web.seeds(), max_pages=80)
            collection.index()
            collection.rank()
            yield collection


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Documents without addresses: all their words stand in title and text."""
    folder = tmp_path_factory.mktemp("records")
    words = [
        "tide",
        "tides",
        "harbour",
        "lights",
        "spring",
        "salt",
        "pilots",
        "running",
        "waters",
        "zürich",
        "3.11",
        "boat's",
    ]
    rows = [
        {
            "id": f"doc-{number}",
            "title": f"{words[number % 12]} {words[number * 5 % 12]}",
            "text": " ".join(words[number * step % 12] for step in range(1, 3 + number % 17)),
        }
        for number in range(150)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Collection(folder / "c") as collection:
        import_paths(collection, [folder / "rows.jsonl"])
        collection.index()
        yield collection


@pytest.fixture(scope="module")
def identifiers(tmp_path_factory):
    """Words that stand in names of programs, too: there they have no stem."""
    folder = tmp_path_factory.mktemp("identifiers")
    rows = [
        {
            "id": f"doc-{number}",
            "title": f"Tables {number}",
            "text": "tide_table " * (number % 4)
            + "tides " * (number % 3)
            + "harbour.lights spring" * (number % 2)
            + " salt",
        }
        for number in range(60)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Collection(folder / "c") as collection:
        import_paths(collection, [folder / "rows.jsonl"])
        collection.index()
        yield collection


def ours(collection, query):
    return {name: score for name, score in collection.engine.ranking(query, 1_000, "bm25") if score}


def asked_terms(collection, query):
    """Each word once, in the form that the formula counts, as the engine reads the query."""
    return list(dict.fromkeys(widest_terms(query, "en")))


def asked_forms(query):
    """Each word once, with every form of it that counts in full: words, and beside each one of its terms."""
    tokens = {token.forms[-1].term: token.forms for token in analyze(query, "en")}
    pairs = [(word, form.term) for word, forms in tokens.items() for form in forms if form.share >= STRONG_SHARE]
    return [word for word, _ in pairs], [term for _, term in pairs]


def bm25_of(reader_lists, documents, lengths, average, terms):
    scores = defaultdict(float)
    for term in terms:
        for number, count in reader_lists.get(term, ()):
            idf = math.log1p((documents - len(reader_lists[term]) + 0.5) / (len(reader_lists[term]) + 0.5))
            norm = 1 - B + B * lengths[number] / average
            scores[number] += idf * count * (K1 + 1) / (count + K1 * norm)
    return scores


def test_another_programs_reader_reads_the_index_and_bm25_is_the_same(records, tmp_path):
    assert run(["export", "ciff", "--out", str(tmp_path / "index.ciff"), "--dir", str(records.folder)]) == 0
    with CiffReader(tmp_path / "index.ciff") as reader:
        header = reader.read_header()
        lists = {}
        for entry in reader.read_postings_lists():
            number, found = 0, []
            for posting in entry.postings:
                number += posting.docid
                found.append((number, posting.tf))
            assert (entry.df, entry.cf) == (len(found), sum(count for _, count in found))
            lists[entry.term] = found
        names, lengths = {}, {}
        for record in reader.read_documents():
            names[record.docid], lengths[record.docid] = record.collection_docid, record.doclength

    assert (header.version, header.num_docs, header.total_docs) == (1, 150, 150)
    assert header.num_postings_lists == len(lists)
    assert header.total_terms_in_collection == sum(lengths.values())
    assert len(lists) > 5
    for query in ("spring tide", "harbour lights", "tides", "running pilots", "zürich", "3.11"):
        terms = [term.removeprefix("~") for term in asked_terms(records, query)]
        theirs = bm25_of(lists, header.num_docs, lengths, header.average_doclength, terms)
        expected = ours(records, query)
        assert {names[number]: pytest.approx(score) for number, score in theirs.items()} == expected
        assert expected


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31 - 1, 2**40])
def test_numbers_of_variable_length(value):
    from google.protobuf.internal.encoder import _VarintBytes

    assert varint(value) == _VarintBytes(value)


def test_the_listing_leads_to_every_response(crawled, tmp_path):
    listing = tmp_path / "index.cdxj"
    assert run(["export", "cdxj", "--out", str(listing), "--dir", str(crawled.folder)]) == 0
    lines = listing.read_text().splitlines()

    assert lines == sorted(lines)
    assert len(lines) > 80
    for line in lines[::9]:
        fields = json.loads(line.split(" ", 2)[2])
        with (crawled.folder / "archive" / fields["filename"]).open("rb") as file:
            file.seek(int(fields["offset"]))
            record = next(iter(ArchiveIterator(file)))
            assert (record.rec_type, record.rec_headers.get_header("WARC-Target-URI")) == ("response", fields["url"])


def test_a_listing_that_we_wrote_can_be_imported(crawled, tmp_path):
    listing = crawled.folder / "archive" / "index.cdxj"
    run(["export", "cdxj", "--out", str(listing), "--dir", str(crawled.folder)])
    try:
        with Collection(tmp_path / "again") as again:
            report = import_paths(again, [listing])
    finally:
        listing.unlink()
    assert report.documents >= 50
    assert "damaged" not in report.left_out


def test_duckdb_asks_the_parquet_files(crawled, tmp_path):
    for kind in ("documents", "links", "ranks"):
        assert run(["export", kind, "--out", str(tmp_path / f"{kind}.parquet"), "--dir", str(crawled.folder)]) == 0
    best = duckdb.sql(
        f"""SELECT d.url, d.title, r.rank, count(l.source) AS links
        FROM '{tmp_path}/documents.parquet' d JOIN '{tmp_path}/ranks.parquet' r USING (url)
        LEFT JOIN '{tmp_path}/links.parquet' l ON l.target = d.url
        GROUP BY ALL ORDER BY r.rank DESC LIMIT 5"""
    ).fetchall()

    assert len(best) == 5
    assert all(url.startswith("http") and title and rank > 0 for url, title, rank, _ in best)
    assert best[0][3] > 0
    ((counted,),) = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/documents.parquet'").fetchall()
    assert counted == sum(1 for row in crawled.documents() if not row.refusal)


def test_a_listing_away_from_its_archives_says_where_it_belongs(crawled, tmp_path):
    run(["export", "cdxj", "--out", str(tmp_path / "index.cdxj"), "--dir", str(crawled.folder)])
    with Collection(tmp_path / "again") as again:
        report = import_paths(again, [tmp_path / "index.cdxj"])
    assert report.documents == 0
    said = str(report.problems[0])
    assert ".warc.gz is not there: put the listing into the folder of its archives" in said
    assert "--base-url" in said


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["crawled", "records", "identifiers"])
def test_a_query_in_sql_gives_our_bm25(kind, crawled, records, identifiers, postgres_address):
    collection = {"crawled": crawled, "records": records, "identifiers": identifiers}[kind]
    assert run(["export", "--to", postgres_address, "--dir", str(collection.folder)]) == 0
    with psycopg.connect(postgres_address) as connection:
        for query in QUERIES:
            rows = connection.execute(BM25, asked_forms(query)).fetchall()
            theirs = {name: pytest.approx(score) for name, score in rows if score}
            assert theirs == ours(collection, query), query
        documents = connection.execute("SELECT count(*) FROM export_documents").fetchone()[0]
        assert connection.execute("SELECT documents FROM export_collection").fetchone()[0] == documents > 50
        links = connection.execute("SELECT count(*) FROM export_links").fetchone()[0]
        assert (links > 100) == (kind == "crawled")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "mysql://x"], "postgresql://user@host/name"),
        (["pages", "--to", "postgresql://x"], "leave 'pages' away"),
        ([], "cannot be exported"),
    ],
)
def test_wrong_use_is_said(records, words, said, capsys):
    assert run(["export", *words, "--dir", str(records.folder)]) == 2
    assert said in capsys.readouterr().err
