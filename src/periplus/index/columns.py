"""Columns: what is known of a document beside its text, as arrays by document number.

Names (hosts, sites, languages, types) are kept once a segment; a column holds their numbers.
"""

from __future__ import annotations

from itertools import islice, pairwise
from operator import attrgetter, eq
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from periplus.errors import Corrupt
from periplus.index.query import FIELDS
from periplus.index.stored import hexadecimal, places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from periplus.index.files import ArrayFile, ArrayFileWriter
    from periplus.records import Document

NAMED = ("host", "site", "language", "type")
PLAIN = {"key": "<i8", "page_key": "<i8", "published": "<f8", "fetched": "<f8", "largest": "<u4"}
TEXTUAL = ("order", "id")
COLLECTED = ("key", "page_key", *NAMED, "published", "fetched", *TEXTUAL)
FIELD_COUNT = len(FIELDS)

_GIVEN = attrgetter(
    "url",
    "key",
    "id",
    "title",
    "description",
    "text",
    "headings",
    "language",
    "content_type",
    "published",
    "fetched",
    "author",
    "noarchive",
)


class Collected:
    """Columns of documents on their way into a segment, as lists."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {name: [] for name in COLLECTED}

    def __len__(self) -> int:
        return len(self._values["key"])

    def extend(self, documents: Sequence[Document]) -> list[tuple[Any, ...]]:
        """Take some documents; they come back as they are stored, with the values of a ``StoredDocument``."""
        (
            urls,
            keys,
            ids,
            titles,
            descriptions,
            texts,
            headings,
            languages,
            types,
            published,
            fetched,
            authors,
            closed,
        ) = zip(*map(_GIVEN, documents), strict=True)
        places = places_of(urls, keys)
        named: tuple[Sequence[Any], ...] = (places.hosts, places.sites, languages, types)
        new: tuple[Sequence[Any], ...] = (keys, places.page_keys, *named, published, fetched, places.orders, ids)
        for name, some in zip(COLLECTED, new, strict=True):
            self._values[name] += some
        known = [given or hexadecimal(key) for given, key in zip(ids, keys, strict=True)]
        shown = (urls, known, titles, descriptions, texts, headings, languages, types, published, fetched)
        return list(zip(*shown, places.hosts, places.sites, authors, closed, strict=True))

    def in_order(self, rows: Iterable[int]) -> list[int]:
        """Rows by address, and by key where one address has several."""
        kept = sorted(rows, key=self._values["order"].__getitem__)
        orders = self.of("order", kept)
        if any(map(eq, orders, islice(orders, 1, None))):
            kept.sort(key=self._values["key"].__getitem__)
            kept.sort(key=self._values["order"].__getitem__)
        return kept

    def of(self, name: str, rows: Sequence[int]) -> list[Any]:
        """One column of some rows."""
        values = self._values[name]
        return [values[row] for row in rows]


class ColumnTable:
    """Columns in memory, ready to be written or joined with others."""

    def __init__(
        self, arrays: dict[str, NDArray[Any]], names: dict[str, list[str]], texts: dict[str, list[bytes]]
    ) -> None:
        self.arrays = arrays
        self.names = names
        self.texts = texts

    @classmethod
    def of(
        cls,
        collected: Collected,
        rows: Sequence[int],
        largest: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        starts: NDArray[np.uint32],
    ) -> ColumnTable:
        """``lengths`` are words by field, ``starts`` the first position of each field and the end."""
        arrays: dict[str, NDArray[Any]] = {
            name: np.array(collected.of(name, rows), kind) for name, kind in PLAIN.items() if name != "largest"
        }
        arrays["largest"] = largest
        names = {}
        for name in NAMED:
            values = collected.of(name, rows)
            names[name] = sorted(set(values))
            numbers = {value: number for number, value in enumerate(names[name])}
            arrays[name] = np.fromiter(map(numbers.__getitem__, values), np.uint32, len(values))
        arrays["lengths"] = lengths.reshape(-1)
        arrays["starts"] = starts.reshape(-1)
        return cls(arrays, names, {name: list(map(str.encode, collected.of(name, rows))) for name in TEXTUAL})

    def write(self, file: ArrayFileWriter) -> None:
        for name, kind in PLAIN.items():
            file.add(name, self.arrays[name], kind)
        for name in (*NAMED, "lengths", "starts"):
            file.add(name, self.arrays[name], "<u4")
        file.add("key_order", np.argsort(self.arrays["key"], kind="stable"), "<u4")
        for name in TEXTUAL:
            file.add(name, np.frombuffer(b"".join(self.texts[name]), np.uint8), "u1")
            file.add(f"{name}_end", np.cumsum([len(text) for text in self.texts[name]]), "<i8")
        file.add("names", np.frombuffer(msgspec.json.encode(self.names), np.uint8), "u1")


class Columns:
    def __init__(self, file: ArrayFile, documents: int) -> None:
        self._file = file
        self.names: dict[str, list[str]] = msgspec.json.decode(file.array("names").tobytes())
        self.key: NDArray[np.int64] = file.array("key")
        self.starts: NDArray[np.uint32] = file.array("starts")
        self.lengths: NDArray[np.uint32] = file.array("lengths").reshape(-1, FIELD_COUNT)
        self._key_order = file.array("key_order")
        if any(len(file.array(name)) != documents for name in (*PLAIN, *NAMED, "key_order", "order_end", "id_end")):
            raise Corrupt(f"{file.path}: its columns differ in length; rebuild the index")
        if len(self.lengths) != documents or len(self.starts) != documents * (FIELD_COUNT + 1):
            raise Corrupt(f"{file.path}: its columns differ in length; rebuild the index")
        self._sorted_keys = self.key[self._key_order]

    def array(self, name: str) -> NDArray[Any]:
        return self._file.array(name)

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the documents with these keys; -1 for those that are not here."""
        if not len(self._sorted_keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self._sorted_keys, keys), len(self._sorted_keys) - 1)
        return np.where(self._sorted_keys[places] == keys, self._key_order[places].astype(np.int64), -1)

    def all_texts(self, name: str) -> list[bytes]:
        """A textual column (the sort keys of addresses, or ids) of all documents."""
        data, ends = self._file.array(name).tobytes(), [0, *self._file.array(f"{name}_end").tolist()]
        return [data[begin:end] for begin, end in pairwise(ends)]

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The ids of some documents: that of an import, else the key in hexadecimal."""
        data, ends = self._file.array("id"), self._file.array("id_end")
        begins = np.where(numbers > 0, ends[numbers - 1], 0)
        rows = zip(begins.tolist(), ends[numbers].tolist(), self.key[numbers].tolist(), strict=True)
        return [data[begin:end].tobytes().decode() or hexadecimal(key) for begin, end, key in rows]
