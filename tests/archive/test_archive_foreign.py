"""Archives that others made: every packing and kind gives its pages, and damage is told."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

from periplus.archive import Damaged, Passed, contents
from periplus.errors import Corrupt, Incompatible
from periplus.records import Page

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
BODY = b"<title>Tides</title><p>High water at noon."


def pages(path) -> list[Page]:
    return [found for found in contents(path) if isinstance(found, Page)]


def damage(path) -> list[Damaged]:
    return [found for found in contents(path) if isinstance(found, Damaged)]


def warc(kind: str, url: str, block: bytes, content_type: str) -> bytes:
    fields = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{url}>\r\nContent-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return fields.encode() + block + b"\r\n\r\n"


def response(number: int, status: bytes = b"200 OK") -> bytes:
    block = HTTP.replace(b"200 OK", status) + BODY + str(number).encode()
    return warc("response", f"http://harbour.example/{number}", block, "application/http; msgtype=response")


RECORDS = [
    warc("warcinfo", "", b"software: somebody's", "application/warc-fields"),
    response(1),
    warc("request", "http://harbour.example/1", b"GET /1 HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
    response(2, b"404 Not Found"),
    response(3),
    warc("resource", "http://harbour.example/plan", b"<p>A plan", "text/html"),
    warc("metadata", "http://harbour.example/1", b"via: elsewhere", "application/warc-fields"),
]
PLAIN = b"".join(RECORDS)
WANTED = ["http://harbour.example/1", "http://harbour.example/3", "http://harbour.example/plan"]


def arc() -> bytes:
    described = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
    found = b"filedesc://harbour.arc 0.0.0.0 20240506070809 text/plain %d\n%b\n" % (len(described), described)
    for number, status in ((1, b"200 OK"), (2, b"404 Not Found"), (3, b"200 OK")):
        block = HTTP.replace(b"200 OK", status) + BODY + str(number).encode()
        found += b"http://harbour.example/%d 192.0.2.7 20240506070809 text/html %d\n%b\n" % (number, len(block), block)
    block = b"192.0.2.7"
    return found + b"dns:harbour.example 192.0.2.1 20240506070809 text/dns %d\n%b\n" % (len(block), block)


def with_dictionary(*, packed: bool) -> bytes:
    dictionary = zstandard.ZstdCompressionDict(PLAIN * 3, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    content = dictionary.as_bytes()
    if packed:
        content = zstandard.compress(content)
    frames = b"".join(zstandard.ZstdCompressor(dict_data=dictionary).compress(record) for record in RECORDS)
    return b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content + frames


def wacz(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("datapackage.json", "{}")
        for name in names:
            package.writestr(name, b"".join(map(gzip.compress, RECORDS)))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.warc", PLAIN),
        ("a-member-a-record.warc.gz", b"".join(map(gzip.compress, RECORDS))),
        ("one-member.warc.gz", gzip.compress(PLAIN)),
        ("frames.warc.zst", b"".join(map(zstandard.compress, RECORDS))),
        ("dictionary.warc.zst", with_dictionary(packed=False)),
        ("packed-dictionary.warc.zst", with_dictionary(packed=True)),
        ("package.wacz", wacz("archive/data.warc.gz")),
    ],
    ids=["plain", "a member a record", "one member", "frames", "dictionary", "packed dictionary", "package"],
)
def test_pages_of_warc_in_every_packing(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    found = list(pages(path))
    assert [page.url for page in found] == WANTED
    assert found[1].body == BODY + b"3"
    assert found[1].content_type == "text/html; charset=utf-8"
    assert found[1].fetched == pytest.approx(1714979289)
    assert (found[2].body, found[2].content_type) == (b"<p>A plan", "text/html")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_pages_of_arc(tmp_path, pack):
    path = tmp_path / "old.arc"
    path.write_bytes(pack(arc()))
    found = list(pages(path))
    assert [page.url for page in found] == WANTED[:2]
    assert found[0].body == BODY + b"1"
    assert found[0].fetched == pytest.approx(1714979289)


def test_warcio_reads_the_same_of_an_arc_file(tmp_path):
    path = tmp_path / "old.arc"
    path.write_bytes(arc())
    with path.open("rb") as file:
        theirs = [
            (record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(file, arc2warc=True)
            if record.http_headers and record.http_headers.get_statuscode() == "200"
        ]
    assert theirs == [(page.url, page.body) for page in pages(path)]


@pytest.mark.filterwarnings("ignore:Exception ignored in.*SpooledTemporaryFile")  # theirs
def test_texts_of_a_wet_file_that_warcio_wrote(tmp_path):
    path = tmp_path / "theirs.warc.wet.gz"
    text = "Gezeiten\nHochwasser um zwölf.".encode()
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record("theirs", {"software": "warcio"}))
        writer.write_record(
            writer.create_warc_record(
                "http://harbour.example/de", "conversion", io.BytesIO(text), warc_content_type="text/plain"
            )
        )
    assert [(page.url, page.body) for page in pages(path)] == [("http://harbour.example/de", text)]


def test_texts_of_a_wet_file_are_pages_of_plain_text(tmp_path):
    path = tmp_path / "crawl.warc.wet.gz"
    text = "Gezeiten\nHochwasser um zwölf."
    path.write_bytes(gzip.compress(warc("conversion", "http://harbour.example/de", text.encode(), "text/plain")))
    (found,) = pages(path)
    assert (found.url, found.body.decode()) == ("http://harbour.example/de", text)
    assert found.content_type == "text/plain; charset=utf-8"


def test_all_archives_of_a_package_are_read_in_order(tmp_path):
    path = tmp_path / "two.wacz"
    path.write_bytes(wacz("archive/b.warc.gz", "archive/a.warc.gz", "archive/notes.txt", "pages/pages.jsonl"))
    assert [page.url for page in pages(path)] == WANTED * 2


def test_a_package_without_archives_is_told_apart(tmp_path):
    path = tmp_path / "none.wacz"
    path.write_bytes(wacz("pages/pages.jsonl"))
    with pytest.raises(Incompatible, match=r"none\.wacz.*no WACZ"):
        list(pages(path))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("whole", [PLAIN, arc()], ids=["warc", "arc"])
def test_what_stands_before_a_torn_end_is_given(tmp_path, pack, whole):
    cut = whole.rindex(BODY) + 5
    path = tmp_path / "torn.warc"
    path.write_bytes(pack(whole[:cut]))
    *found, torn = contents(path)
    assert [page.url for page in found if isinstance(page, Page)] == WANTED[:1]
    assert isinstance(torn, Damaged)
    assert torn.place.offset + torn.place.length == cut
    assert torn.place.within == (None if pack is bytes else 0)


def test_a_torn_gzip_member_is_told(tmp_path):
    path = tmp_path / "torn.warc.gz"
    path.write_bytes(gzip.compress(PLAIN)[:-60])
    (torn,) = damage(path)
    assert "ends inside a packed part" in torn.what
    assert [page.url for page in pages(path)] == WANTED[:2]


@pytest.mark.parametrize(
    "rest", [b"\x1f", b"\r\n", b"filedesc://x", b"\x28\xb5\x2f\xfd"], ids=["1f", "line", "arc", "zstd"]
)
def test_what_follows_a_whole_member_is_gzip_or_a_hole(tmp_path, rest):
    path = tmp_path / "tail.warc.gz"
    whole = gzip.compress(response(1))
    path.write_bytes(whole + rest)
    page, hole = contents(path)
    assert page.url == WANTED[0]
    assert hole.place == (len(whole), len(rest), None)


@pytest.mark.parametrize(
    "content",
    [
        b"not an archive at all",
        gzip.compress(b"not an archive at all"),
        zstandard.compress(PLAIN)[:8] + b"\xff" * 600,
        zstandard.compress(PLAIN)[:-3],
        b"\x5d\x2a\x4d\x18\xff\xff\xff\xff",
        b"\x5d\x2a\x4d\x18\x10\x00\x00\x00short",
        b"PK\x03\x04 and then nothing of a ZIP file",
        b"\0" * 5_000,
    ],
    ids=[
        "words",
        "packed words",
        "damaged zstd",
        "torn zstd",
        "huge dictionary",
        "torn dictionary",
        "torn zip",
        "zeros",
    ],
)
def test_a_file_without_any_record_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / "damaged.warc"
    path.write_bytes(content)
    with pytest.raises(Corrupt, match=r"damaged\.warc"):
        list(contents(path))


@pytest.mark.parametrize(
    ("content", "what", "kept"),
    [
        (gzip.compress(PLAIN) + b"rubbish", "no packed part begins here", WANTED),
        (arc().replace(b"text/html ", b"text/html 9999999999", 1), "larger than", WANTED[1:2]),
        (arc().replace(b" 20240506070809 text/html ", b" ", 1), "no ARC record", WANTED[1:2]),
        (PLAIN.replace(b"WARC-Type: res", b"WARC-Block-Digest: sha1:AAAA\r\nWARC-Type: res", 1), "digest", WANTED[1:]),
        (PLAIN.replace(b"HTTP/1.1 200", b"HULP/1.1 200", 1), "HTTP status", WANTED[1:]),
        (PLAIN.replace(b"Content-Length: ", b"Content-Length: 9", 1), "its length", WANTED),
    ],
    ids=["rubbish", "huge arc record", "arc without length", "wrong digest", "no HTTP", "wrong length"],
)
def test_damage_costs_the_record_it_is_in(tmp_path, content, what, kept):
    path = tmp_path / "damaged.warc"
    path.write_bytes(content)
    (found,) = damage(path)
    assert what in found.what
    assert [page.url for page in pages(path)] == kept


def test_records_without_a_page_say_why(tmp_path):
    path = tmp_path / "some.warc"
    kind = "application/http; msgtype=response"
    revisit = warc("revisit", "http://harbour.example/again", HTTP, kind)
    empty = warc("response", "http://harbour.example/empty", HTTP, kind)
    name = warc("response", "dns:harbour.example", b"192.0.2.7", "text/dns")
    answers = [response(number, status) for number, status in enumerate((b"301 Moved", b"503 No", b"206 Some"))]
    path.write_bytes(b"".join((PLAIN, revisit, empty, name, *answers)))
    passed = [found.reason for found in contents(path) if isinstance(found, Passed)]
    assert passed == ["http-4xx", "revisit", "no-content", "not-a-page", "redirected", "http-5xx", "not-a-page"]


def test_a_package_without_the_list_of_its_parts_is_searched_for_records(tmp_path):
    path = tmp_path / "torn.wacz"
    path.write_bytes(wacz("archive/a.warc.gz")[:-60])
    assert [page.url for page in pages(path)] == WANTED
    assert "not whole" in damage(path)[0].what


def test_an_empty_file_holds_nothing(tmp_path):
    path = tmp_path / "empty.warc.gz"
    path.write_bytes(b"")
    assert list(contents(path)) == []


def test_members_of_one_record_and_of_several_may_follow_each_other(tmp_path):
    path = tmp_path / "mixed.warc.gz"
    alone = [gzip.compress(record) for record in RECORDS]
    path.write_bytes(b"".join((*alone, gzip.compress(PLAIN), *alone, gzip.compress(b""), *alone)))
    assert [page.url for page in pages(path)] == 4 * WANTED


@pytest.mark.parametrize("alone", [0, 2])
def test_where_damage_is_does_not_depend_on_how_it_was_reached(tmp_path, alone):
    path = tmp_path / "damaged.warc.gz"
    packed = [gzip.compress(response(number)) for number in range(3)]
    first = b"".join(packed[:alone]) + gzip.compress(b"".join(response(number) for number in range(alone, 3)))
    rest = gzip.compress(b"no record")
    path.write_bytes(first + rest)
    (hole,) = damage(path)
    assert hole.place == (len(first), len(rest), None)
