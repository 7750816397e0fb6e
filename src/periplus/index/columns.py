"""Columns: what is known of a document beside its text, as arrays by document number.

Names (hosts, sites, languages, types) are kept once a segment; a column holds their numbers.
"""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from periplus.errors import Corrupt
from periplus.index.query import FIELDS
from periplus.index.stored import hexadecimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.files import ArrayFile, ArrayFileWriter

NAMED = ("host", "site", "language", "type")
PLAIN = {"key": "<i8", "page_key": "<i8", "published": "<f8", "fetched": "<f8", "largest": "<u4"}
TEXTUAL = ("order", "id")
FIELD_COUNT = len(FIELDS)


class ColumnRow(Struct, gc=False):
    """One document on its way into the columns."""

    key: int
    page_key: int
    host: str
    site: str
    language: str
    type: str
    published: float
    fetched: float
    order: str
    id: str  # of an import; empty for pages of the web


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
        rows: Sequence[ColumnRow],
        largest: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        starts: NDArray[np.uint32],
    ) -> ColumnTable:
        """``lengths`` are words by field, ``starts`` the first position of each field and the end."""
        columns = {name: list(map(attrgetter(name), rows)) for name in ColumnRow.__struct_fields__}
        arrays: dict[str, NDArray[Any]] = {
            name: np.array(columns[name], kind) for name, kind in PLAIN.items() if name != "largest"
        }
        arrays["largest"] = largest
        names = {}
        for name in NAMED:
            names[name] = sorted(set(columns[name]))
            numbers = {value: number for number, value in enumerate(names[name])}
            arrays[name] = np.array(list(map(numbers.__getitem__, columns[name])), np.uint32)
        arrays["lengths"] = lengths.reshape(-1)
        arrays["starts"] = starts.reshape(-1)
        return cls(arrays, names, {name: list(map(str.encode, columns[name])) for name in TEXTUAL})

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
