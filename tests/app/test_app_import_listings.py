"""Listings and lists of paths as Common Crawl publishes them, with archives beside them and over HTTP.

The shapes are those of its crawl CC-MAIN-2024-10: ``cdx-00000.gz`` and answers of its index server, ``warc.paths.gz``,
and files that a server gives in ranges below ``crawl-data/``.
"""

from __future__ import annotations

import gzip
import io
import json

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mockweb.faults import WrongLength
from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.importing import import_paths
from periplus.app.importing.remote import ATTEMPTS
from periplus.cli.main import run
from periplus.demo import Reply
from periplus.errors import PeriplusError

FOLDER = "crawl-data/CC-MAIN-2024-10/segments/1707947473347.0/warc"
NAME = f"{FOLDER}/CC-MAIN-20240220211055-20240221001055-00000.warc.gz"
PAGES = {
    f"https://coast.example/{word}": f"<title>{word}</title><p>At the {word} the pilots wait for the tide to turn.</p>"
    for word in ("quay", "mole", "bar")
}


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c") as made:
        yield made


@pytest.fixture
def web():
    with MockWeb() as made:
        yield made


@pytest.fixture
def base(web):
    return f"http://127.0.0.1:{web.port}/"


@pytest.fixture(scope="module")
def crawl():
    """An archive that warcio wrote, and the lines of a listing of it."""
    data, lines = io.BytesIO(), []
    writer = WARCWriter(data, gzip=True)
    for url, page in PAGES.items():
        start = data.tell()
        told = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        body = page.encode()
        record = writer.create_warc_record(url, "response", io.BytesIO(body), len(body), http_headers=told)
        writer.write_record(record)
        fields = {"url": url, "mime": "text/html", "status": "200", "length": str(data.tell() - start)}
        fields |= {"offset": str(start), "filename": NAME}
        lines.append(f"example,coast)/{url.rpartition('/')[2]} 20240220220000 {json.dumps(fields)}\n")
    return data.getvalue(), lines


def in_ranges(data):
    """A server that gives parts of a file, as every server of static files does."""

    def answer(request):
        asked = request.header("range")
        if not asked:
            return Reply(200, data)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1]
        if not part:
            return Reply(416, b"", (("Content-Range", f"bytes */{len(data)}"),))
        told = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
        return Reply(206, part, (("Content-Range", told),))

    return answer


def serve(web, answer, name=NAME):
    web.at(f"http://127.0.0.1/{name}", answer)


def ranges(web):
    return [record.header("range") for record in web.log.records()]


def written(path, lines):
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


def urls(collection):
    collection.index()
    return {result.url for result in collection.search("pilots tide").results}


def test_records_of_a_listing_are_asked_for_in_ranges_over_one_connection(tmp_path, collection, web, base, crawl):
    data, lines = crawl
    serve(web, in_ranges(data))
    report = import_paths(collection, [written(tmp_path / "cdx-00000.gz", lines[:2])], base)

    assert (report.documents, report.left_out) == (2, {})
    assert urls(collection) == set(list(PAGES)[:2])
    second = json.loads(lines[1].split(" ", 2)[2])
    end = int(second["offset"]) + int(second["length"])
    assert ranges(web) == [f"bytes=0-{int(second['offset']) - 1}", f"bytes={second['offset']}-{end - 1}"]
    assert len({record.connection for record in web.log.records()}) == 1


def test_answers_of_an_index_server_are_a_listing(tmp_path, collection, web, base, crawl):
    data, lines = crawl
    serve(web, in_ranges(data))
    bare = [line.split(" ", 2)[2] for line in lines]
    other = json.dumps({**json.loads(bare[0]), "status": "404"}) + "\n"
    (tmp_path / "answer.cdxj").write_text("".join([*bare, other]))
    report = import_paths(collection, [tmp_path / "answer.cdxj"], base)

    assert (report.documents, report.left_out) == (3, {"http-4xx": 1})
    assert len(ranges(web)) == 3  # what the listing says is no page is not asked for


def test_archives_of_a_list_of_paths_beside_it(tmp_path, collection, crawl):
    data, _ = crawl
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / NAME).write_bytes(data)
    report = import_paths(collection, [written(tmp_path / "warc.paths.gz", [f"{NAME}\n"])])

    assert report.documents == 3
    assert urls(collection) == set(PAGES)


def test_archives_of_a_list_of_paths_over_http(tmp_path, web, base, crawl, capsys):
    data, _ = crawl
    serve(web, in_ranges(data))
    words = ["import", str(written(tmp_path / "warc.paths.gz", [f"{NAME}\n"])), "--base-url", base]
    assert run([*words, "--dir", str(tmp_path / "c")]) == 0
    assert "3 records read, 3 kept" in capsys.readouterr().err
    with Collection.existing(tmp_path / "c") as collection:
        assert urls(collection) == set(PAGES)


def test_a_broken_answer_goes_on_where_it_ended(tmp_path, collection, web, base, crawl):
    data, _ = crawl
    half = len(data) // 2
    torn = WrongLength(206, data[:half], (("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}"),), off=100)
    serve(web, [Reply(503, b"later", (("Retry-After", "0"),)), torn, in_ranges(data)])
    report = import_paths(collection, [written(tmp_path / "warc.paths.gz", [f"{NAME}\n"])], base)

    assert (report.documents, report.left_out) == (3, {})
    assert [asked.partition("-")[0] for asked in ranges(web)] == ["bytes=0", "bytes=0", f"bytes={half}"]


def test_a_server_that_stays_busy_is_left_alone(tmp_path, collection, web, base, crawl):
    serve(web, Reply(503, b"later", (("Retry-After", "0"),)))
    report = import_paths(collection, [written(tmp_path / "warc.paths.gz", [f"{NAME}\n"])], base)

    assert report.left_out == {"damaged": 1}
    assert "it is busy; import again later" in str(report.problems[0])
    assert len(ranges(web)) == ATTEMPTS


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Reply(404, b"none"), "answers 404 for crawl-data/"),
        (Reply(302, b"", (("Location", "http://elsewhere.test/"),)), "answers 302 for crawl-data/"),
        (Reply(200, b"everything"), "gives no parts of files"),
        (Reply(206, b"x", (("Content-Range", "bytes 7-7/9"),)), "another part of crawl-data/"),
        (Reply(206, b"no record", (("Content-Range", "bytes 400-408/900"),)), "crawl-data/"),
    ],
    ids=["missing", "moved", "whole", "other part", "no record"],
)
def test_odd_answers_are_named_with_their_line(tmp_path, collection, web, base, crawl, answer, said):
    _, lines = crawl
    fields = json.loads(lines[1].split(" ", 2)[2])
    serve(web, answer)
    (tmp_path / "odd.cdxj").write_text(json.dumps({**fields, "offset": "400"}) + "\n")
    report = import_paths(collection, [tmp_path / "odd.cdxj"], base)

    assert report.left_out == {"damaged": 1}
    assert report.problems[0].place == "line 1"
    assert said in report.problems[0].what


@pytest.mark.parametrize("name", ["../x.warc.gz", "/etc/x.warc.gz", "http://other.test/x.warc.gz"])
def test_nothing_outside_of_the_address_is_asked_for(tmp_path, collection, web, base, crawl, name):
    fields = json.loads(crawl[1][0].split(" ", 2)[2])
    (tmp_path / "odd.cdxj").write_text(json.dumps({**fields, "filename": name}) + "\n")
    (tmp_path / "odd.paths").write_text(f"{name}\ncc-index/collections/cdx-00000.gz\n")
    report = import_paths(collection, [tmp_path / "odd.cdxj", tmp_path / "odd.paths"], base)

    assert report.left_out == {"damaged": 1, "bad-record": 2}
    assert ranges(web) == []


def test_an_address_that_is_none_is_refused_before_anything_is_read(tmp_path, collection, crawl):
    with pytest.raises(PeriplusError, match="file:"):
        import_paths(collection, [written(tmp_path / "warc.paths.gz", [NAME])], "file:///srv/")
