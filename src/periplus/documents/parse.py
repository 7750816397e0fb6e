"""From a page to a document: pick the reader, let it read, add what all documents have, judge.

``parse`` raises only ``ParseError``. A page that must not be found (noindex, another canonical address, no text) is
still a document, with a ``refusal``: its row explains the address and replaces an older version.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.addresses import key, site, try_canonical
from periplus.documents import bounds, robots
from periplus.documents.dates import CONFIDENCE, in_address, plausible
from periplus.documents.fingerprint import LONGEST, content_hash, simhash_of
from periplus.documents.kinds import PLAIN, kind_of
from periplus.documents.language import detect
from periplus.documents.plain import reading_of
from periplus.documents.readers import READERS
from periplus.documents.reading import Dates, Reading
from periplus.documents.signals import measure
from periplus.documents.text import clean, shorten
from periplus.errors import ParseError
from periplus.records import Document, Link

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.records import Page

LINK_HEADERS: Final = 8_192  # characters of all Link headers together that are read
_ROBOTS: Final = re.compile(r"https?://[^/?#]+/robots\.txt(?:[?#]|$)")  # rules for crawlers, which nobody looks for
_OPENING: Final = 300  # characters of the text that stand in for a missing description


def parse(page: Page) -> Document:
    """The document in ``page``; raises ``ParseError`` where there is none."""
    if len(page.body) > bounds.BODY_BYTES:
        raise ParseError("parse-bound", f"{len(page.body)} bytes, the limit is {bounds.BODY_BYTES}")
    if _ROBOTS.match(page.url):
        raise ParseError("not-a-page", "robots.txt")
    kind = kind_of(page)
    reader = READERS.get(kind)
    if reader is None:
        raise ParseError("unsupported-type", kind)
    return _bounded(lambda: _read(page, kind, reader))


def parse_text(page: Page, text: str, title: str) -> Document:
    """The document of a text that somebody gave as one: nothing is guessed of its kind, its title or its links.

    ``page`` says the rest about it; its body is the text as bytes.
    """
    if len(page.body) > bounds.BODY_BYTES:
        raise ParseError("parse-bound", f"{len(page.body)} bytes, the limit is {bounds.BODY_BYTES}")
    return _bounded(lambda: _document(page, PLAIN, reading_of(text), clean(title)))


def _read(page: Page, kind: str, reader: Callable[[Page], Reading]) -> Document:
    reading = reader(page)
    return _document(page, kind, reading, _title(page, reading))


def _bounded(reading: Callable[[], Document]) -> Document:
    try:
        return reading()
    except ParseError:
        raise
    except (MemoryError, RecursionError) as error:
        raise ParseError("parse-bound", type(error).__name__) from error
    except Exception as error:  # a fault of ours must cost one page, not the worker
        raise ParseError("unreadable", f"internal fault, {type(error).__name__}: {str(error)[:200]}") from error


def _document(page: Page, kind: str, reading: Reading, title: str) -> Document:
    directives = reading.robots | robots.from_headers(page.headers, page.fetched)
    nofollow = "nofollow" in directives
    canonical = trusted_canonical(page, reading)
    refusal = _refusal(page, reading, directives, canonical)
    dates = _dates(page, reading)
    declared = reading.declared_language or _header(page, "content-language").split(",")[0].strip().lower()[:20]
    language = detect(reading.text or reading.title or reading.boilerplate, declared[:2])
    lowered = reading.text[:LONGEST].lower()
    folded = lowered.encode("utf-8", "ignore")[:LONGEST]
    words, signals = measure(page, reading, language, lowered)
    return Document(
        url=page.url,
        key=key(page.url),
        fetched=page.fetched,
        status=page.status,
        content_type=kind,
        refusal=refusal,
        title=shorten(title, bounds.TITLE_CHARS),
        headings=tuple(reading.headings),
        text=reading.text,
        boilerplate=reading.boilerplate,
        description=reading.description or shorten(reading.text[: 2 * _OPENING].replace("\n", " "), _OPENING),
        language=language,
        declared_language=declared,
        charset=reading.charset,
        charset_sure=reading.charset_sure,
        canonical=reading.redirect if refusal == "redirected" else canonical,
        published=dates.published,
        modified=dates.modified,
        date_source=dates.source,
        date_confidence=dates.sure,
        author=reading.author,
        site_name=reading.site_name,
        favicon=reading.favicon,
        feeds=tuple(reading.feeds),
        hreflang=reading.hreflang,
        structured=tuple(reading.structured),
        images=tuple(reading.images),
        links=tuple(map(_unfollowed, reading.links) if nofollow else reading.links),
        noindex="noindex" in directives,
        nofollow=nofollow,
        noarchive="noarchive" in directives,
        content_hash=content_hash(page.body),
        fingerprint=simhash_of(reading.text, folded),
        word_count=words,
        signals=signals,
    )


def _dates(page: Page, reading: Reading) -> Dates:
    """The reader's dates; else the day in the address, and for the change alone the header."""
    found = reading.dates
    published, source = found.published, found.source
    if not found.source:
        published = in_address(page.url, page.fetched)
        source = "address" if published else ""
    modified = found.modified or plausible(_header(page, "last-modified"), page.fetched)
    source = source or ("header" if modified else "")
    return Dates(published, modified, source, found.sure or CONFIDENCE.get(source, 0.0))


def _title(page: Page, reading: Reading) -> str:
    """The title, else the first heading, else the last part of the address."""
    if reading.title:
        return reading.title
    if reading.headings:
        return min(reading.headings, key=lambda heading: heading.level).text
    return page.url.partition("?")[0].rstrip("/").rpartition("/")[2]


def _unfollowed(link: Link) -> Link:
    if "nofollow" in link.rel:
        return link
    return Link(link.url, link.text, link.title, ("nofollow", *link.rel), link.place)


def head_refusal(page: Page, reading: Reading, directives: set[str], canonical: str) -> str:
    """The refusal that the head and the headers of a page ask for; empty when they ask for none."""
    if "noindex" in directives:
        return "noindex"
    if reading.redirect and reading.redirect != page.url:
        return "redirected"
    return "canonical-elsewhere" if canonical and canonical != page.url else ""


def _refusal(page: Page, reading: Reading, directives: set[str], canonical: str) -> str:
    asked = head_refusal(page, reading, directives, canonical)
    if asked:
        return asked
    if reading.needs_javascript:
        return "needs-javascript"
    return "" if reading.text or reading.boilerplate else "no-content"


def trusted_canonical(page: Page, reading: Reading) -> str:
    """The canonical address that the page or its headers name, believed only within the page's own site."""
    named = reading.canonical or _header_canonical(page)
    return named if named and site(named) == site(page.url) else ""


def _header_canonical(page: Page) -> str:
    """The address of a ``Link`` header with the relation canonical; linear in what is read of them."""
    headers = ",".join([value for name, value in page.headers if name.lower() == "link"])[:LINK_HEADERS]
    for part in headers.split("<")[1:]:
        target, _, parameters = part.partition(">")
        if any("canonical" in _relations(parameter) for parameter in parameters.split(";")):
            return try_canonical(target, page.url) or ""
    return ""


def _relations(parameter: str) -> list[str]:
    name, _, value = parameter.partition("=")
    return value.strip(" \t,\"'").lower().split() if name.strip().lower() == "rel" else []


def _header(page: Page, name: str) -> str:
    return next((value for header, value in page.headers if header.lower() == name), "")
