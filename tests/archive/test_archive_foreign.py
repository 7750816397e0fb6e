"""Archives that others made: every packing and kind gives its pages, and damage is told."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest
import zstandard

from periplus.archive import pages
from periplus.errors import Corrupt, Incompatible, OverBudget, Truncated

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
BODY = b"<title>Tides</title><p>High water at noon."


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
    found = []
    with pytest.raises(Truncated, match=r"torn\.warc"):
        found.extend(page.url for page in pages(path))  # the generator is read until it fails
    assert found in ([], WANTED[:1])
    reading = pages(path)
    assert next(reading).url == WANTED[0]


def test_a_torn_gzip_member_is_told(tmp_path):
    path = tmp_path / "torn.warc.gz"
    path.write_bytes(gzip.compress(PLAIN)[:-20])
    with pytest.raises(Truncated, match="packed part"):
        list(pages(path))


@pytest.mark.parametrize(
    "rest", [b"\x1f", b"\r\n", b"filedesc://x", b"\x28\xb5\x2f\xfd"], ids=["1f", "line", "arc", "zstd"]
)
def test_what_follows_a_whole_member_is_gzip_or_an_error(tmp_path, rest):
    path = tmp_path / "tail.warc.gz"
    path.write_bytes(gzip.compress(response(1)) + rest)
    reading = pages(path)
    assert next(reading).url == WANTED[0]
    with pytest.raises((Truncated, Corrupt), match="pack"):
        next(reading)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"not an archive at all", Corrupt),
        (gzip.compress(b"not an archive at all"), Corrupt),
        (zstandard.compress(PLAIN)[:8] + b"\xff" * 600, Corrupt),
        (zstandard.compress(PLAIN)[:-3], Truncated),
        (gzip.compress(PLAIN) + b"rubbish", Corrupt),
        (b"\x5d\x2a\x4d\x18\xff\xff\xff\xff", Corrupt),
        (b"\x5d\x2a\x4d\x18\x10\x00\x00\x00short", Truncated),
        (b"PK\x03\x04 and then nothing of a ZIP file", Corrupt),
        (arc().replace(b"text/html ", b"text/html 9999999999"), OverBudget),
        (arc().replace(b" 20240506070809 text/html ", b" "), Corrupt),
        (PLAIN.replace(b"WARC-Type: resource", b"WARC-Block-Digest: sha1:AAAA\r\nWARC-Type: resource"), Corrupt),
    ],
    ids=[
        "words",
        "packed words",
        "damaged zstd",
        "torn zstd",
        "rubbish after gzip",
        "huge dictionary",
        "torn dictionary",
        "torn zip",
        "huge arc record",
        "arc without length",
        "wrong digest",
    ],
)
def test_damage_is_an_error_that_names_the_file(tmp_path, content, error):
    path = tmp_path / "damaged.warc"
    path.write_bytes(content)
    with pytest.raises(error, match=r"damaged\.warc"):
        list(pages(path))


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
    path.write_bytes(first + gzip.compress(b"no record"))
    with pytest.raises(Corrupt, match=f"unpacked, at {sum(len(response(number)) for number in range(3)) - 4}: "):
        list(pages(path))
