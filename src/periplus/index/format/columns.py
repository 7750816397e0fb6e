"""Columns: what is known of a document beside its text, as arrays by document number.

Names (hosts, sites, languages, types) are kept once a segment; a column holds their numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from itertools import islice
from operator import attrgetter, eq
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from periplus.errors import INDEX_PART, Corrupt
from periplus.index.format.fields import FIELDS
from periplus.index.format.marks import marks_of
from periplus.index.format.meant_for import language_name
from periplus.index.format.stored import hexadecimal, places_of
from periplus.index.format.title_prints import heading_of, title_print

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from periplus.index.format.files import ArrayFile, ArrayFileWriter, ArrayStream
    from periplus.records import Document

NAMED = ("host", "site", "language", "type")
PLAIN = {
    "key": "<i8",
    "page_key": "<i8",
    "published": "<f8",
    "fetched": "<f8",
    "fingerprint": "<i8",
    "marks": "|u1",
    "title": "<i8",
    "largest": "<u4",
}
TEXTUAL = ("order", "id", "facts")
LATER = {"title": "<i8"}  # columns that segments of earlier versions do not have
COLLECTED = ("key", "page_key", *NAMED, "published", "fetched", "fingerprint", "marks", "title", *TEXTUAL)
FIELD_COUNT = len(FIELDS)
_NAMES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENDS = tuple(f"{name}_end" for name in TEXTUAL)

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
    "fingerprint",
    "signals",
    "structured",
    "declared_language",
    "hreflang",
    "images",
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
            prints,
            signals,
            structured,
            declared,
            alternates,
            images,
        ) = zip(*map(_GIVEN, documents), strict=True)
        places = places_of(urls, keys)
        tongues = list(map(language_name, languages, urls, declared, alternates))
        named: tuple[Sequence[Any], ...] = (places.hosts, places.sites, tongues, types)
        marks, facts = zip(*map(marks_of, signals, structured, images), strict=True)
        own = map(title_print, titles, map(heading_of, headings))
        plain = (keys, places.page_keys, *named, published, fetched, prints, marks, own)
        for name, some in zip(COLLECTED, (*plain, places.orders, ids, facts), strict=True):
            self._values[name] += some
        known = [given or hexadecimal(key) for given, key in zip(ids, keys, strict=True)]
        shown = (urls, known, titles, descriptions, texts, headings, languages, types, published, fetched)
        return list(zip(*shown, places.hosts, places.sites, authors, closed, strict=True))

    def keys(self, rows: Sequence[int]) -> NDArray[np.int64]:
        """Of some documents."""
        keys = self._values["key"]
        return np.array([keys[row] for row in rows], np.int64)

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


class ColumnSource(ABC):
    """Columns of a segment that is written, each in parts: what is as long as the documents need not be in memory."""

    @abstractmethod
    def values(self, name: str) -> Iterator[NDArray[Any]]:
        """A column of ``PLAIN`` or ``NAMED``, ``lengths`` or ``starts``."""

    @abstractmethod
    def key_order(self) -> Iterator[NDArray[Any]]:
        """Numbers of all documents, by their keys."""

    @abstractmethod
    def texts(self, name: str) -> Iterator[list[bytes]]:
        """A column of ``TEXTUAL``."""

    @property
    @abstractmethod
    def names(self) -> dict[str, list[str]]:
        """What the numbers of each column of ``NAMED`` stand for."""

    def write(self, file: ArrayFileWriter) -> None:
        kinds = PLAIN | dict.fromkeys((*NAMED, "lengths", "starts"), "<u4")
        for name, kind in kinds.items():
            _pour(file.stream(name, kind), self.values(name))
        _pour(file.stream("key_order", "<u4"), self.key_order())
        for name in TEXTUAL:
            data, ends = file.stream(name, "u1"), file.stream(f"{name}_end", "<i8")
            for texts in self.texts(name):
                ends.append(data.length + np.cumsum([len(text) for text in texts]))
                data.append(b"".join(texts))
        file.add("names", np.frombuffer(msgspec.json.encode(self.names), np.uint8), "u1")


def _pour(stream: ArrayStream, parts: Iterable[NDArray[Any]]) -> None:
    for part in parts:
        stream.append(part)


class ColumnTable(ColumnSource):
    """Columns in memory, as a builder has them."""

    def __init__(
        self, arrays: dict[str, NDArray[Any]], names: dict[str, list[str]], texts: dict[str, list[bytes]]
    ) -> None:
        self._arrays = arrays
        self._names = names
        self._texts = texts

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

    def values(self, name: str) -> Iterator[NDArray[Any]]:
        yield self._arrays[name]

    def key_order(self) -> Iterator[NDArray[Any]]:
        yield np.argsort(self._arrays["key"], kind="stable")

    def texts(self, name: str) -> Iterator[list[bytes]]:
        yield self._texts[name]

    @property
    def names(self) -> dict[str, list[str]]:
        return self._names


class Columns:
    def __init__(self, file: ArrayFile, documents: int) -> None:
        self._file = file
        self.key: NDArray[np.int64] = file.array("key")
        self.starts: NDArray[np.uint32] = file.array("starts")
        self.lengths: NDArray[np.uint32] = file.array("lengths").reshape(-1, FIELD_COUNT)
        self._key_order = file.array("key_order")
        self._arrays = {name: np.zeros(documents, kind) for name, kind in LATER.items() if name not in file}
        if any(len(self.array(name)) != documents for name in (*PLAIN, *NAMED, "key_order", *_ENDS)):
            raise Corrupt(f"{file.path}: its columns differ in length; rebuild the index", INDEX_PART)
        if len(self.lengths) != documents or len(self.starts) != documents * (FIELD_COUNT + 1):
            raise Corrupt(f"{file.path}: its columns differ in length; rebuild the index", INDEX_PART)
        self._sorted_keys = self.key[self._key_order]

    def array(self, name: str) -> NDArray[Any]:
        """One column; kept, as every query reads the same few."""
        found = self._arrays.get(name)
        if found is None:
            found = self._arrays[name] = self._file.array(name)
        return found

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """What the numbers of named columns stand for; kept, as readers ask again."""
        return {name: self.read_names(name) for name in NAMED}

    def read_names(self, name: str) -> list[str]:
        """What the numbers of one named column stand for; not kept, as names of all segments together may be many."""
        return msgspec.json.decode(_NAMES.decode(self._file.array("names").data)[name], type=list[str])

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the documents with these keys; -1 for those that are not here."""
        if not len(self._sorted_keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self._sorted_keys, keys), len(self._sorted_keys) - 1)
        return np.where(self._sorted_keys[places] == keys, self._key_order[places].astype(np.int64), -1)

    def by_key(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The keys of all documents, sorted, and the documents that have them."""
        return self._sorted_keys, self._key_order

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The ids of some documents: that of an import, else the key in hexadecimal."""
        texts, keys = self.texts("id", numbers), self.key[numbers].tolist()
        return [text.decode() or hexadecimal(key) for text, key in zip(texts, keys, strict=True)]

    def texts(self, name: str, numbers: NDArray[np.int64]) -> list[bytes]:
        """A textual column of some documents."""
        data, ends = self._file.array(name), self._file.array(f"{name}_end")
        begins = np.where(numbers > 0, ends[numbers - 1], 0)
        return [data[begin:end].tobytes() for begin, end in zip(begins.tolist(), ends[numbers].tolist(), strict=True)]
