"""One page for programs: its text as the index keeps it, its links and structured data from where they are kept.

The index answers for every page that can be found, over shards too. What it does not keep comes from the page as it was
fetched, which is parsed once more, or from the batch of an import. Where neither is at hand, it is not known.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from periplus import addresses, archive
from periplus.documents import parse_apart
from periplus.errors import NotFound, PeriplusError
from periplus.records import ArchiveLocation, Link, Page, PageContent

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.records import Document

PAGES = ("text/html", "application/xhtml+xml")  # quick to parse again; other kinds have no structured data
_PLACE = "SELECT file, place, length, fetched_at FROM urls WHERE host = ? AND key = ? AND length > 0"


def page_content(collection: Collection, url: str) -> PageContent:
    """The page at ``url``, or with that id; ``NotFound`` where it is not indexed or asks not to be kept."""
    stored = collection.engine.stored(url)
    if stored is None:
        raise NotFound(f"{url} is not in the index; periplus inspect tells how far it came")
    if stored.noarchive:
        raise NotFound(f"{url} asks not to be kept (noarchive); open the page itself")
    document = _document(collection, stored.url) if stored.content_type in PAGES else None
    return PageContent(
        stored.id,
        stored.url,
        stored.site,
        stored.title,
        stored.description,
        stored.language,
        stored.content_type,
        stored.author,
        _iso(stored.published),
        _iso(document.modified) if document else None,
        _iso(stored.fetched) or "",
        stored.headings,
        stored.text,
        document.links if document else None,
        document.structured if document else None,
    )


def _document(collection: Collection, url: str) -> Document | None:
    """What a parse finds in the page; None where what it is made of is not at hand."""
    if not url.startswith(("http://", "https://")):
        return None
    try:
        return _fetched(collection, url) or _imported(collection, url)
    except PeriplusError:
        return None  # taken down, damaged, or on another machine: the text is given all the same


def _fetched(collection: Collection, url: str) -> Document | None:
    """From the page as it was fetched."""
    with collection.database.read() as tx:
        row = tx.row(_PLACE, (addresses.host_key(addresses.host(url)), addresses.key(url)))
    if row is None:
        return None
    place = ArchiveLocation(str(row[0]), int(row[1]), int(row[2]))
    exchange = archive.read(collection.archive, place)
    return parse_apart(
        Page(url, exchange.body, exchange.header("content-type"), exchange.headers, exchange.status, float(row[3]))
    )


def _imported(collection: Collection, url: str) -> Document | None:
    """From the batch of an import, with its links."""
    import pyarrow.compute as pc  # with Arrow, which a server of crawled pages never loads

    from periplus.app.pages.imported import find_imported
    from periplus.documents import BatchLog

    found = find_imported(collection, url)
    if found is None:
        return None
    table = BatchLog(collection.files, collection.database, collection.depot).links(found.batch)
    rows = table.filter(pc.field("source_key") == found.document.key).to_pylist()
    links = [Link(row["target"], row["text"], row["title"], tuple(row["rel"]), row["place"]) for row in rows]
    return replace(found.document, links=tuple(links))


def _iso(moment: float) -> str | None:
    if not moment:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
