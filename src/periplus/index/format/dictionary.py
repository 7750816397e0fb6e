"""Dictionary: the terms of a segment in byte order, each coded by what it does not share with the one before it.

``core.format.lookup`` has the code. Opening a dictionary reads nothing: a lookup is a binary search over blocks of 16
terms in the mapped bytes, a prefix is a range of numbers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from periplus.errors import INDEX_PART, Corrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.index.format.files import ArrayFile, ArrayFileWriter

BLOCK = 16  # terms
LONGEST_HEAD = 3  # bytes before those of a term


class JoinedTerms(NamedTuple):
    """Terms one after another, and where each ends."""

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> JoinedTerms:
        return cls(_bytes(b"".join(terms)), np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms))))


class DictionaryWriter:
    """Takes terms in ascending byte order."""

    def __init__(self, file: ArrayFileWriter) -> None:
        self._text = file.stream("text", "u1")
        self._offsets = file.stream("offsets", "<u4")
        self._count_stream = file.stream("count", "<i8")
        self._count = 0
        self._last = np.empty(0, np.uint8)

    def append(self, terms: JoinedTerms) -> None:
        from periplus.core.format import front_code

        if not len(terms.ends):
            return
        text = np.concatenate([self._last, terms.text])
        ends = np.concatenate([[0], terms.ends]) + len(self._last)
        count = len(terms.ends)
        target = np.empty(len(text) + LONGEST_HEAD * count, np.uint8)
        blocks = np.empty(-(-(self._count + count) // BLOCK) - -(-self._count // BLOCK), np.int64)
        size = front_code(text, ends, self._count, target, blocks)
        self._offsets.append(self._text.length + blocks)
        self._text.append(target[:size])
        self._count += count
        self._last = text[int(ends[-2]) :].copy()

    def finish(self) -> None:
        self._offsets.append(np.array([self._text.length]))
        self._count_stream.append(np.array([self._count]))


class Dictionary:
    def __init__(self, file: ArrayFile) -> None:
        self.text = file.array("text")
        self.offsets = file.array("offsets")
        self._count = int(file.array("count")[0])
        if len(self.offsets) != -(-self._count // BLOCK) + 1 or int(self.offsets[-1]) != len(self.text):
            raise Corrupt(f"{file.path}: its tables do not fit together; rebuild the index", INDEX_PART)

    def __len__(self) -> int:
        return self._count

    def term(self, number: int) -> bytes:
        return self.terms(number, number + 1)[0]

    def terms(self, low: int, high: int) -> list[bytes]:
        """The terms with the numbers [low, high), as far as there are so many."""
        joined = self.joined(low, high)
        data = joined.text.tobytes()
        return [data[begin:end] for begin, end in pairwise([0, *joined.ends.tolist()])]

    def joined(self, low: int, high: int) -> JoinedTerms:
        """The terms with the numbers [low, high), one after another."""
        from periplus.core.format import decode_terms, decoded_size

        high = min(high, len(self))
        if high <= low:
            return JoinedTerms.of([])
        block, before = divmod(low, BLOCK)
        at, count = int(self.offsets[block]), before + high - low
        text, ends = np.empty(decoded_size(self.text, at, count), np.uint8), np.empty(count, np.int64)
        decode_terms(self.text, at, text, ends)
        begin = int(ends[before - 1]) if before else 0
        return JoinedTerms(text[begin:], ends[before:] - begin)

    def find(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
        """Their numbers; -1 for those that do not occur."""
        from periplus.core.format import find_terms

        found = np.empty(len(terms), np.int64)
        ends = np.cumsum([0, *map(len, terms)], dtype=np.int64)
        find_terms(self.text, self.offsets, _bytes(b"".join(terms)), ends, found)
        return found

    def lower_bound(self, text: bytes) -> int:
        from periplus.core.format import lower_bound

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
