"""What else can be brought in: mailing lists, dumps of wikis, CDXJ listings, LZ4, and files of seeds."""

from __future__ import annotations

import bz2
import gzip
import mailbox
from email.message import EmailMessage

import lz4.frame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import Collection, archive
from periplus.app.importing import import_paths
from periplus.app.importing.mailboxes import MAX_MESSAGE
from periplus.app.importing.wikitext import to_html
from periplus.cli.seed_files import addresses_in
from periplus.documents import parse
from periplus.errors import Incompatible
from periplus.records import Exchange, Page

WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
<siteinfo><sitename>Coast</sitename><base>https://coast.example/wiki/Main_Page</base></siteinfo>
<page><title>Spring tide</title><ns>0</ns><id>1</id><revision><timestamp>2026-01-02T03:04:05Z</timestamp><text>{{Infobox
|a={{nested|b}}}}'''Spring tides''' are the highest [[tide]]s, see [[Neap tide|neaps]].&lt;ref&gt;A book&lt;/ref&gt;
== Cause ==
* The [[Sun]] and the Moon pull together. [https://moon.example/ About the moon]
[[File:Moon.jpg|thumb|The [[Moon]] over the bay]]
{| class="wikitable"
| row || of a table
|}</text></revision></page>
<page><title>Springs</title><ns>0</ns><id>2</id><redirect title="Spring tide"/>
<revision><text>#REDIRECT [[Spring tide]]</text></revision></page>
<page><title>Talk:Spring tide</title><ns>1</ns><id>3</id><revision><text>chatter</text></revision></page>
</mediawiki>"""


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c") as made:
        yield made


def found(collection, query):
    collection.index()
    return collection.search(query).results


def written_mailbox(path, *messages):
    box = mailbox.mbox(path)
    for message in messages:
        box.add(message)
    box.close()
    return path


def mail(name, subject, text, kind="plain", **headers):
    message = EmailMessage()
    message["Message-ID"], message["Subject"], message["From"] = f"<{name}@list.test>", subject, "Ada <ada@list.test>"
    message["Date"] = headers.pop("date", "Sat, 14 Nov 2026 10:00:00 +0000")
    message.set_content(text, subtype=kind)
    return message


def test_a_mailing_list(tmp_path, collection):
    box = written_mailbox(
        tmp_path / "list.mbox",
        mail("one", "Bars at low water", "The bar breaks.\n\nFrom the pilots: wait for the tide.\n"),
        mail("two", "Grüße aus Kiel", "<p>Only <b>markup</b> of the harbour here.</p>", "html"),
    )
    report = import_paths(collection, [box])
    (bars,) = found(collection, "pilots wait")
    (markup,) = found(collection, "markup harbour")

    assert (report.documents, report.records) == (2, 2)
    assert (bars.id, bars.title, bars.published) == ("one@list.test", "Bars at low water", "2026-11-14T10:00:00Z")
    assert markup.title == "Grüße aus Kiel"
    assert collection.engine.stored("one@list.test").author == "Ada <ada@list.test>"


@pytest.mark.parametrize("packing", [gzip.compress, lz4.frame.compress], ids=["gz", "lz4"])
def test_a_packed_mailing_list(tmp_path, collection, packing):
    plain = written_mailbox(tmp_path / "list.mbox", mail("one", "Bars", "The bar breaks."))
    ending = "gz" if packing is gzip.compress else "lz4"
    packed = tmp_path / f"list.mbox.{ending}"
    packed.write_bytes(packing(plain.read_bytes()))

    assert import_paths(collection, [packed]).documents == 1


def test_odd_messages_are_named_and_passed_over(tmp_path, collection):
    box = tmp_path / "odd.mbox"
    box.write_bytes(
        b"From a\nSubject: no id\n\nx\n\nFrom b\nMessage-ID: <ok@x>\nSubject: fine\n"
        b"Content-Type: text/plain; charset=no-such\n\nthe tide\n\n"
        b"From c\nMessage-ID: <long@x>\n\n"
        + b"x" * (MAX_MESSAGE + 1)
        + b"\n\nFrom d\nMessage-ID: <last@x>\nDate: never\n\n>From here on\n"
    )
    report = import_paths(collection, [box])

    assert report.documents == 2
    assert report.left_out == {"bad-record": 1, "too-large": 1}
    assert [problem.place for problem in report.problems] == ["message 1", "message 3"]
    collection.index()
    assert collection.engine.stored("last@x").text.strip() == "From here on"


@pytest.mark.parametrize("ending", ["xml", "xml.bz2", "xml.gz"])
def test_a_dump_of_a_wiki(tmp_path, collection, ending):
    packing = {"xml": bytes, "xml.bz2": bz2.compress, "xml.gz": gzip.compress}[ending]
    dump = tmp_path / f"wiki.{ending}"
    dump.write_bytes(packing(WIKI.encode()))
    report = import_paths(collection, [dump])
    (article,) = found(collection, "highest tides")
    (document,) = [row for row in collection.documents() if not row.refusal]

    assert (report.documents, report.left_out) == (1, {"redirected": 1, "not-a-page": 1})
    assert (article.url, article.title) == ("https://coast.example/wiki/Spring_tide", "Spring tide")
    text = document.text
    assert "Spring tides are the highest tides, see neaps." in text
    assert "The Sun and the Moon pull together." in text
    assert not any(part in text for part in ("Infobox", "nested", "A book", "thumb", "row", "{{", "[[", "''"))
    assert "Cause" in [heading.text for heading in document.headings]


def test_a_dump_below_another_address(tmp_path, collection):
    (tmp_path / "wiki.xml").write_text(WIKI.replace("<base>https://coast.example/wiki/Main_Page</base>", ""))
    import_paths(collection, [tmp_path / "wiki.xml"], "https://mirror.example/w/")
    assert found(collection, "highest tides")[0].url == "https://mirror.example/w/Spring_tide"


def test_a_torn_dump_gives_what_stands_before_the_tear(tmp_path, collection):
    (tmp_path / "wiki.xml").write_text(WIKI[: WIKI.index("<page><title>Talk")])
    report = import_paths(collection, [tmp_path / "wiki.xml"])
    assert report.documents == 1
    assert "cannot be read further" in str(report.problems[0])


def test_other_xml_is_refused(tmp_path, collection):
    (tmp_path / "other.xml").write_text("<rss/>")
    with pytest.raises(Incompatible, match="no export of MediaWiki"):
        import_paths(collection, [tmp_path / "other.xml"])


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab {}|[]'=<>/!-*#:\nrefile", max_size=200))
def test_no_wikitext_fails_or_becomes_markup_of_its_own(text):
    made = to_html("A title", text + "<script>x</script>", "https://w.example/wiki/")
    assert "<script" not in made
    parse(Page("https://w.example/wiki/A", made.encode(), "text/html; charset=utf-8"))


def recorded(folder, url, body, status=200):
    folder.mkdir(exist_ok=True)
    writer = archive.ArchiveWriter(folder, 10**9, "test")
    headers = (("Content-Type", "text/html"),)
    place = writer.append(
        Exchange(url, "GET", (), status, "OK", headers, body, body, "192.0.2.1", 1_763_000_000.0, 0.1)
    )
    writer.close()
    return place


def listing_line(url, place, **fields):
    import json

    told = {"url": url, "filename": place.file, "offset": str(place.offset), "length": str(place.length), **fields}
    return f"test,a)/ 20251113000000 {json.dumps(told)}\n"


def test_a_listing_brings_the_records_that_it_names(tmp_path, collection):
    folder = tmp_path / "archive"
    page = b"<title>Bars</title><p>A bar of sand lies across the mouth of the river at low water.</p>"
    first = recorded(folder, "http://a.test/", page)
    second = recorded(folder, "http://a.test/b", page.replace(b"sand", b"mud"))
    gone = recorded(folder, "http://a.test/gone", b"", 404)
    lines = [
        listing_line("http://a.test/", first),
        listing_line("http://a.test/gone", gone),
        "!meta {}\n",
        "odd line\n",
    ]
    lines.append(listing_line("http://a.test/away", second, filename="../outside.warc.gz"))
    lines.append(listing_line("http://a.test/b", second, offset=str(second.offset + 1)))
    (folder / "listing.cdxj").write_text("".join(lines))
    report = import_paths(collection, [folder / "listing.cdxj"])

    assert report.documents == 1
    assert report.left_out == {"http-4xx": 1, "bad-record": 1, "damaged": 2}
    assert [result.url for result in found(collection, "sand")] == ["http://a.test/"]
    assert found(collection, "mud") == ()


def test_archives_and_records_packed_with_lz4(tmp_path, collection):
    import json

    rows = "".join(json.dumps({"id": str(n), "text": f"tide {n}"}) + "\n" for n in range(2_000))
    packed = tmp_path / "rows.jsonl.lz4"
    packed.write_bytes(lz4.frame.compress(rows[:9_000].encode()) + lz4.frame.compress(rows[9_000:].encode()))
    place = recorded(tmp_path / "archive", "http://a.test/", b"<title>Bars</title><p>A bar of sand and of mud.</p>")
    plain = gzip.decompress((tmp_path / "archive" / place.file).read_bytes())
    (tmp_path / "one.warc.lz4").write_bytes(lz4.frame.compress(plain))

    assert import_paths(collection, [packed]).documents == 2_000
    assert import_paths(collection, [tmp_path / "one.warc.lz4"]).documents == 1


@pytest.mark.parametrize("cut", [1, 100, 2_000])
def test_a_torn_lz4_file_gives_what_stands_before_the_tear(tmp_path, collection, cut):
    rows = "".join(f'{{"id": "{n}", "text": "tide {n} {n * 7919 % 104729}"}}\n' for n in range(5_000))
    packed = lz4.frame.compress(rows.encode(), block_linked=False, block_size=lz4.frame.BLOCKSIZE_MAX64KB)
    torn = tmp_path / "rows.jsonl.lz4"
    torn.write_bytes(packed[:-cut])
    report = import_paths(collection, [torn])
    assert report.left_out.get("damaged") == 1
    assert report.documents > 3_000


OPML = """<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>
<outline text="Coast"><outline type="rss" text="Tides" xmlUrl="https://tides.test/feed.xml" htmlUrl="https://tides.test/"/></outline>
<outline type="rss" text="No site" xmlUrl="https://bars.test/rss?a=1&amp;b=2"/></body></opml>"""
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>
<DT><A HREF="https://a.test/?x=1&amp;y=2" ADD_DATE="1">A</A>
<DT><A HREF="javascript:alert(1)">no</A><DT><A HREF="place:sort=8">no</A>
<DT><H3>Folder</H3><DL><p><DT><A HREF="http://b.test/">B</A></DL></DL>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OPML, ["https://tides.test/", "https://tides.test/feed.xml", "https://bars.test/rss?a=1&b=2"]),
        (BOOKMARKS, ["https://a.test/?x=1&y=2", "http://b.test/"]),
        ('test,a)/ 20251113000000 {"url": "http://a.test/"}\n!meta\nx 20251113000000 {"no": 1}\n', ["http://a.test/"]),
        ("# seeds\nhttps://a.test/\n\n  b.test \n", ["https://a.test/", "b.test"]),
        ("", []),
    ],
    ids=["opml", "bookmarks", "cdxj", "lines", "empty"],
)
def test_files_of_seeds(text, expected):
    assert addresses_in(text) == expected
