"""What strangers bring besides pages: files to import, rules of robots, queries, questions to shard servers.

A target gives bytes to the reader as the product does. It fails on anything but an answer or one of our errors.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import zstandard

from fuzz import files
from periplus.app.importing.items import outcome_of
from periplus.app.importing.sources import FileCheck, FileContents
from periplus.cluster.codec import METHODS, BadMessage, decode_answer, decode_question
from periplus.crawl.rules.robots import RobotsFile
from periplus.errors import PeriplusError
from periplus.search.query.language import read

if TYPE_CHECKING:
    from collections.abc import Callable

BASE = "https://example.org/wiki/"
PARSED: Final = 4  # records of a portion that are also parsed: pages have targets of their own
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words"
WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
    b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: %d\r\n\r\n%b\r\n\r\n"
) % (len(HTTP), HTTP)
ARC = (
    b"filedesc://a.arc 0.0.0.0 20240506070809 text/plain 69\n1 0 Somebody\nURL IP-address Archive-date Content-type "
    b"Archive-length\n\nhttp://a.example/ 192.0.2.7 20240506070809 text/html %d\n%b\n"
) % (len(HTTP), HTTP)
MBOX = (
    b"From a@b Mon May  6 07:08:09 2024\nMessage-ID: <1@b>\nSubject: =?utf-8?q?t=C3=A4?=\nDate: 6 May 2024\n"
    b"Content-Type: text/plain; charset=latin-1\n\n>From w\n\n"
)
WIKI = (
    b"<mediawiki><siteinfo><base>https://example.org/wiki/M</base></siteinfo><page><title>T</title><ns>0</ns><revision>"
    b"<timestamp>2024-05-06T07:08:09Z</timestamp><text>'''T''' [[a|b]] {{c|d=e}}\n== H ==\n* l</text></revision></page>"
    b"</mediawiki>"
)
CDXJ = (
    b'org,example)/ 20240506070809 {"url": "https://example.org/", "filename": "a.warc.gz", "offset": "0", '
    b'"length": "9"}\n'
)
# By the name of a target: the end of the file's name, and seeds.
IMPORTS: Final[dict[str, tuple[str, *tuple[bytes, ...]]]] = {
    "warc": (".warc", WARC),
    "warc-gz": (".warc.gz", gzip.compress(WARC, mtime=0)),
    "warc-zst": (".warc.zst", zstandard.compress(WARC)),
    "arc": (".arc", ARC),
    "wacz": (".wacz", files.wacz(WARC, CDXJ)),
    "jsonl": (".jsonl", b'{"id": "1", "url": "https://a.example/", "title": "t", "text": "w", "date": "2024-05-06"}\n'),
    "mbox": (".mbox", MBOX),
    "wiki": (".xml", WIKI),
    "cdxj": (".cdxj", CDXJ),
    "parquet": (".parquet", *files.parquet()),
}
ROBOTS: Final = b"User-agent: *\nDisallow: /a*b$\nAllow: /%C3%A4\nCrawl-delay: 2.5\nSitemap: /s.xml\n"
QUERY: Final = b'+"spring tide" -(moon OR site:a.example) intitle:x por* after:2024-05'


def check_import(ending: str, data: bytes) -> bool:
    """Whatever a file holds: it is refused, or each of its records has an outcome. True where it has records."""
    read = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:  # noqa: PTH112
        path = Path(folder) / f"a{ending}"
        path.write_bytes(data)
        # A listing with a base would ask other machines for its archives; without one they lie beside it.
        check, contents = FileCheck(str(path)), FileContents(str(path), BASE if ending == ".xml" else "")
        try:
            with check.opening() as opened:
                list(check.answers(opened))
            with contents.opening() as opened:
                for portion in contents.answers(opened):
                    with portion.opening() as beside:
                        entries = portion.entries(beside)
                        for entry in islice(entries, PARSED):
                            outcome_of(entry)
                            read += 1
                        for _ in entries:
                            pass
        except (PeriplusError, OSError):
            return False
    return read > 0


def check_robots(data: bytes) -> bool:
    rules = RobotsFile.parse(data, "Periplus")
    assert rules.delay is None or rules.delay >= 0
    for url in ("https://example.org/", "https://example.org/a/b?c=%C3%A4"):
        verdict = rules.verdict(url)
        assert verdict.line == 0 or verdict.text, verdict
    return True


def check_query(data: bytes) -> bool:
    """A query is always understood, and what it was understood as is understood the same."""
    parsed = read(data.decode("utf-8", "surrogateescape"))
    if not parsed.cut:
        assert str(read(str(parsed))) == str(parsed), str(parsed)
    return True


def check_message(data: bytes) -> bool:
    """True where it is what some method is asked or answers."""
    fits = False
    for method in METHODS:
        for decode in (decode_question, decode_answer):
            try:
                decode(method, data)
            except BadMessage:
                continue
            fits = True
    return fits


OTHERS: Final[dict[str, tuple[Callable[[bytes], bool], list[bytes]]]] = {
    "robots": (check_robots, [ROBOTS]),
    "query": (check_query, [QUERY]),
    "shard-message": (check_message, files.shard_messages()),
}
NAMES: Final = (*IMPORTS, *OTHERS)


def seeds(name: str) -> list[bytes]:
    return list(IMPORTS[name][1:]) if name in IMPORTS else OTHERS[name][1]


def check(name: str, data: bytes) -> bool:
    return check_import(IMPORTS[name][0], data) if name in IMPORTS else OTHERS[name][0](data)
