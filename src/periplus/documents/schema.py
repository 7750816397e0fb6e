"""Documents and links as Arrow tables, and back.

Plain fields are columns of their own type; nested ones (headings, images, structured data, signals …) are JSON in a
text column, because readers of batches either want one plain column of all rows or the whole document. ``row`` of a
link is the place of its document in the batch, so that a document finds its own links even if its address occurs twice.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa

from periplus.records import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NESTED: Final = ("headings", "feeds", "hreflang", "structured", "images", "signals", "archive")

_PLAIN_TYPES: Final = {
    "key": pa.int64(),
    "fetched": pa.float64(),
    "status": pa.int16(),
    "charset_sure": pa.bool_(),
    "published": pa.float64(),
    "modified": pa.float64(),
    "date_confidence": pa.float64(),
    "noindex": pa.bool_(),
    "nofollow": pa.bool_(),
    "noarchive": pa.bool_(),
    "content_hash": pa.int64(),
    "fingerprint": pa.int64(),
    "word_count": pa.int32(),
}
_FIELDS: Final = tuple(field.name for field in msgspec.structs.fields(Document) if field.name != "links")
_REQUIRED: Final = frozenset(field.name for field in msgspec.structs.fields(Document) if field.required)
_TYPES: Final = {field.name: field.type for field in msgspec.structs.fields(Document)}

DOCUMENTS: Final = pa.schema([(name, _PLAIN_TYPES.get(name, pa.string())) for name in _FIELDS])
LINKS: Final = pa.schema(
    [
        ("source_key", pa.int64()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("text", pa.string()),
        ("title", pa.string()),
        ("rel", pa.list_(pa.string())),
        ("place", pa.string()),
        ("row", pa.int32()),
    ]
)

_encode: Final = msgspec.json.Encoder().encode
_decoders: Final = {name: msgspec.json.Decoder(_TYPES[name]) for name in NESTED}


def documents_table(documents: Sequence[Document]) -> pa.Table:
    columns = {}
    for name in _FIELDS:
        values = [getattr(document, name) for document in documents]
        columns[name] = [_encode(value).decode() for value in values] if name in NESTED else values
    return pa.table(columns, schema=DOCUMENTS)


def links_table(documents: Sequence[Document]) -> pa.Table:
    links = [link for document in documents for link in document.links]
    counts = [len(document.links) for document in documents]

    def spread(values: Iterable[Any]) -> list[Any]:
        """A value of each document, for each of its links."""
        return list(chain.from_iterable(map(repeat, values, counts)))

    return pa.table(
        {
            "source_key": spread([document.key for document in documents]),
            "source": spread([document.url for document in documents]),
            "target": [link.url for link in links],
            "text": [link.text for link in links],
            "title": [link.title for link in links],
            "rel": [link.rel for link in links],
            "place": [link.place for link in links],
            "row": spread(range(len(documents))),
        },
        schema=LINKS,
    )


def documents_of(table: pa.Table, links: pa.Table | None = None) -> list[Document]:
    """The documents of a table, in its order; with their links when those are given."""
    columns: dict[str, list[Any]] = {}
    for name in _FIELDS:
        if name not in table.column_names and name not in _REQUIRED:
            continue  # written before the field existed: its default holds
        values = table.column(name).to_pylist()
        columns[name] = [_decoders[name].decode(value) for value in values] if name in NESTED else values
    if links is not None:
        columns["links"] = _links_by_row(links, table.num_rows)
    names = tuple(columns)
    return [Document(**dict(zip(names, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _links_by_row(table: pa.Table, count: int) -> list[tuple[Link, ...]]:
    found: list[list[Link]] = [[] for _ in range(count)]
    names = ("row", "target", "text", "title", "rel", "place")
    for row, target, text, title, rel, place in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        found[row].append(Link(target, text, title, tuple(rel), place))
    return [tuple(links) for links in found]
