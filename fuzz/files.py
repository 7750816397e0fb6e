"""Whole files to begin with, of formats that nobody writes by hand: a seed that is refused teaches nothing."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from itertools import accumulate

import numpy as np

from periplus.cluster.codec import encode_answer, encode_question
from periplus.index import Filters, GivenStatistics, Group, IndexQuery, StoredDocument
from periplus.ranking import PROFILES
from periplus.records import Total
from periplus.search import Excerpt, Hits, KnownWord, Numbers, ShardQuery, Visibility
from periplus.text import TermForm

PDF_HEAD = b"%PDF-1.4\n"
CONTENT = b"BT /F1 12 Tf 72 700 Td (words) Tj T* [(a) -300 <0102>] TJ ET /X1 Do"
LETTERS = (
    b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <01> <0041> endbfchar "
    b"1 beginbfrange <02> <04> <0042> endbfrange endcmap"
)


def pdf() -> bytes:
    """Two fonts, a packed stream, a form, a link, a title, and a table of all objects."""
    objects = pdf_objects()
    places = list(accumulate(map(len, objects), initial=len(PDF_HEAD)))
    table = b"".join(b"%010d 00000 n \n" % place for place in places[:-1])
    count = len(objects) + 1
    return (
        PDF_HEAD + b"".join(objects) + b"xref\n0 %d\n0000000000 65535 f \n" % count + table
        + b"trailer << /Size %d /Root 1 0 R /Info 10 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, places[-1])
    )  # fmt: skip


def pdf_of(objects: bytes) -> bytes:
    """A file of some objects whose reader has to look for each of them."""
    return PDF_HEAD + objects + b"\ntrailer << /Size 99 /Root 1 0 R /Info 10 0 R >>\nstartxref\n0\n%%EOF"


def pdf_objects() -> list[bytes]:
    packed = zlib.compress(CONTENT)
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /Contents [4 0 R 5 0 R] /Annots [9 0 R] /MediaBox [0 0 595 842] /Resources"
            b" << /Font << /F1 6 0 R /F2 7 0 R >> /XObject << /X1 11 0 R >> >> >>"
        ),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed),
        b"<< /Length 31 /Filter [/ASCIIHexDecode] >>\nstream\n4254202f463220395466203c30323e20>\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [1 /eacute /A] >> >>",
        (
            b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 8 0 R /DescendantFonts"
            b" [<< /Subtype /CIDFontType2 /W [1 [500 600] 3 9 700] /DW 1000 >>] >>"
        ),
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(LETTERS), LETTERS),
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (https://a.example/) >> >>",
        b"<< /Title (T) /Author <FEFF00E9> /CreationDate (D:20240501000000+02'00') /ModDate (D:2024) >>",
        b"<< /Type /XObject /Subtype /Form /Length 25 /Resources 3 0 R >>\nstream\nBT /F1 9 Tf (more) ' ET\nendstream",
    ]
    return [b"%d 0 obj\n%b\nendobj\n" % (number, body) for number, body in enumerate(bodies, 1)]


def zipped(parts: dict[str, bytes]) -> bytes:
    """Parts as they are, so that a changed byte is not lost in packing."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def docx(document: bytes) -> bytes:
    links = b'<Relationships><Relationship Id="r1" Target="https://a.example/" TargetMode="External"/></Relationships>'
    about = b'<c:p xmlns:c="c" xmlns:d="d" xmlns:t="t"><d:title>T</d:title><t:modified>2024-05-01</t:modified></c:p>'
    return zipped({"word/document.xml": document, "word/_rels/document.xml.rels": links, "docProps/core.xml": about})


def wacz(record: bytes, line: bytes) -> bytes:
    return zipped(
        {
            "datapackage.json": b'{"profile": "data-package", "wacz_version": "1.1.1", "resources": []}',
            "archive/a.warc.gz": gzip.compress(record, mtime=0),
            "indexes/index.cdxj": line,
            "pages/pages.jsonl": b'{"format": "json-pages-1.0"}\n{"url": "http://a.example/", "title": "T"}\n',
        }
    )


def parquet() -> list[bytes]:
    """Tables of one row: plain, and with what other tools write."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {"id": ["1"], "url": ["https://a.example/"], "title": ["t"], "text": ["words " * 20], "date": [1.7e9]}
    found = []
    for options in ({"compression": "none", "use_dictionary": False}, {"compression": "zstd", "version": "1.0"}):
        target = io.BytesIO()
        pq.write_table(pa.table({**row, "tags": [["a", "b"]]}), target, **options)
        found.append(target.getvalue())
    return found


def shard_messages() -> list[bytes]:
    """A question of each kind of arguments, and an answer of each kind of records."""
    forms = (TermForm("tide", 1.0), TermForm("tides", 0.5))
    group = Group(forms, ("spring", "tide"), "title")
    filters = Filters(("a.example",), before=1.7e9)
    query = IndexQuery((group,), (group,), (), ((group, group),), filters, Filters())
    words = (KnownWord("tide", 2.5, forms, (3, 2), 1.5),)
    known = GivenStatistics(10, {"tide": 3, "tides": 2}, (1.5,) * 6)
    numbers: Numbers = np.array([0, 7], np.int64)
    scores = np.array([0.5, np.nan])
    seen = Visibility(safe=True, blocked=frozenset({"b.example"}), tab="news", only=numbers)
    asked = ShardQuery(query, words, known, next(iter(PROFILES.values())), "date", "en", 1.7e9, 5.0, seen, 9)
    questions = [(asked, 20, 10, True), (asked, numbers, 0.5), (asked, numbers, numbers), (seen, numbers), (query,)]
    questions += [([7],), ([7], "news"), (7,), (numbers,), ([7], words)]
    excerpt = Excerpt("1", "https://a.example/", "a", "A", "t", "words", ((0, 5),), "en", None, "2024", "text/html")
    document = StoredDocument(
        "https://a.example/",
        "1",
        "t",
        "d",
        "words",
        (),
        "en",
        "text/html",
        1.7e9,
        1.7e9,
        "a.example",
        "A",
        "B",
        noarchive=False,
    )
    answers = [Hits(numbers, scores, scores, numbers, numbers, scores, Total(2, "gte"), whole=True), [excerpt], [7]]
    answers += [scores, scores > 0, [{"kind": "news"}], [("a", "b")], document]
    return [*map(encode_question, questions), *map(encode_answer, answers)]
