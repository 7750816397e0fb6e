"""Dictionary: the terms of a segment in byte order, one after the other, with their offsets.

Opening it reads nothing: a lookup is a binary search in the mapped bytes, a prefix is a range of numbers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.files import ArrayFile, ArrayFileWriter


class DictionaryWriter:
    """Takes terms in ascending byte order."""

    def __init__(self, file: ArrayFileWriter) -> None:
        self._text = file.stream("text", "u1")
        self._offsets = file.stream("offsets", "<u4")
        self._offsets.append(np.zeros(1, np.uint32))

    def append(self, terms: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, terms), np.int64, len(terms))
        self._offsets.append(self._text.length + np.cumsum(lengths))
        self._text.append(b"".join(terms))


class Dictionary:
    def __init__(self, file: ArrayFile) -> None:
        self.text = file.array("text")
        self.offsets = file.array("offsets")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def term(self, number: int) -> bytes:
        return self.text[self.offsets[number] : self.offsets[number + 1]].tobytes()

    def terms(self, low: int, high: int) -> list[bytes]:
        """The terms with the numbers [low, high)."""
        offsets = self.offsets[low : high + 1].tolist()
        data = self.text[offsets[0] : offsets[-1]].tobytes() if high > low else b""
        return [data[begin - offsets[0] : end - offsets[0]] for begin, end in pairwise(offsets)]

    def find(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
        """Their numbers; -1 for those that do not occur."""
        from periplus.index.kernels.lookup import find_terms

        found = np.empty(len(terms), np.int64)
        ends = np.cumsum([0, *map(len, terms)], dtype=np.int64)
        find_terms(self.text, self.offsets, _bytes(b"".join(terms)), ends, found)
        return found

    def lower_bound(self, text: bytes) -> int:
        from periplus.index.kernels.lookup import lower_bound

        return int(lower_bound(self.text, self.offsets, _bytes(text)))

    def prefix_range(self, text: bytes) -> tuple[int, int]:
        """The numbers of all terms that begin with ``text``: [low, high)."""
        after = _successor(text)
        return self.lower_bound(text), self.lower_bound(after) if after else len(self)


def _successor(text: bytes) -> bytes:
    """The least bytes that sort after everything that begins with ``text``."""
    trimmed = text.rstrip(b"\xff")
    return trimmed[:-1] + bytes([trimmed[-1] + 1]) if trimmed else b""


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)
