"""What kind of body a page has: by its Content-Type, checked against its first bytes.

A type that the first bytes contradict loses (a PDF sent as HTML); a missing or meaningless one is made good from the
bytes. The answer is a media type without parameters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from periplus.records import Page

HTML: Final = "text/html"
PLAIN: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
XML: Final = "application/xml"
RSS: Final = "application/rss+xml"
ATOM: Final = "application/atom+xml"
JSON_FEED: Final = "application/feed+json"
JSON_LD: Final = "application/ld+json"
PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT: Final = "application/vnd.oasis.opendocument.text"
EPUB: Final = "application/epub+zip"
ZIP: Final = "application/zip"
UNKNOWN: Final = "application/octet-stream"

_SAMPLE: Final = 1024
_SAME: Final = {
    "application/xhtml+xml": HTML,
    "text/xml": XML,
    "text/x-markdown": MARKDOWN,
    "application/x-pdf": PDF,
    "application/rdf+xml": RSS,
    "text/rss+xml": RSS,
    "application/x-rss+xml": RSS,
    "application/x-atom+xml": ATOM,
}
_MEANINGLESS: Final = frozenset(
    {"", UNKNOWN, "application/unknown", "unknown/unknown", "text", "application/x-unknown"}
)
_MAGIC: Final = (
    (b"%PDF-", PDF),
    (b"PK\x03\x04", ZIP),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"wOF", "font/woff"),
    (b"\x7fELF", UNKNOWN),
)
_HTML_START: Final = re.compile(
    rb"\s*(?:<!--(?:(?!-->).)*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|h1|p|a|br)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML_START: Final = re.compile(rb"\s*(?:<\?xml|<!--|<rss\b|<feed\b|<rdf:RDF\b)", re.IGNORECASE)
_JSON_FEED_START: Final = re.compile(rb"""\s*\{.{0,300}?"version"\s*:\s*"https:(?:\\?/){2}jsonfeed\.org""", re.DOTALL)
_JSON_LD_START: Final = re.compile(rb"""\s*[\[{].{0,300}?"@(?:context|graph)"\s*:""", re.DOTALL)
_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?(rss|feed|RDF|html)\b")
_MARKDOWN_NAME: Final = (".md", ".markdown", ".mkd")
_TEXTUAL: Final = ("text/",)
_NO_PLAIN_TEXTS: Final = frozenset(
    {HTML, MARKDOWN, "text/css", "text/x-scss", "text/less", "text/vtt", "text/cache-manifest", "text/event-stream"}
    | {f"text/{name}" for name in ("javascript", "x-javascript", "ecmascript", "jscript", "vbscript", "livescript")}
)
_PROGRAM_NAMES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".map": "application/json",
}
_JSON: Final = frozenset({"application/json", "text/json", JSON_FEED, JSON_LD})


def kind_of(page: Page) -> str:
    """The media type of the page's body."""
    start = page.body[:_SAMPLE].removeprefix(b"\xef\xbb\xbf")
    declared = page.content_type.partition(";")[0].strip().lower()
    declared = _SAME.get(declared, declared)
    magic = _by_magic(start, page.body)
    if magic and (declared in _MEANINGLESS or declared in (HTML, PLAIN, ZIP) or magic == declared):
        return magic
    if declared in _MEANINGLESS or declared == PLAIN:
        kind = _by_sight(start, declared, page.url)
        return _by_name(page.url) if kind == PLAIN else kind
    if declared in (XML, RSS, ATOM):
        return _xml_kind(start)
    if declared in _JSON:
        return _json_kind(start, declared)
    return PLAIN if declared.startswith(_TEXTUAL) and declared not in _NO_PLAIN_TEXTS else declared


def _by_magic(start: bytes, body: bytes) -> str:
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return _zip_kind(body) if kind == ZIP else kind
    return PDF if b"%PDF-" in start[:64] else ""


def _zip_kind(body: bytes) -> str:
    """Which document a ZIP file is, by the names that stand at its beginning."""
    start = body[:4096]
    if b"mimetypeapplication/epub+zip" in start:
        return EPUB
    if b"mimetype" + ODT.encode() in start:
        return ODT
    if b"word/" in start or b"word/document.xml" in body[-65536:]:
        return DOCX
    return ZIP


def _by_sight(start: bytes, declared: str, url: str) -> str:
    if declared != PLAIN and _HTML_START.match(start):
        return HTML
    if _XML_START.match(start) and declared != PLAIN:
        return _xml_kind(start)
    if _is_binary(start):
        return UNKNOWN
    if start.lstrip()[:1] in (b"{", b"[") and (kind := _json_kind(start, "")):
        return kind
    return MARKDOWN if url.partition("?")[0].lower().endswith(_MARKDOWN_NAME) else PLAIN


def _by_name(url: str) -> str:
    """What a text without a telling type is: a page's styles and scripts are often sent as any text."""
    name = url.partition("?")[0].lower()
    return next((kind for suffix, kind in _PROGRAM_NAMES.items() if name.endswith(suffix)), PLAIN)


def _xml_kind(start: bytes) -> str:
    root = _ROOT.search(start)
    if root is None:
        return XML
    return {b"rss": RSS, b"RDF": RSS, b"feed": ATOM, b"html": HTML}[root.group(1)]


def _json_kind(start: bytes, declared: str) -> str:
    """A feed or JSON-LD where the beginning says so; other JSON is no document."""
    if _JSON_FEED_START.match(start):
        return JSON_FEED
    return JSON_LD if _JSON_LD_START.match(start) else declared


def _is_binary(start: bytes) -> bool:
    """Control bytes that no text has; UTF-16 declares itself by its mark."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return bool(re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", start))
